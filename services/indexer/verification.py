"""Whether the rows of an index still say what was written: a disk may have changed some bits of them."""

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from schemas.subjects import Address
from services.domain.search.rows import fits
from services.indexer.index import Damaged, Index
from services.indexer.tables import TABLES, as_row
from services.kit.vectors import VectorsError

COLUMNS = ("key", "id", "project", "kind", "ref", "session", "text", "before", "after", "title", "files", "hash")
"""The columns that the hash of a row is made of, and those that name its owner."""


class Misfit(NamedTuple):
    """A row whose texts are not those that its hash was made of."""

    kind: str
    key: str
    address: Address
    """Whose facts it is made of; without a session those of the project."""


async def misfits(index: Index) -> list[Misfit]:
    """All such rows. Raises `Damaged` where a row cannot be read at all, or does not say whose it is."""
    found: list[Misfit] = []
    for kind in TABLES:
        try:
            async for batch in index.table(kind).batches(COLUMNS):
                found += await asyncio.to_thread(lambda rows, of: list(_misfits(of, rows)), batch, kind)
        except (*VectorsError, msgspec.DecodeError) as error:
            raise Damaged(f"the table {kind} cannot be read: {error}") from error
    return found


def _misfits(kind: str, batch: Any) -> Iterator[Misfit]:  # noqa: ANN401 - a batch of Arrow
    for values in batch.to_pylist():
        row = as_row({**values, "files": values["files"] or ()})
        if not fits(row):
            yield Misfit(kind, values["key"], Address(row.project, row.session))
