"""The marks of lanes: which lane decided an edit, and how far; and their form in the log.

An edit is marked `drops`, or with details, `channel:firm:31000`. What several lanes append to one text is marked by all
of them, `reminders+notes:1767225600`. An edit without a mark shows a tag.
"""

from collections.abc import Iterable
from functools import lru_cache

import msgspec

from schemas.plan import AnyEdit


class LaneMark(msgspec.Struct, frozen=True):
    """A lane, and what it says of its edit: a depth, a level, a time."""

    lane: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ":".join((self.lane, *self.details))

    @property
    def detail(self) -> str:
        """The first detail; empty: there is none."""
        return self.details[0] if self.details else ""


@lru_cache(maxsize=4096)
def parse_marks(text: str) -> tuple[LaneMark, ...]:
    """The marks that are written like this."""
    return tuple(_mark(*one.split(":")) for one in text.split("+") if one)


def _mark(lane: str, *details: str) -> LaneMark:
    return LaneMark(lane, details)


def join_marks(*texts: str) -> str:
    """The marks of all these, in one."""
    return "+".join(filter(None, texts))


def mark_of(edit: AnyEdit | None, lane: str) -> LaneMark | None:
    """The lane's own mark on an edit; none: the lane has no part in it."""
    marks = parse_marks(edit.lane) if edit is not None else ()
    return next((mark for mark in marks if mark.lane == lane), None)


def is_of(edit: AnyEdit | None, lanes: Iterable[str]) -> bool:
    """Whether one of these lanes alone has decided the edit."""
    marks = parse_marks(edit.lane) if edit is not None else ()
    return len(marks) == 1 and marks[0].lane in lanes


def lanes_of(edit: AnyEdit) -> frozenset[str]:
    """The lanes that have decided the edit."""
    return frozenset(mark.lane for mark in parse_marks(edit.lane))
