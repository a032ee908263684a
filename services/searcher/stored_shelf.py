"""A shelf with the table that it was filled from, and how rows of it are read."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from services.kit.vectors import PLACE, Table, quoted
from services.searcher.copies import ShelfCopies, columns_of, pieces
from services.searcher.core.arrays import Array, Flags, Floats, Places
from services.searcher.core.shelf import Scope, Shelf


class StoredShelf(NamedTuple):
    """A shelf, and the table as it was when the shelf was filled from it."""

    shelf: Shelf
    table: Table
    version: int
    name: str
    copies: ShelfCopies
    places: Array
    """The place of each row of the shelf in the table. Rows that the shelf got later it does not have."""
    ordered: Array
    """The places of the rows that are alive, in order."""
    numbers: Places
    """The numbers on the shelf of the rows at those places, in the same order."""
    has_others: bool = True
    """Whether there are rows of other projects in the table."""
    bare: Places = np.zeros(0, np.int64)
    """The rows that have no vectors yet."""
    seen: int | None = None
    """The version of the table that was written down when it was opened."""

    def allowed(self, scope: Scope) -> Flags:
        """Which rows are asked for and are in the table as well."""
        flags = self.shelf.allowed(scope)
        flags[len(self.places) :] = False
        return flags

    def at(self, places: Places) -> Places:
        """The numbers of the rows at these places; what is no row of the shelf has none."""
        if not len(self.ordered):
            return self.numbers
        found = np.minimum(np.searchsorted(self.ordered, places), len(self.ordered) - 1)
        return np.asarray(self.numbers[found[self.ordered[found] == places]], np.int64)


async def nearest(stored: StoredShelf, project: str, column: str, vector: Floats, narrowed: str, limit: int) -> Places:
    """The numbers of the rows whose vectors point most nearly the same way."""
    of_project = f"project = {quoted(project)}" if stored.has_others else ""
    where = " and ".join(filter(None, (of_project, narrowed))) or None
    found = await stored.table.nearest(column, vector.tolist(), (PLACE,), where, limit=limit, is_exact=False)
    return stored.at(np.asarray(found.column(PLACE).to_numpy(), np.int64))


async def read(stored: StoredShelf, numbers: Places, names: Sequence[str]) -> list[tuple[bytes, ...]]:
    """Parts of rows that stand next to each other, in the order of the rows: from the copies, else from the table."""
    copied = stored.copies.has(numbers)
    found: list[tuple[bytes, ...]] = [()] * len(numbers)
    if copied.any():
        # not in a thread: what the system has cached is read in less time than a thread is woken
        there = stored.copies.read(numbers[copied].tolist(), names)
        for at, record in zip(np.flatnonzero(copied).tolist(), there, strict=True):
            found[at] = record
    if not copied.all():
        rows = await stored.table.at(stored.places[numbers[~copied]].tolist(), columns_of(names))
        for at, record in zip(np.flatnonzero(~copied).tolist(), pieces(rows, names), strict=True):
            found[at] = record
    return found


def matrix(vectors: Sequence[bytes]) -> Floats:
    """Vectors, row by row; zeros where there is none."""
    width = max(map(len, vectors), default=0)
    if not width:
        return np.zeros((len(vectors), 1), np.float32)
    empty = bytes(width)
    return np.frombuffer(b"".join(one or empty for one in vectors), np.float32).reshape(len(vectors), width // 4)


def condition(sessions: Collection[str], actors: Collection[str]) -> str:
    """Which rows of a project are asked for; empty: all."""
    parts = []
    for name, wanted in (("session", sessions), ("actor", actors)):
        if wanted:
            parts.append(f"{name} in ({', '.join(map(quoted, sorted(wanted)))})")
    return " and ".join(parts)
