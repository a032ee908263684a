"""A log in memory, read like that of a broker, which counts what is read of it."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from schemas.envelope import Envelope
from schemas.events import Event
from services.domain.record import Record
from services.kit.bus import LogReader
from tests.helpers.given import envelope


class MadeLog(LogReader):
    """It never waits for anything: who reads it and goes on at once keeps the loop."""

    def __init__(self, facts: Iterable[tuple[Envelope, Event]], turns: Sequence[int] = ()) -> None:
        """`turns`: grows with each turn of another task."""
        self._facts = [*facts]
        self._turns = turns
        self.turns_in_between: list[int] = []
        """Turns of another task between two records of the whole session."""
        self.read: list[str] = []
        """The types of all records that were decoded."""

    @classmethod
    def of(cls, events: Iterable[Event], turns: Sequence[int] = ()) -> "MadeLog":
        """A log of these events."""
        return cls([(envelope(event, seq), event) for seq, event in enumerate(events, 1)], turns)

    async def after(self, seq: int, subject_filter: str) -> AsyncGenerator[Record, None]:
        whole = subject_filter.endswith(">")
        for one, event in self._facts:
            if one.seq > seq and (whole or subject_filter.endswith(event.TYPE)):
                before = len(self._turns)
                self.read.append(event.TYPE)
                yield Record("", one, event)
                if whole:
                    self.turns_in_between.append(len(self._turns) - before)

    async def at(self, seq: int) -> Envelope | None:
        found = await self.at_each([seq])
        return found.get(seq)

    async def at_each(self, seqs: Iterable[int]) -> dict[int, Envelope]:
        found = {one.seq: one for one, _ in self._facts if one.seq in {*seqs}}
        self.read += [one.type for one in found.values()]
        return found

    async def next_after(self, seq: int, filters: Iterable[str]) -> int:
        wanted = tuple(filters)
        places = (one.seq for one, _ in self._facts if one.seq > seq and any(map(_ends_with(one.type), wanted)))
        return min(places, default=0)


def _ends_with(event_type: str) -> Callable[[str], bool]:
    return lambda subject: subject.endswith(f".{event_type}")
