"""What the desk knows: the tags of a session, and what a project's models spend and what it may remember."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    DropRequested,
    Event,
    MemoryProposed,
    MemoryReinforced,
    NativeCompacted,
    SpendRefused,
    SpendReserved,
    SpendSettled,
    TagAssigned,
)
from services.desk import ledger, memories
from services.desk.ledger import Ledger
from services.desk.memories import Memories
from services.kit.fold import Map

replace = msgspec.structs.replace


class Book(msgspec.Struct, frozen=True):
    """What was decided at one address."""

    tags: Map[int, None] = Map()
    """Every number that was given."""
    requested: Map[int, None] = Map()
    """Numbers whose drop was asked for, whether it is served yet or not."""
    compacted: int = 0
    """Numbers up to this one were summarised away by the harness itself."""
    newest: tuple[int, ...] = ()
    """The highest numbers that nobody asked to drop, ascending; as many as can be protected."""
    ledger: Ledger = Ledger()
    memories: Memories = Memories()


MOST_PROTECTED = 100


def evolve(book: Book, event: Event, envelope: Envelope) -> Book:
    match event:
        case TagAssigned(first=first, parts=parts):
            given = range(first, first + len(parts))
            tags = book.tags
            for number in given:
                tags = tags.insert(number, None)
            fresh = [
                number
                for number in given
                if number > book.compacted and number not in book.requested and number not in book.newest
            ]
            return replace(book, tags=tags, newest=tuple(sorted((*book.newest, *fresh))[-MOST_PROTECTED:]))
        case DropRequested(tags=dropped):
            requested = book.requested
            for number in dropped:
                requested = requested.insert(number, None)
            return replace(book, requested=requested, newest=_newest(book, requested))
        case NativeCompacted(last_tag=last):
            newest = tuple(number for number in book.newest if number > last)
            return replace(book, compacted=max(book.compacted, last), newest=newest)
        case SpendReserved() | SpendSettled() | SpendRefused():
            return replace(book, ledger=ledger.evolve(book.ledger, event, envelope.seq))
        case MemoryProposed() | MemoryReinforced():
            return replace(book, memories=memories.evolve(book.memories, event))
        case _:
            return book


def _newest(book: Book, requested: Map[int, None]) -> tuple[int, ...]:
    """The highest open numbers, found from the top: no more is looked at than is asked for or kept."""
    if not book.newest:
        return ()
    kept: list[int] = []
    number = book.newest[-1]
    while number > book.compacted and len(kept) < MOST_PROTECTED:
        if number in book.tags and number not in requested:
            kept.append(number)
        number -= 1
    return tuple(reversed(kept))
