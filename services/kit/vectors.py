"""The door to LanceDB: tables of rows with texts and vectors, of which one process writes and any may read.

A row is known by its `key`. What was written once and again is one row; nothing enforces that but the one writer.
"""

import asyncio
import contextlib
import ctypes
import os
import sys
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

os.environ.setdefault("LANCEDB_LOG", "error")  # it would warn of every query that asks for no score
os.environ.setdefault("LANCE_IO_THREADS", "2")  # it has many threads for remote stores; each keeps memory of its own
os.environ.setdefault("TOKIO_WORKER_THREADS", "2")
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # whose memory is given back

import pyarrow as pa

if TYPE_CHECKING:  # it takes seconds to load: who opens a table waits for it, and nobody else
    import lancedb

ARENAS = -8
"""The setting of the system's allocator for how many places it takes memory from; by default eight for each core."""
with contextlib.suppress(OSError, AttributeError):
    ctypes.CDLL(None).mallopt(ARENAS, 2)
CACHE = 32 * 1024 * 1024
"""Bytes of indexes that are cached, and as many of what is known of files."""
CATALOGUES = "lance_namespace_urllib3_client"
"""A client of remote catalogues, of which the library uses the shapes of answers and we nothing else."""

Columns = Mapping[str, Sequence[Any]]
"""Rows, given as columns."""
PLACE = "_rowid"
"""The column of a row's place."""
KEY = "key"
FRESH = timedelta(seconds=0)
"""A reader sees what the writer has written just now."""
RETENTION = timedelta(minutes=10)
"""For how long those who read an older version may go on."""
AT_ONCE = 1_000
"""Rows that are copied together."""
TYPES = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "bytes": pa.binary(),
    "texts": pa.list_(pa.string()),
}

VectorsError = (RuntimeError, OSError, ValueError)
"""The errors of a table that cannot be read or written."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: str
    """One of `TYPES`, or `vector`."""
    dimensions: int = 0

    @property
    def type(self) -> pa.DataType:
        return pa.list_(pa.float32(), self.dimensions) if self.kind == "vector" else TYPES[self.kind]


def quoted(value: str) -> str:
    """A text as a condition holds it, whatever characters are in it."""
    return "'" + value.replace("'", "''") + "'"


def among(column: str, values: Sequence[str]) -> str:
    """The condition that a column has one of these values."""
    return f"{column} in ({', '.join(map(quoted, values))})" if values else "false"


def give_back() -> None:
    """Give memory that is not used any more back to the system, which its allocator would keep."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class Tables:
    """A folder of tables."""

    def __init__(self, connection: "lancedb.AsyncConnection") -> None:
        self._connection = connection

    @classmethod
    async def open(cls, folder: Path) -> "Tables":
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        library = await asyncio.to_thread(_library)
        session = library.Session(CACHE, CACHE)
        return cls(await library.connect_async(folder, read_consistency_interval=FRESH, session=session))

    async def names(self) -> list[str]:
        return list((await self._connection.list_tables()).tables)

    async def table(self, name: str) -> "Table":
        """A table that is there. Raises `ValueError` where it is not."""
        return Table(await self._connection.open_table(name))

    async def as_it_is(self, name: str) -> "Table":
        """A table as it is now, whatever is written into it later. Raises `ValueError` where it is not there."""
        table = await self._connection.open_table(name)
        await table.checkout(await table.version())
        return Table(table)

    async def make(self, name: str, columns: Sequence[Column]) -> "Table":
        """The table of this name, which is made where it is missing."""
        shape = pa.schema([pa.field(one.name, one.type) for one in columns])
        return Table(await self._connection.create_table(name, schema=shape, exist_ok=True))

    async def drop(self, name: str) -> None:
        await self._connection.drop_table(name, ignore_missing=True)

    def close(self) -> None:
        self._connection.close()  # type: ignore[no-untyped-call]


class Table:
    """Rows with an id each."""

    def __init__(self, table: "lancedb.AsyncTable") -> None:
        self._table = table

    async def columns(self) -> tuple[str, ...]:
        return tuple((await self._table.schema()).names)

    async def version(self) -> int:
        """Grows with each change."""
        return int(await self._table.version())

    async def count(self, where: str | None = None) -> int:
        return int(await self._table.count_rows(where))

    async def put(self, rows: Columns) -> None:
        """Write whole rows; those that have an id which is there take the place of what it had."""
        merging = self._table.merge_insert(KEY).when_matched_update_all().when_not_matched_insert_all()
        await merging.execute(await self._arrow(rows), on_bad_vectors="null")

    async def add(self, rows: pa.Table) -> None:
        """Write whole rows of which none is there yet."""
        await self._table.add(rows, on_bad_vectors="null")

    async def fill(self, rows: Columns, *, unless_changed: str) -> int:
        """Write some columns of rows that are there and have this column as it is given; how many those are."""
        where = f"target.{unless_changed} = source.{unless_changed}"
        merging = self._table.merge_insert(KEY).when_matched_update_all(where=where)
        merging = merging.use_index(use_index=False)  # with one, rows of some columns only end the library's thread
        done = await merging.execute(await self._arrow(rows), on_bad_vectors="null")
        return int(done.num_updated_rows)

    async def remove(self, where: str) -> None:
        """Take rows away from those that are found. Their bytes stay on the disk until the table is copied anew."""
        await self._table.delete(where)

    async def rows(
        self, columns: Sequence[str], where: str | None = None, *, limit: int | None = None
    ) -> list[dict[str, Any]]:
        return list((await self.arrow(columns, where, limit=limit)).to_pylist())

    async def arrow(self, columns: Sequence[str], where: str | None = None, *, limit: int | None = None) -> pa.Table:
        """Rows in no order, as columns of Arrow."""
        query = self._table.query().select(list(columns))
        query = query.with_row_id() if PLACE in columns else query
        query = query.where(where) if where else query
        return await (query if limit is None else query.limit(limit)).to_arrow()

    async def rows_with(self, needles: Sequence[str]) -> int:
        """The number of rows with one of these texts in a column, in all versions that are on the disk."""
        found = 0
        for version in await self._versions():
            await self._table.checkout(version)
            async for batch in await self._table.query().to_batches():
                texts = [column.to_pylist() for column, field in zip(batch.columns, batch.schema, strict=True)
                         if not pa.types.is_fixed_size_list(field.type)]  # fmt: skip
                rows = ("\n".join(map(_texts, row)) for row in zip(*texts, strict=True))
                found += sum(any(needle in row for needle in needles) for row in rows)
        await self._table.checkout_latest()  # type: ignore[no-untyped-call]
        return found

    async def _versions(self) -> list[int]:
        return [one["version"] for one in await self._table.list_versions()]  # type: ignore[no-untyped-call]

    async def at(self, places: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows at these places, in this order: the quickest way to a row. A place holds for one version only."""
        found = await self._table.take_row_ids(list(places)).select(list(columns)).with_row_id().to_arrow()
        order = {place: number for number, place in enumerate(found.column(PLACE).to_pylist())}
        return found.take([order[place] for place in places]).select(list(columns))

    async def nearest(
        self,
        column: str,
        vector: Sequence[float],
        columns: Sequence[str],
        where: str | None = None,
        *,
        limit: int,
        is_exact: bool = True,
    ) -> pa.Table:
        """The rows whose vector points most nearly the same way, with `_distance`: 1 less the cosine.

        Where an index finds them `is_exact` compares the whole vectors of more rows; who does that anyway need not.
        """
        query = self._table.query().nearest_to(list(vector)).column(column).distance_type("cosine").nprobes(PROBES)
        query = query.refine_factor(REFINE) if is_exact else query
        query = query.where(where) if where else query
        return await query.limit(limit).select([*columns, "_distance"]).to_arrow()

    async def tidy(self, *, retention: timedelta = RETENTION) -> None:
        """Join small files, take new rows into the indexes, and drop versions that nobody reads any more."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # who keeps nothing has seen to it that nobody reads
            await self._table.optimize(cleanup_older_than=retention, delete_unverified=not retention)

    async def indexes(self) -> tuple[str, ...]:
        """The columns that have one."""
        return tuple(column for index in await self._table.list_indices() for column in index.columns)

    async def index_vectors(self, column: str) -> None:
        """Build the index of vectors. It takes hundreds of megabytes, which a process does not give back."""
        await self._table.create_index(column, config=_kind("IvfSq", distance_type="cosine"), replace=True)

    async def index_values(self, column: str) -> None:
        await self._table.create_index(column, config=_kind("BTree"), replace=True)

    async def copy_to(self, other: "Table") -> int:
        """Write all rows into another table, a few at a time; how many there are."""
        count = 0
        async for batch in self._batches():
            await other.add(pa.Table.from_batches([batch]))
            count += len(batch)
        return count

    async def batches(self, columns: Sequence[str]) -> AsyncIterator[pa.RecordBatch]:
        """Some columns of all rows, `AT_ONCE` rows at a time at most, in no order."""
        async for batch in await self._table.query().select(list(columns)).to_batches(max_batch_length=AT_ONCE):
            yield batch

    async def _batches(self) -> AsyncIterator[pa.RecordBatch]:
        async for batch in await self._table.query().to_batches(max_batch_length=AT_ONCE):
            yield batch

    async def _arrow(self, rows: Columns) -> pa.Table:
        shape = await self._table.schema()
        return pa.table({name: pa.array(rows[name], shape.field(name).type) for name in shape.names if name in rows})


def _library() -> ModuleType:
    """LanceDB, without all that its client of catalogues loads for itself: half of the time, and 14 MB."""
    package = find_spec(CATALOGUES)
    if package is not None:
        sys.modules.setdefault(CATALOGUES, module_from_spec(package))
    return import_module("lancedb")


def _texts(value: object) -> str:
    return "\n".join(map(_texts, value)) if isinstance(value, list) else str(value)


def _kind(name: str, **settings: object) -> Any:  # noqa: ANN401 - its list of kinds lacks one
    """The configuration of an index, by its name in the library."""
    return getattr(import_module("lancedb.index"), name)(**settings)


PROBES, REFINE = 20, 5
"""The number of the index's parts that are searched, and the factor by which more rows are compared by whole
vectors."""
