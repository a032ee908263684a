"""The memories that the writer of a summary is shown, by numbers; and the id by which this very list is known again.

Whoever shows the list keeps nothing: its id names a position of the log, and the book as it was there gives it anew.
By the digest in the id both sides see whether they mean the same list, shown to the same session.
"""

from __future__ import annotations  # the book's persistent maps cannot be subscripted at run time

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256

import msgspec

from services.memory.book import Book
from services.memory.entry import Memory
from services.memory.keys import exact_key
from services.memory.rendering import COMPACT, choose
from services.memory.strength import Fading, dormant_days

_DIGITS = 8
_ID = re.compile(rf"([1-9][0-9]{{0,17}})-([0-9a-f]{{{_DIGITS}}})")


class Snapshot(msgspec.Struct, frozen=True):
    """A list of memories as it was shown: the first one is M1. Without memories there is none to name."""

    id: str = ""
    """`<position>-<digest>`; empty: there are no memories."""
    memories: tuple[Memory, ...] = ()


def holder_of(session: str, compactions: int) -> str:
    """The name of a list's reader: the writer of the next summary of a session that was compacted so often before.

    So the id in an earlier summary, which a model may copy, is none of a later list.
    """
    return f"{session}/{compactions}"


def snapshot(book: Book, holder: str = "") -> Snapshot:
    """The list that this book gives to a holder."""
    return snapshot_of(book.seq, listed_memories(book), holder)


def listed_memories(
    book: Book, memories: Iterable[Memory] | None = None, fadings: Iterable[Fading] | None = None
) -> tuple[Memory, ...]:
    """The memories of a list, in order. They depend on the book alone: strengths are those at its newest fact.

    `memories`: those of the book, and how they fade, where that is known in a form that is faster to go through.
    """
    at = book.changed_at or datetime.min.replace(tzinfo=UTC)
    dormant = dormant_days(((one.since, one.until) for one in book.pauses), None, at)
    known = book.memories.values() if memories is None else memories
    return tuple(one.memory for one in choose(known, at, dormant, COMPACT, fadings).memories)


def snapshot_of(seq: int, memories: tuple[Memory, ...], holder: str) -> Snapshot:
    """The list of these memories, which the book gives at this position, as it is shown to a holder."""
    if not memories:
        return Snapshot()
    content = "\n".join((holder, *(f"{one.id} {exact_key(one.memory_class, one.text)}" for one in memories)))
    return Snapshot(f"{seq}-{sha256(content.encode(errors='replace')).hexdigest()[:_DIGITS]}", memories)


def position_of(name: str) -> int | None:
    """The position of the log at which a book gives the list of this id; none: it is no such id."""
    found = _ID.fullmatch(name.strip().lower())
    return int(found[1]) if found else None
