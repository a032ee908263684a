"""What the tests of this folder share: a kit, what the streams hold, and facts to write."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from schemas.commands import Command
from schemas.envelope import Actor, Envelope
from schemas.events import Event, SessionRenamed
from schemas.subjects import Address
from services.domain.envelopes import envelopes
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, LogReader
from services.kit.logs import logger
from services.kit.room import Kit, Room
from services.responder.worker import Responder
from services.settings import LoopSettings, Settings, Views
from tests.helpers.empty_views import lay_out

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
HARBOUR = Address("harbour", "s1")
PERSON = Actor("person", "ada")


class Stored(NamedTuple):
    """One message of a stream."""

    seq: int
    subject: str
    data: bytes
    headers: dict[str, str]


async def connected(server: Broker, user: str = "room", kind: type[Bus] = Bus) -> Bus:
    endpoint = server.endpoint_of(user)
    return await kind.connect(endpoint.url, "test", user=endpoint.user, password=endpoint.password)


async def stored(bus: Bus, stream: str) -> list[Stored]:
    """All that a stream holds."""
    state = (await bus.js.stream_info(stream)).state
    found = []
    for seq in range(max(1, state.first_seq), state.last_seq + 1):
        message = await bus.js.get_msg(stream, seq=seq, direct=True)
        found.append(Stored(seq, str(message.subject), message.data or b"", dict(message.headers or {})))
    return found


async def facts(bus: Bus, address: Address | None = None) -> list[Event]:
    """The facts of a session, or of the whole log."""
    log = LogReader(bus).after(0, address.log_filter if address else "log.>")
    return [one.event async for one in log if one.event is not None]


def wrapped(
    events: Sequence[Event], expected: Mapping[str, int] | None = None, address: Address = HARBOUR
) -> list[Envelope]:
    return envelopes(events, address, expected or {}, at=NOON, actor=PERSON, cause="")


def titles(count: int, start: int = 0) -> list[Event]:
    """So many facts of one type, distinguished by their titles."""
    return [SessionRenamed(title=f"title {number}") for number in range(start, start + count)]


def subject_of(address: Address, command: Command, actor: Actor) -> str:
    """The subject that this sender's command comes on."""
    return address.command(command.TYPE, "person" if actor.kind == "person" and not address.session else "")


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def quick_settings(data: Path = Path("unused"), **loop: Any) -> Settings:  # noqa: ANN401 - settings of several types
    """Settings that retry fast, and with which who asks in SQL always sees what is there."""
    quick = {"ack_wait": 30.0, "backoff": 0.01, "max_deliver": 3, "grace": 5.0}
    return Settings(data=data, loop=LoopSettings(**(quick | loop)), views=Views(copy_every=0, sql_timeout=60))


def impatient_settings(**loop: Any) -> Settings:  # noqa: ANN401 - settings of several types
    """Settings with which what a killed process had in hand is delivered again soon."""
    return quick_settings(**{"ack_wait": 1.0, "grace": 0.01} | loop)


@asynccontextmanager
async def kit_of(
    name: str, bus: Bus, settings: Settings, *, writes: Sequence[type[Event]] | None = None
) -> AsyncIterator[Kit]:
    """What a room works with; what it opens is closed at the end. `writes`: all events that it may append."""
    async with AsyncExitStack() as stack:
        yield Kit(name, bus, LogReader(bus), Appender(bus, writes=writes), settings, stack, logger())


@asynccontextmanager
async def opened(room: Room, bus: Bus, settings: Settings) -> AsyncIterator[Kit]:
    """Let a room work in this process."""
    if isinstance(room, Responder):
        await lay_out(settings.data)
    async with kit_of(room.NAME, bus, settings, writes=room.WRITES) as kit:
        await room.open(kit)
        yield kit
