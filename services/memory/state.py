"""The state of a project's memory book, and the keys by which a memory is found in it."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Callable
from datetime import datetime

import msgspec

from services.domain.fold import Map
from services.memory.classes import MemoryClass
from services.memory.entry import Judgement, Memory, Note
from services.memory.keys import exact_key, identity_key

replace = msgspec.structs.replace

ADOPTED = "adopted"
"""What the causes of decisions begin with that were made in the book of a former name of the project."""


class Pause(msgspec.Struct, frozen=True):
    """A time in which nobody worked on the project."""

    since: datetime
    until: datetime


class Quarantine(msgspec.Struct, frozen=True):
    """A quarantine of one source, and what it took back."""

    memories: tuple[str, ...]
    restored: tuple[str, ...]
    """Those that hold again since its memories do not."""


class Book(msgspec.Struct, frozen=True):
    """All that is remembered of a project, what waits for a person, and what became of each candidate."""

    memories: Map[str, Memory] = Map()
    exact: Map[str, str] = Map()
    """Exact key -> the memory that has these words now, or had them last; one that is active before others."""
    identities: Map[str, str] = Map()
    """Identity key -> the memory about that thing, chosen alike."""
    candidates: Map[str, Judgement] = Map()
    verdicts: Map[str, int] = Map()
    """How many candidates have each verdict."""
    notes: Map[str, Note] = Map()
    policy: Map[str, str] = Map()
    """Trust -> action, where a person has set one."""
    pauses: tuple[Pause, ...] = ()
    quarantines: Map[str, Quarantine] = Map()
    """`<kind>:<value>` -> what is taken back of it."""
    unfinished: Map[str, None] = Map()
    """Causes of decisions whose last fact is not in the log: a process ended while it wrote them."""
    changed_at: datetime | None = None
    """When something was last written, proposed or seen."""
    are_listings_expired: bool = False
    """Whether the lists of names that an earlier release remembered have been taken out once."""
    is_home: bool = False
    """Whether the project is a home directory: nothing is remembered of it."""
    moved_to: str = ""
    """The project under whose name the memory goes on; empty: this is its book."""
    seq: int = 0

    def judging(self, candidate: str, judgement: Judgement) -> Book:
        """The book with the newest judgement of a candidate."""
        before, verdicts = self.candidates.get(candidate), self.verdicts
        if before is not None:
            verdicts = verdicts.insert(before.verdict, verdicts[before.verdict] - 1)
        verdicts = verdicts.insert(judgement.verdict, verdicts.get(judgement.verdict, 0) + 1)
        return replace(self, candidates=self.candidates.insert(candidate, judgement), verdicts=verdicts)

    def with_memory(self, memory: Memory) -> Book:
        """The book with the memory under its id and its keys: a repetition of the same thing finds it.

        The proposal of a change has no keys: its words are those of a memory, or are nobody's yet.
        """
        book = replace(self, memories=self.memories.insert(memory.id, memory))
        if memory.change is not None:
            return book
        exact = _holding(book, book.exact, exact_key, memory)
        return replace(book, exact=exact, identities=_holding(book, book.identities, identity_key, memory))


def _holding(
    book: Book, index: Map[str, str], key_of: Callable[[MemoryClass, str], str], memory: Memory
) -> Map[str, str]:
    """With this memory under its key, unless another one that has the key, too, is more to the point there."""
    key = key_of(memory.memory_class, memory.text)
    name = index.get(key)
    if name == memory.id:
        return index
    other = book.memories.get(name) if name else None
    if other is not None and _pointedness(memory) < _pointedness(other):
        return index if key_of(other.memory_class, other.text) == key else index.insert(key, memory.id)
    return index.insert(key, memory.id)


def _pointedness(memory: Memory) -> int:
    return {"active": 2, "pending": 1}.get(memory.status, 0)


def source_key(kind: str, value: str) -> str:
    """How a quarantine of this source is called."""
    return f"{kind}:{value}"
