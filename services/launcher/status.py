"""`annals status`: what runs, what lags, and what failed."""

import sys

import msgspec
import psutil
from rich.console import Console
from rich.table import Table

from schemas.asks import Rows, SqlAsk, Status, StatusAsk
from schemas.codec import encode
from schemas.streams import DEAD, IN, LOG
from schemas.subjects import ask
from services.kit.bus import Bus, Lag, Unreachable
from services.kit.endpoint import find
from services.kit.settings import Settings
from services.launcher.supervisor import RoomStatus, read_status

CONSUMERS = {"tagger": IN.name, "historian": LOG.name, "responder": LOG.name}
ANSWER = 2.0
RUNS = 20
"""The most runs that are told."""
HISTORY = """\
from (
  from history_runs qualify row_number() over (partition by project, session order by seq desc) = 1
)
select project, session, reason, status, "first", "last", through, tokens_left, code,
  strftime(retry_at, '%Y-%m-%d %H:%M:%S UTC') as retry_at
where status in ('open', 'failed') order by seq desc"""


class Room(msgspec.Struct, frozen=True):
    """One room as seen from outside. `running` is None where another machine runs it."""

    name: str
    running: bool | None = None
    restarts: int = 0
    last_exit: int | None = None
    lag: Lag | None = None


class HistoryRun(msgspec.Struct, frozen=True):
    """A run that compresses a session's history and is not done, or that was the session's last and failed."""

    project: str
    session: str
    reason: str
    status: str
    first: int
    last: int
    through: int
    """The last message that is done."""
    tokens_left: int
    code: str | None = None
    retry_at: str | None = None


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
    history: tuple[HistoryRun, ...] = ()


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
            history=await _history(bus),
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


async def _history(bus: Bus) -> tuple[HistoryRun, ...]:
    """The newest run of each session, where it is open or has failed."""
    try:
        answer = await bus.request(ask(SqlAsk.NAME), encode(SqlAsk(HISTORY, max_rows=RUNS)), ANSWER)
    except Unreachable:
        return ()
    rows = msgspec.json.decode(answer, type=Rows)
    return tuple(msgspec.convert(dict(zip(rows.columns, row, strict=True)), HistoryRun) for row in rows.rows)


def _progress(run: HistoryRun) -> str:
    """One line about a run."""
    what = f"{run.project}/{run.session}, messages {run.first}-{run.last} ({run.reason})"
    if run.status == "failed":
        return f"{what}: failed with {run.code}; next try {run.retry_at or 'when there is reason to'}"
    done = max(0, run.through - run.first + 1)
    return f"{what}: {done} of {run.last - run.first + 1} done, about {run.tokens_left:,} tokens left"


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
    for run in overview.history:
        console.print(f"history   {_progress(run)}")
    if overview.responder is None:
        console.print("views     the responder does not answer; its log lines say why")
    else:
        behind = overview.responder.log_head - overview.responder.committed_through
        state = "being built" if overview.responder.building else f"{behind:,} facts behind the log"
        console.print(f"views     {state}, {overview.responder.hot_sessions} sessions in memory")
