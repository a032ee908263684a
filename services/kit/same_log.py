"""Whether a log is the one that is known: a copy of it may have been put back, or another one may have replaced it.

Each reader and writer of the log stores marks of it: some of its positions, with the id of the fact there and the time
at which the broker stored it. A log in which each mark is still found is the same log. One that went back and grew
again has at least the newest mark stored at another time, whatever its ids are.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

LATEST = 8
"""The last records that a process has a mark of each."""
APART = 256
"""Positions between two marks in memory."""


class Mark(msgspec.Struct, frozen=True):
    """A record of the log as it was; without a position there is none."""

    seq: int = 0
    id: str = ""
    """Empty: the record there cannot be read."""
    stored: int = 0
    """When the broker stored it, in nanoseconds since 1970; 0: not known."""

    def fits(self, other: "Mark | None") -> bool:
        """Whether both are of one record, as far as is known."""
        if other is None or (self.seq, self.id) != (other.seq, other.id):
            return False
        return self.stored == other.stored or not self.stored or not other.stored


NOTHING = Mark()


class Difference(msgspec.Struct, frozen=True):
    """The difference between a log and the one that was known."""

    known: int
    """The newest position of the known one."""
    agreed: int
    """The newest position at which both are known to be the same; 0: none."""
    head: int
    """The last position of the log as it is now."""

    @property
    def reason(self) -> str:
        """A sentence for people about what has happened."""
        if self.head < self.known:
            return f"the log went back from {self.known:,} to {self.head:,}; it is the same up to {self.agreed:,}"
        return f"the log is another one behind {self.agreed:,}; it was known up to {self.known:,}"


class ComparedLog(Protocol):
    """The log that is compared with."""

    async def head(self) -> int:
        """Its newest position."""

    async def marks(self, seqs: Iterable[int]) -> Mapping[int, Mark]:
        """The marks of these positions; without those that are not there."""


def with_mark(marks: Sequence[Mark], newest: Mark) -> tuple[Mark, ...]:
    """Marks with one more, the newest: fewer the older they are, so that there are never many.

    A mark goes where its neighbours are no further apart than the later of them is behind the newest: so what is found
    to differ is found twice as far back at most.
    """
    thinned: list[Mark] = []
    for mark in (*(one for one in marks if one.seq < newest.seq), newest):
        while len(thinned) > 1 and mark.seq - thinned[-2].seq <= newest.seq - mark.seq:
            thinned.pop()
        thinned.append(mark)
    return tuple(thinned)


def compare_marks(marks: Sequence[Mark], through: int, head: int, found: Mapping[int, Mark]) -> Difference | None:
    """The difference between the log and the one that these marks are of; none: the marks show none.

    `through`: the position up to which the known one was read. `found`: what the log holds at the marks' positions.
    """
    fitting = [mark.seq for mark in marks if mark.fits(found.get(mark.seq))]
    if through <= head and len(fitting) == len(marks):
        return None
    misfit = min((mark.seq for mark in marks if not mark.fits(found.get(mark.seq))), default=head + 1)
    agreed = max((seq for seq in fitting if seq < misfit), default=0)
    return Difference(max([through, *(mark.seq for mark in marks)]), agreed, head)


async def difference(log: ComparedLog, through: int, marks: Sequence[Mark]) -> Difference | None:
    """Compare the log as it is now with the one that these marks are of."""
    head = await log.head()
    return compare_marks(marks, through, head, await log.marks(mark.seq for mark in marks))


class Trail:
    """The marks of all that one process has read and written: what another log can be compared with."""

    def __init__(self) -> None:
        self._marks: tuple[Mark, ...] = ()
        self._latest: deque[tuple[int, str, int]] = deque(maxlen=LATEST)
        self._next = 0
        self.through = 0
        """The newest position that is known."""
        self.is_closed = False
        """Whether nothing counts for now: the connection broke, and what comes may be of another log."""

    def note(self, seq: int, id: str, stored: int = 0) -> None:  # noqa: A002 - the name on the wire
        """There is a record at this position. Older ones than the newest prove nothing new."""
        if self.is_closed or seq < self.through:
            return
        if seq == self.through:
            if not stored:
                return
            self._latest.pop()
        self.through = seq
        self._latest.append((seq, id, stored))
        if seq >= self._next:
            self._marks = with_mark(self._marks, Mark(seq, id, stored))
            self._next = seq + APART

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Marks to compare the log by: the latest records, and fewer the older they are."""
        latest = [Mark(*one) for one in self._latest]
        return (*(mark for mark in self._marks if mark.seq < latest[0].seq), *latest) if latest else ()
