"""`annals status`: what runs, what lags, and what failed."""

import sys

import msgspec
import psutil
from rich.console import Console
from rich.table import Table

from schemas.asks import Status, StatusAsk
from schemas.codec import encode
from schemas.streams import DEAD, IN, LOG
from schemas.subjects import ask
from services.kit.bus import Bus, Lag, Unreachable
from services.kit.endpoint import find
from services.kit.settings import Settings
from services.launcher.supervisor import RoomStatus, read_status

CONSUMERS = {"tagger": IN.name, "responder": LOG.name}
ANSWER = 2.0


class Room(msgspec.Struct, frozen=True):
    """One room as seen from outside. `running` is None where another machine runs it."""

    name: str
    running: bool | None = None
    restarts: int = 0
    last_exit: int | None = None
    lag: Lag | None = None


class Overview(msgspec.Struct, frozen=True):
    """All that `annals status` tells."""

    broker: str
    rooms: tuple[Room, ...]
    inbound: int
    """Messages kept of the last seven days."""
    log: int
    dead: int
    """Letters that nobody could deliver."""
    responder: Status | None = None


async def show(settings: Settings, *, as_json: bool) -> int:
    """Print the overview; the exit status is 1 where something needs a person."""
    overview = await look(settings)
    if as_json:
        sys.stdout.write(msgspec.json.encode(overview).decode() + "\n")
    else:
        _print(overview, Console())
    return 0 if is_well(overview) else 1


def is_well(overview: Overview) -> bool:
    return overview.responder is not None and all(room.running is not False for room in overview.rooms)


async def look(settings: Settings) -> Overview:
    endpoint = find(settings)
    bus = await Bus.connect(endpoint.url, "status", user=endpoint.user, password=endpoint.password, wait=3.0)
    try:
        processes = read_status(settings.data)
        names = dict.fromkeys((*processes, *CONSUMERS))
        return Overview(
            broker=endpoint.url,
            rooms=tuple([await _room(bus, name, processes.get(name)) for name in names]),
            inbound=await bus.messages(IN.name),
            log=await bus.messages(LOG.name),
            dead=await bus.messages(DEAD.name),
            responder=await _responder(bus),
        )
    finally:
        await bus.close()


async def _room(bus: Bus, name: str, process: RoomStatus | None) -> Room:
    return Room(
        name=name,
        running=psutil.pid_exists(process.pid) if process else None,
        restarts=process.restarts if process else 0,
        last_exit=process.last_exit if process else None,
        lag=await bus.lag(CONSUMERS[name], name) if name in CONSUMERS else None,
    )


async def _responder(bus: Bus) -> Status | None:
    try:
        return msgspec.json.decode(await bus.request(ask(StatusAsk.NAME), encode(StatusAsk()), ANSWER), type=Status)
    except Unreachable:
        return None


def _print(overview: Overview, console: Console) -> None:
    rooms = Table("room", "runs", "restarts", "waiting", "in hand", title="Rooms", title_justify="left")
    for room in overview.rooms:
        runs = {True: "yes", False: f"NO (exit {room.last_exit})", None: "elsewhere"}[room.running]
        lag = (str(room.lag.waiting), str(room.lag.in_hand)) if room.lag else ("", "")
        rooms.add_row(room.name, runs, str(room.restarts), *lag)
    console.print(rooms)
    console.print(f"broker    {overview.broker}")
    console.print(f"inbound   {overview.inbound:,} messages of the last seven days")
    console.print(f"log       {overview.log:,} facts")
    console.print(f"dead      {overview.dead:,} letters" + ("; read them on the stream DEAD" if overview.dead else ""))
    if overview.responder is None:
        console.print("views     the responder does not answer; its log lines say why")
    else:
        behind = overview.responder.log_head - overview.responder.committed_through
        state = "being built" if overview.responder.building else f"{behind:,} facts behind the log"
        console.print(f"views     {state}, {overview.responder.hot_sessions} sessions in memory")
