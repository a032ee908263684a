"""Sessions for the index: facts of messages as a tagger writes them, and what stands in the tables."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from schemas.codec import derived_id, wrap
from schemas.envelope import Actor, Envelope
from schemas.events import Event, MessageListed, MessageRecorded, MessageRemoved, PartRecorded
from schemas.subjects import Address
from services.indexer.tables import ROW
from services.kit.bus import Appender, Bus
from services.kit.index_place import folder_of, read_current, read_position
from services.kit.vectors import Tables

HARBOUR = Address("harbour", "s1")
BEGAN = datetime(2026, 3, 7, 12, tzinfo=UTC)
HARNESS = Actor("harness", "opencode")


def message(name: str, text: str, role: str = "user", *, part: str = "", **changes: Any) -> list[Event]:  # noqa: ANN401 - fields of parts
    """A message with one text."""
    digest = derived_id(text)
    fields = {"kind": "text", "text": text, "bytes": len(text.encode()), "digest": digest} | changes
    return [
        MessageRecorded(message=name, role=role, sent=BEGAN),
        PartRecorded(message=name, part=part or f"{name}.0", **fields),
    ]


def answered(name: str, output: str, *, part: str = "", **changes: Any) -> list[Event]:  # noqa: ANN401 - fields of parts
    """A message in which a tool has answered this."""
    fields = {"kind": "tool", "tool": "bash", "output": output, "position": 9, "digest": derived_id(output)} | changes
    return message(name, "", "assistant", part=part or f"{name}.9", **fields)


def listed(first: int, *names: str) -> Event:
    return MessageListed(messages=list(names), ordinals=[first + number for number in range(len(names))])


def removed(*names: str, reason: str = "deleted") -> Event:
    return MessageRemoved(messages=list(names), reason=reason)


class Log:
    """Facts of several sessions, with positions as the log gives them."""

    def __init__(self) -> None:
        self.facts: list[tuple[Envelope, Event]] = []

    def add(self, *events: Event, address: Address = HARBOUR) -> None:
        for event in events:
            seq = len(self.facts) + 1
            at = BEGAN + timedelta(seconds=seq)
            wrapped = wrap(event, address, id=f"f{seq}", at=at, actor=HARNESS)
            self.facts.append((_at(wrapped, seq), event))


def _at(envelope: Envelope, seq: int) -> Envelope:
    from msgspec.structs import replace  # noqa: PLC0415

    return replace(envelope, seq=seq)


NUMBERS = count()


class LogWriter:
    """Appends facts to a broker's log."""

    def __init__(self, bus: Bus) -> None:
        self._appender = Appender(bus)

    async def append(self, *events: Event, address: Address = HARBOUR) -> int:
        """The position of the last of these facts."""
        wrapped = []
        for event in events:
            name = derived_id("reported", str(next(NUMBERS)))
            wrapped.append(wrap(event, address, id=name, at=BEGAN, actor=HARNESS))
        return (await self._appender.append(wrapped, {}))[-1]


COLUMNS = tuple(column.name for column in ROW)


async def rows_of(data: Path, kind: str = "message", columns: Sequence[str] = COLUMNS) -> list[Mapping[str, Any]]:
    """What the index that is searched holds, in the order of its keys."""
    current = read_current(data)
    assert current is not None
    folder = folder_of(data) / current.set
    table = await (await Tables.open(folder)).table(read_position(folder).tables[kind])
    return sorted(await table.rows(["key", *columns]), key=lambda row: row["key"])
