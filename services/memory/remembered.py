"""A project's memory book, and what has changed in it since any position: for heads, notices and questions."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from operator import itemgetter
from typing import Literal

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    Event,
    MemoryArchived,
    MemoryDivided,
    MemoryExpired,
    MemoryMerged,
    MemoryPinned,
    MemoryProposed,
    MemoryQuarantined,
    MemoryReinforced,
    MemoryReleased,
    MemoryRestored,
    MemoryRevised,
    MemoryVerified,
    MemoryWritten,
    NoteDismissed,
    NoteParked,
    NoteReadied,
    NoteTranslated,
    NoteUpdated,
    NoteWritten,
)
from services.domain.fold import Map
from services.memory import book as books
from services.memory.book import Book
from services.memory.entry import Memory, Note
from services.memory.state import ADOPTED
from services.memory.strength import Fading, fading_of

LENGTH = 128
"""Memories of a page: with each change of a memory its page is copied."""


Placed = tuple[Memory, Fading]


class MemoryShelf(msgspec.Struct, frozen=True):
    """Memories in the order in which they came, each as it is now, and how it fades."""

    pages: tuple[tuple[Placed, ...], ...] = ()
    places: Map[str, int] = Map()

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Memory]:
        return map(itemgetter(0), chain.from_iterable(self.pages))

    @property
    def fadings(self) -> Iterator[Fading]:
        """The fading of each of them, in the same order."""
        return map(itemgetter(1), chain.from_iterable(self.pages))

    def with_memory(self, memory: Memory) -> MemoryShelf:
        """The shelf with this memory in the place that it has, or behind all others."""
        place = self.places.get(memory.id)
        places = self.places if place is not None else self.places.insert(memory.id, len(self))
        number, at = divmod(len(self) if place is None else place, LENGTH)
        page = self.pages[number] if number < len(self.pages) else ()
        changed = (*page[:at], (memory, fading_of(memory)), *page[at + 1 :])
        return MemoryShelf((*self.pages[:number], changed, *self.pages[number + 1 :]), places)

    def since(self, before: MemoryShelf) -> Iterator[tuple[Memory | None, Memory | None]]:
        """Memories that differ from those on an earlier shelf: as they were, and as they are; None: there was none.

        Pages on which nothing has changed are passed over.
        """
        for old, new in zip_longest(before.pages, self.pages, fillvalue=()):
            if old is not new:
                for was, now in zip_longest(old, new):
                    if was is None or now is None or was[0] != now[0]:
                        yield was[0] if was is not None else None, now[0] if now is not None else None


replace = msgspec.structs.replace

Kind = Literal["added", "revised", "gone"]


class MemoryChange(msgspec.Struct, frozen=True):
    """A memory that holds from now on, says something else, or holds no longer."""

    seq: int
    """The position of the fact that made it so."""
    memory: str
    kind: Kind
    origin: str = ""
    """The session that it came from, as far as the fact names one."""
    before: int = 0
    """The position of the memory's change before this one; 0: there was none."""


class Remembered(msgspec.Struct, frozen=True):
    """The memory of a project, with its changes."""

    book: Book = Book()
    changes: Map[int, MemoryChange] = Map()
    """All changes, numbered from 1 on; without those that were made under a former name of the project."""
    newest: Map[str, int] = Map()
    """Memory -> the position of its newest change: of the fact by which it reads as it does."""
    shelf: MemoryShelf = MemoryShelf()
    """The memories of the book, to go through them."""
    waiting: Map[str, tuple[Note, ...]] = Map()
    """Session -> its notes that nobody has dismissed; those of the whole project under no session."""
    announced: tuple[Note, ...] = ()
    """The notes of all sessions that there are news of: what they waited for has come, or cannot be looked at."""

    def since(self, position: int) -> tuple[MemoryChange, ...]:
        """The changes behind a position of the log, in order."""
        return tuple(reversed(list(self._back_to(position))))

    def _back_to(self, position: int) -> Iterator[MemoryChange]:
        for number in range(len(self.changes), 0, -1):
            change = self.changes[number]
            if change.seq <= position:
                return
            yield change


def evolve(remembered: Remembered, event: Event, envelope: Envelope) -> Remembered:
    """Fold a fact into the book, and note what it has changed for readers of the memory."""
    book = books.evolve(remembered.book, event, envelope)
    if book is remembered.book:
        return remembered
    changes, newest, shelf, origin = remembered.changes, remembered.newest, remembered.shelf, _origin(event)
    is_adopted = envelope.cause.startswith(f"{ADOPTED}/")
    for name in dict.fromkeys(_named(event)):
        before, after = remembered.book.memories.get(name), book.memories.get(name)
        if after is None or after is before:
            continue
        shelf = shelf.with_memory(after)
        kind = _kind(before, after)
        if kind and not is_adopted:
            change = MemoryChange(envelope.seq, name, kind, origin, newest.get(name, 0))
            changes = changes.insert(len(changes) + 1, change)
        newest = newest.insert(name, envelope.seq) if kind else newest
    waiting, announced = _waiting(remembered.waiting, book, event), _announced(remembered.announced, book, event)
    return Remembered(book, changes, newest, shelf, waiting, announced)


def _waiting(waiting: Map[str, tuple[Note, ...]], book: Book, event: Event) -> Map[str, tuple[Note, ...]]:
    match event:
        case (
            NoteWritten(note=name)
            | NoteUpdated(note=name)
            | NoteTranslated(note=name)
            | NoteReadied(note=name)
            | NoteParked(note=name)
            | NoteDismissed(note=name)
        ) if name in book.notes:
            note = book.notes[name]
            others = tuple(one for one in waiting.get(note.session, ()) if one.id != name)
            return waiting.insert(note.session, (*others, note) if note.status == "active" else others)
        case _:
            return waiting


def _announced(announced: tuple[Note, ...], book: Book, event: Event) -> tuple[Note, ...]:
    match event:
        case NoteReadied(note=name) | NoteParked(note=name) if name in book.notes:
            note = book.notes[name]
            others = tuple(one for one in announced if one.id != name)
            return (*others, note) if note.announced else others
        case NoteUpdated(note=name) | NoteDismissed(note=name) if any(one.id == name for one in announced):
            known = (book.notes[one.id] for one in announced)
            return tuple(one for one in known if one.announced)
        case _:
            return announced


def _kind(before: Memory | None, after: Memory) -> Kind | None:
    """The kind of a memory's change by a fact, for readers of the memory; none: no change."""
    if before is None or not before.is_active:
        return "added" if after.is_active else None
    if not after.is_active:
        return "gone"
    return "revised" if before.text != after.text else None


def _named(event: Event) -> Iterable[str]:
    """The memories that a fact may change."""
    match event:
        case MemoryWritten(memory=name, supersedes=names) | MemoryMerged(memory=name, sources=names):
            return (name, *names)
        case MemoryDivided(memory=name, parts=parts):
            return (name, *parts)
        case (
            MemoryProposed(memory=name)
            | MemoryRevised(memory=name)
            | MemoryReinforced(memory=name)
            | MemoryArchived(memory=name)
            | MemoryRestored(memory=name)
            | MemoryPinned(memory=name)
            | MemoryVerified(memory=name)
        ):
            return (name,)
        case MemoryExpired(memories=names):
            return names
        case MemoryQuarantined(memories=names, restored=restored):
            return (*names, *restored)
        case MemoryReleased(memories=names, restored=restored):
            return (*names, *restored)
        case _:
            return ()


def _origin(event: Event) -> str:
    match event:
        case MemoryWritten(origin=origin) | MemoryRevised(origin=origin) | MemoryMerged(origin=origin):
            return origin
        case _:
            return ""
