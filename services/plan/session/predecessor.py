"""The session before this one, and what it left open, as the first plan of this session recorded it."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Container

import msgspec

from schemas.events import PlanExtended, PlanRebased
from services.memory.state import source_key


class Predecessor(msgspec.Struct, frozen=True):
    """The open ends of the last session: lines of plain text, and for each line where it is from.

    The three tuples have one item for each line. A line about a file has no message and no position: it represents all
    uses of that file.
    """

    session: str = ""
    """Its id; empty: there is none, or it left no error open."""
    lines: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    """The message that showed the error of each line; empty: the line is about a file."""
    positions: tuple[int, ...] = ()
    """The position of the log with the output that showed it; 0: the line is about a file."""

    @property
    def facts(self) -> tuple[int, ...]:
        """The positions of the log that the lines are made of."""
        return tuple(position for position in self.positions if position)

    @property
    def fields(self) -> dict[str, object]:
        """The fields of the plan that records it."""
        return {
            "predecessor": self.session,
            "left_open": list(self.lines),
            "left_open_in": list(self.messages),
            "left_open_at": list(self.positions),
        }

    def without(self, quarantines: Container[str]) -> Predecessor:
        """The open ends without what people have taken back; nothing where no open error is left.

        `quarantines`: keys as `source_key` makes them.
        """
        if source_key("session", self.session) in quarantines:
            return Predecessor()
        each = zip(self.lines, self.messages, self.positions, strict=True)
        left = [one for one in each if not one[1] or source_key("message", one[1]) not in quarantines]
        if not any(message for _, message, _ in left):
            return Predecessor()
        lines, messages, positions = zip(*left, strict=True)
        return Predecessor(self.session, lines, messages, positions)


def recorded_predecessor(event: PlanExtended | PlanRebased) -> Predecessor:
    """The predecessor that a plan records; an empty one where it records none.

    Lines without their sources, as no release wrote them, are left out: they could not be taken back.
    """
    if not len(event.left_open) == len(event.left_open_in) == len(event.left_open_at):
        return Predecessor()
    sources = tuple(event.left_open_in), tuple(event.left_open_at)
    return Predecessor(event.predecessor, tuple(event.left_open), *sources)
