"""All memories of a project in a row. A persistent map finds one at once, and takes milliseconds to go through."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator
from itertools import chain, zip_longest
from operator import itemgetter

import msgspec

from services.domain.fold import Map
from services.memory.entry import Memory
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
