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
"""The beginning of the causes of decisions that were made in the book of a former name of the project."""


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
    namesakes: Map[str, tuple[str, ...]] = Map()
    """Key of either kind -> all memories that have or had it, where there are several."""
    candidates: Map[str, Judgement] = Map()
    verdicts: Map[str, int] = Map()
    """The number of candidates with each verdict."""
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
        before = self.memories.get(memory.id)
        book = replace(self, memories=self.memories.insert(memory.id, memory))
        if memory.change is not None:
            return book
        exact, namesakes = _indexed(book, book.exact, exact_key, memory, before)
        book = replace(book, exact=exact, namesakes=namesakes)
        identities, namesakes = _indexed(book, book.identities, identity_key, memory, before)
        return replace(book, identities=identities, namesakes=namesakes)


KeyOf = Callable[[MemoryClass, str], str]


def _indexed(
    book: Book, index: Map[str, str], key_of: KeyOf, memory: Memory, before: Memory | None
) -> tuple[Map[str, str], Map[str, tuple[str, ...]]]:
    """The index with this memory, and the namesakes. A key that the memory has given up leads to who else has it."""
    key, namesakes = key_of(memory.memory_class, memory.text), book.namesakes
    name = index.get(key, memory.id)
    if name != memory.id:
        namesakes = namesakes.insert(key, tuple(dict.fromkeys((*namesakes.get(key, ()), name, memory.id))))
    index = index.insert(key, _most_pointed(book, key, key_of, namesakes.get(key, ()), memory.id))
    if before is None or (before.memory_class, before.text) == (memory.memory_class, memory.text):
        return index, namesakes
    old = key_of(before.memory_class, before.text)
    if old != key and index.get(old) == memory.id:
        index = index.insert(old, _most_pointed(book, old, key_of, namesakes.get(old, ()), memory.id))
    return index, namesakes


def _most_pointed(book: Book, key: str, key_of: KeyOf, names: tuple[str, ...], newest: str) -> str:
    """Of those that have this key the one that is active, or waits; of equals the newest, and that by default."""
    memories = [book.memories[name] for name in names]
    having = [one for one in memories if one.change is None and key_of(one.memory_class, one.text) == key]
    return max(having, key=lambda one: (_pointedness(one), one.id == newest)).id if having else newest


def _pointedness(memory: Memory) -> int:
    return {"active": 2, "pending": 1}.get(memory.status, 0)


def source_key(kind: str, value: str) -> str:
    """The key of a quarantine of this source."""
    return f"{kind}:{value}"
