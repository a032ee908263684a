"""Filling a shelf: it is brought to what its table holds by now, and what it holds already is not read again."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from services.domain.search.rows import Kind
from services.kit.vectors import PLACE, Table, quoted
from services.searcher.copies import ShelfCopies
from services.searcher.core.arrays import Places
from services.searcher.core.shelf import Shelf, ShelfRow
from services.searcher.stored_shelf import StoredShelf

SHELVED = (
    "id", "hash", "session", "actor", "role", "at", "seq", "terms", "terms_title", "terms_around", "written",
)  # fmt: skip
"""The columns of a row that are in memory."""
AT_ONCE = 2_000
"""Rows that are put on a shelf together; others wait so long."""
WASTE = 0.25
"""The share of dead rows from which on a shelf is filled anew."""
FEW = 1_000


class ShelfSource(NamedTuple):
    """The source of a shelf: one version of a table."""

    project: str
    kind: Kind
    name: str
    version: int
    table: Table
    seen: int | None
    data: Path
    has_vectors: bool


async def filled(source: ShelfSource, stored: StoredShelf | None) -> StoredShelf:
    """The shelf that was in memory, or a new one, with all that the table has."""
    table = source.table
    listed = await table.arrow(("id", "hash", "seq", PLACE), f"project = {quoted(source.project)}")
    if stored is None or stored.name != source.name or stored.shelf.waste > max(FEW, WASTE * len(stored.shelf)):
        stored = _empty(source)
    shelf, first = stored.shelf, len(stored.shelf.ids)
    change = await asyncio.to_thread(_change, shelf, listed)
    shelf.remove(change.gone)
    shelf.moved(change.moved)
    there = set(await table.columns())  # an index of before goes on until a new one has grown next to it
    for start in range(0, len(change.fresh), AT_ONCE):
        places = change.fresh[start : start + AT_ONCE]
        rows = await table.at(places, [name for name in SHELVED if name in there])
        shelf.add(list(_entries(await asyncio.to_thread(rows.to_pylist), places, change.marks)))
        await asyncio.sleep(0)
    stored.copies.forget(np.flatnonzero(~shelf.alive))
    unsure = np.concatenate((stored.bare, np.arange(first, len(shelf.ids))))
    alive = np.flatnonzero(shelf.alive)
    numbers = alive[np.argsort(shelf.places[alive], kind="stable")]
    return stored._replace(
        table=table,
        version=source.version,
        seen=source.seen,
        places=shelf.places,
        ordered=shelf.places[numbers],
        numbers=numbers,
        has_others=len(listed) < await table.count(),
        bare=await _bare(source, shelf, unsure[shelf.alive[unsure]]),
    )


def _empty(source: ShelfSource) -> StoredShelf:
    nothing = np.zeros(0, np.int64)
    copies = ShelfCopies(source.data)
    return StoredShelf(Shelf(source.kind), source.table, 0, source.name, copies, nothing, nothing, nothing)


async def _bare(source: ShelfSource, shelf: Shelf, unsure: Places) -> Places:
    """Which of these rows have no vectors yet. A row that has them keeps them as long as it says the same."""
    if not source.has_vectors or not len(unsure):
        return unsure[:0]
    places = shelf.places[unsure]
    if len(unsure) <= FEW:
        vectors = (await source.table.at(places.tolist(), ("vector",))).column("vector")
        return np.asarray(unsure[vectors.is_null().to_numpy()], np.int64)
    lacking = (await source.table.arrow((PLACE,), "vector is null")).column(PLACE)
    return unsure[np.isin(places, lacking.to_numpy())]


class _Change(NamedTuple):
    """The change of rows since they were put on the shelf."""

    gone: list[str]
    moved: dict[str, int]
    fresh: list[int]
    marks: dict[str, str]


def _change(shelf: Shelf, listed: Any) -> _Change:  # noqa: ANN401 - a table of Arrow
    columns = (listed.column(name).to_pylist() for name in ("id", "hash", "seq", PLACE))
    marks: dict[str, str] = {}
    moved: dict[str, int] = {}
    fresh: list[int] = []
    for name, digest, seq, place in zip(*columns, strict=True):
        marks[name] = mark = f"{digest}/{seq}"
        if shelf.hashes.get(name) == mark:
            moved[name] = place
        else:
            fresh.append(place)
    return _Change([one for one in shelf.at_id if one not in marks], moved, fresh, marks)


def _entries(rows: Sequence[dict[str, Any]], places: Sequence[int], marks: dict[str, str]) -> Iterator[ShelfRow]:
    for row, place in zip(rows, places, strict=True):
        yield ShelfRow(**{**row, "hash": marks[row["id"]]}, place=place)
