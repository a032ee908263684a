"""A look at an installation from where a harness sits, and from where a room sits. Nothing of it becomes a fact."""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import msgspec
import psutil

from schemas.codec import encode
from schemas.commands import Answer, CommandMessage, DropQueue
from schemas.envelope import Actor
from schemas.status_asks import Status, StatusAsk
from schemas.streams import BUCKETS, DEAD, IN, STREAMS
from schemas.view_asks import LastAdapter, LastAdapterAsk
from services.edges import empty_report
from services.edges.asking import answer
from services.edges.connect.installation import Disk, InstallationState, Running, StreamSettings, Timed
from services.edges.launcher.room_status import RoomStatus, read_status
from services.edges.launcher.run import OTHERS, current
from services.edges.person import HARNESS, PERSON, admitted
from services.edges.room_health import healths
from services.kit.bus import BrokerError, Bus, Lag, NotAdmitted, NotAllowed, TooLarge, Unreachable, without_password
from services.kit.endpoint import FILE, Endpoint, find, read
from services.kit.replies import understood
from services.kit.rooms import ROOMS
from services.settings import Settings

Answered = TypeVar("Answered")
TAGGER = "tagger"
PATIENCE = 2.0
POLL = 0.02


async def look(settings: Settings) -> InstallationState:
    """All that can be seen. A part that does not answer holds the others up for seconds at most."""
    rooms = tuple(_running(name, status) for name, status in read_status(settings.data).items())
    async with AsyncExitStack() as stack:
        begun = time.perf_counter()
        try:
            bus = await any_user(stack, settings)
            endpoint = find(settings)
        except Unreachable as error:
            return InstallationState("", Timed(error=str(error)))
        connected = Timed("connected", _since(begun))
        run = current(settings.data)
        how = run.line if run else ""
        seen = InstallationState(
            without_password(endpoint.url),
            connected,
            bus.user,
            bool(settings.nats.url),
            _version(bus),
            run=how,
            rooms=rooms,
        )
        try:
            seen = msgspec.structs.replace(seen, rooms=await _asked_rooms(bus, rooms))
            seen = await _streams(bus, seen)
            return await _round_trips(stack, bus, seen, settings) if seen.jetstream else seen
        except BrokerError as error:
            return InstallationState(
                seen.url, Timed(error=f"the broker fell silent ({str(error) or type(error).__name__})")
            )


async def _asked_rooms(bus: Bus, rooms: Sequence[Running]) -> tuple[Running, ...]:
    """The same rooms with their answers, and those that answer from elsewhere."""
    here = {one.name for one in rooms}
    known = await healths(bus, dict.fromkeys((*here, *ROOMS)), PATIENCE)
    asked = [msgspec.structs.replace(one, health=known.get(one.name), is_asked=True) for one in rooms]
    return (*asked, *(Running(name, "elsewhere", health=one) for name, one in known.items() if name not in here))


def disk(settings: Settings) -> Disk:
    place = settings.data.resolve()
    while not place.exists():
        place = place.parent
    return Disk(
        str(settings.data),
        shutil.disk_usage(place).free,
        readable_by_others=_is_open(settings.data / FILE),
        is_open=_is_open(settings.data),
    )


def _is_open(path: Path) -> bool:
    """Whether others than its owner may do anything with it."""
    try:
        return bool(path.stat().st_mode & OTHERS)
    except OSError:  # there is none, or we may not look at it either
        return False


async def last_adapter(settings: Settings, harness: str) -> LastAdapter | None:
    """The adapter of a harness that connected last, as it describes itself; None where nobody answers."""
    async with AsyncExitStack() as stack:
        try:
            return await answer(await any_user(stack, settings), LastAdapterAsk(harness), LastAdapter, PATIENCE)
        except Unreachable:
            return None


async def any_user(stack: AsyncExitStack, settings: Settings) -> Bus:
    """A connection as the user of the settings, or as whichever one has the password that is set."""
    bus = await admitted(settings, "doctor", settings.nats.user, PERSON, HARNESS, wait=PATIENCE)
    stack.push_async_callback(bus.close)
    return bus


async def _connect(stack: AsyncExitStack, endpoint: Endpoint) -> Bus:
    bus = await Bus.connect(endpoint.url, "doctor", user=endpoint.user, password=endpoint.password, wait=PATIENCE)
    stack.push_async_callback(bus.close)
    return bus


async def _streams(bus: Bus, seen: InstallationState) -> InstallationState:
    names = [stream.name for stream in STREAMS] + [f"OBJ_{bucket.name}" for bucket in BUCKETS]
    try:
        await bus.js.account_info()
        streams = {name: await _stream_settings(bus, name) for name in names}
    except NotAllowed:
        return seen
    except BrokerError:
        return msgspec.structs.replace(seen, jetstream=False)
    dead = streams[DEAD.name]
    return msgspec.structs.replace(
        seen,
        streams=streams,
        tagger=await bus.lag(IN.name, TAGGER),
        dead=dead.messages if dead else 0,
        dead_reason=await _last_reason(bus) if dead and dead.messages else "",
    )


async def _stream_settings(bus: Bus, name: str) -> StreamSettings | None:
    try:
        info = await bus.js.stream_info(name)
    except NotAllowed:
        raise
    except BrokerError:
        return None
    config = info.config
    return StreamSettings(
        subjects=tuple(config.subjects or ()),
        max_age=float(config.max_age or 0),
        duplicate_window=float(config.duplicate_window or 0),
        denies_deletion=bool(config.deny_delete and config.deny_purge),
        messages=int(info.state.messages),
    )


async def _last_reason(bus: Bus) -> str:
    try:
        last = (await bus.js.stream_info(DEAD.name)).state.last_seq
        dead = await bus.js.get_msg(DEAD.name, seq=last, direct=True)
    except BrokerError:
        return ""
    return str((dead.headers or {}).get("Annals-Reason", ""))


async def _round_trips(
    stack: AsyncExitStack, bus: Bus, seen: InstallationState, settings: Settings
) -> InstallationState:
    """Publish, ask and command something as a harness does, that nobody needs to write down."""
    begun = time.perf_counter()
    try:
        harness = await _connect(stack, _as_harness(settings))
    except NotAdmitted as error:
        if not settings.nats.url or settings.nats.user == "harness":
            return msgspec.structs.replace(seen, harness=Timed(error=str(error)))
        status, asked = await _timed(lambda: _ask(bus))  # a container of a room has no password of harnesses
        return msgspec.structs.replace(seen, status=status, asked=asked)
    except Unreachable as error:
        return msgspec.structs.replace(seen, harness=Timed(error=str(error)))
    connected = Timed("connected", _since(begun))
    position, inbound = await _timed(lambda: empty_report.publish(harness))
    taken = Timed()
    if position and seen.streams is not None and seen.tagger == Lag(0, 0):
        _, taken = await _timed(lambda: _until_read(bus, position))
    status, asked = await _timed(lambda: _ask(harness))
    _, answered = await _timed(lambda: _command(harness))
    return msgspec.structs.replace(
        seen, harness=connected, inbound=inbound, taken=taken, status=status, asked=asked, commanded=answered
    )


async def _until_read(bus: Bus, position: int) -> int:
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                info = await bus.js.consumer_info(IN.name, TAGGER)
                if info.ack_floor is not None and info.ack_floor.stream_seq >= position:
                    return position
                await asyncio.sleep(POLL)
    except TimeoutError as error:
        raise Unreachable(f"the tagger has not read it within {PATIENCE} s") from error


async def _ask(bus: Bus) -> Status:
    return await answer(bus, StatusAsk(), Status, PATIENCE)


async def _command(bus: Bus) -> Answer:
    data = msgspec.Raw(encode(DropQueue()))
    message = CommandMessage(id=f"doctor-{uuid4()}", at=datetime.now(UTC), actor=Actor("person", "doctor"), data=data)
    reply = await bus.request(empty_report.NOBODY.command(DropQueue.TYPE), encode(message), PATIENCE)
    return understood(reply, Answer, f"do.{DropQueue.TYPE}")


async def _timed(probe: Callable[[], Awaitable[Answered]]) -> tuple[Answered | None, Timed]:
    begun = time.perf_counter()
    try:
        result = await probe()
    except (Unreachable, TooLarge, BrokerError) as error:
        return None, Timed(error=str(error) or type(error).__name__)
    return result, Timed("answered", _since(begun))


def _as_harness(settings: Settings) -> Endpoint:
    """The broker as an adapter on this machine reaches it."""
    endpoint = find(settings)
    if settings.nats.url:
        return Endpoint(endpoint.url, "harness", endpoint.password)
    written = read(settings.data)
    return Endpoint(endpoint.url, "harness", written.passwords.get("harness", "") if written else "")


def _running(name: str, status: RoomStatus) -> Running:
    try:
        process = psutil.Process(status.pid)
        state = process.status()
    except psutil.NoSuchProcess:
        return Running(name, "gone", status.restarts)
    if state in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
        return Running(name, "gone", status.restarts)
    return Running(name, "stopped" if state == psutil.STATUS_STOPPED else "running", status.restarts)


def _version(bus: Bus) -> str:
    version = bus.client.connected_server_version
    return f"{version.major}.{version.minor}.{version.patch}"


def _since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000
