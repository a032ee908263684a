"""One index: its tables with their position in the log. All writing goes through here, one thing at a time."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from schemas.subjects import Address
from services.domain.search.rows import SearchRow, fits
from services.indexer.core.changes import RowChanges, key
from services.indexer.tables import COMPUTED, TABLES, as_columns, as_row, columns, dimensions_of
from services.kit.index_place import Current, Position, folder_of, read_position, write_position
from services.kit.logs import logger
from services.kit.same_log import NOTHING, ComparedLog, Mark, difference, with_mark
from services.kit.vectors import Columns, Table, Tables, VectorsError, among

T = TypeVar("T")

AT_ONCE = 500
"""Rows that are written together: a condition that names more is long."""


class Damaged(Exception):
    """The tables are not what was written down of them: they are made anew from the log."""


class Index:
    """A set of tables on the disk."""

    def __init__(self, folder: Path, current: Current, tables: Tables) -> None:
        self.folder = folder
        self.current = current
        self.position = Position()
        self.writing = asyncio.Lock()
        """The lock of whoever changes a table."""
        self.changed = 0
        """The rows that were written since the tables were tidied."""
        self.pieces: Counter[str] = Counter()
        """The pieces in which those rows were written, by kind: each is a file and a version of its table, which lists
        all files."""
        self.unfilled: dict[tuple[str, str], None] = {}
        """The kind and the key of rows that have no vectors yet, the newest last."""
        self._folder_tables = tables
        self._tables: dict[str, Table] = {}

    @classmethod
    async def open(cls, data: Path, current: Current) -> "Index":
        """The set of this name, as it was left, or made anew where it is not as it should be."""
        folder = folder_of(data) / current.set
        index = cls(folder, current, await Tables.open(folder))
        try:
            await index._opened()
        except BaseException:
            index.close()
            raise
        return index

    async def _opened(self) -> None:
        try:
            await self._open(read_position(self.folder))
        except (Damaged, *VectorsError) as error:
            if await self._folder_tables.names():
                reason = str(error) or type(error).__name__
                logger().warning("the index is made anew", set=self.current.set, reason=reason)
            await self.reset()
        await self._find_unfilled()

    async def _find_unfilled(self) -> None:
        for kind, table in self._tables.items():
            if not self.dimensions(kind):
                continue
            for row in await table.rows(["key"], "vector is null"):
                self.unfilled[kind, row["key"]] = None

    @property
    def committed(self) -> int:
        return self.position.through

    def table(self, kind: str) -> Table:
        return self._tables[kind]

    def dimensions(self, kind: str) -> int:
        """Dimensions of the vectors of rows of this kind; 0: they have none."""
        return dimensions_of(kind, self.current.dimensions)

    async def _open(self, position: Position) -> None:
        """Open the tables, and drop those that nobody knows of. Raises `Damaged`."""
        if not position.tables:
            raise Damaged("it is not written down which tables it has")
        names = await self._folder_tables.names()
        if missing := set(position.tables.values()) - set(names):
            raise Damaged(f"tables are gone: {missing}")
        for kind, name in position.tables.items():
            wanted = {column.name for column in columns(self.dimensions(kind))}
            table = self._tables[kind] = await self._folder_tables.table(name)
            if await table.version() < position.versions.get(kind, 0) or set(await table.columns()) != wanted:
                raise Damaged(f"the table {name} is older than its position, or of another shape")
        for name in set(names) - set(position.tables.values()):
            await self._folder_tables.drop(name)
        self.position = position

    async def reset(self) -> None:
        """Begin anew, with nothing of the log."""
        await asyncio.to_thread(write_position, self.folder, Position())
        there = await self._folder_tables.names()
        number = max((_number(name) + 1 for name in there), default=0)  # whoever searches holds tables by their names
        for name in there:
            await self._folder_tables.drop(name)
        names: dict[str, str] = {kind: _name(kind, number) for kind in TABLES}
        for kind, name in names.items():
            self._tables[kind] = await self._folder_tables.make(name, columns(self.dimensions(kind)))
        self.position = Position(tables=names, dimensions=self.current.dimensions)
        await asyncio.to_thread(write_position, self.folder, self.position)

    async def compare(self, log: ComparedLog) -> None:
        """Begin anew where this was made from another log."""
        position = self.position
        found = await difference(log, position.through, position.marks or [one for one in [position.newest] if one.seq])
        if found is not None:
            logger().error("the index is of another log, it is made anew", set=self.current.set, reason=found.reason)
            self.unfilled.clear()
            await self.reset()

    async def forget(self) -> None:
        """Have all of it made anew when it is opened next."""
        async with self.writing:
            await asyncio.to_thread(write_position, self.folder, Position())

    async def check(self) -> None:
        """Look whether each row is there once. Raises `Damaged`."""
        for kind, table in self._tables.items():
            if len(await self.hashes(kind)) != await table.count():
                raise Damaged(f"the table {kind} has rows twice")

    async def hashes(self, kind: str) -> dict[str, str]:
        """The keys of all rows of a kind, with the digest of each row's text."""
        return {row["key"]: row["hash"] for row in await self._tables[kind].rows(["key", "hash"])}

    async def drop(self, gone: Mapping[str, Iterable[str]]) -> None:
        """Take rows away, by their kinds and keys, and every byte of them off the disk."""
        collected = RowChanges()
        collected.gone = {kind: set(keys) for kind, keys in gone.items()}
        await self.commit(collected, self.committed)
        for kind in tuple(self.position.removed):
            async with self.writing:
                await self.copy(kind)

    def close(self) -> None:
        self._folder_tables.close()

    async def commit(self, collected: RowChanges, through: int, mark: Mark = NOTHING) -> None:
        """Write what a stretch of the log has changed, and then its position: killed between, it is written again."""
        async with self.writing:
            removed = dict(self.position.removed)
            for kind in collected.kinds:
                gone = await self._remove(kind, sorted(collected.gone.get(kind, ())))
                if gone:
                    removed[kind] = removed.get(kind, 0) + gone
                await self._put(kind, list(collected.rows.get(kind, {}).values()))
            marks = with_mark(self.position.marks, mark) if mark.seq else self.position.marks
            await self.settle(through=through, removed=removed, marks=marks)

    async def settle(self, **changes: Any) -> None:  # noqa: ANN401 - fields of the position
        """Write down how the tables stand now."""
        versions = {kind: await table.version() for kind, table in self._tables.items()}
        position = msgspec.structs.replace(self.position, versions=versions, **changes)
        if position != self.position:
            await asyncio.to_thread(write_position, self.folder, position)
        self.position = position

    async def _remove(self, kind: str, keys: Sequence[str]) -> int:
        table, gone = self._tables[kind], 0
        for some in _slices(keys):
            there = await table.count(among("key", some))
            if there:
                await table.remove(among("key", some))
                self.pieces[kind] += 1
            gone += there
        return gone

    async def _put(self, kind: str, rows: Sequence[SearchRow]) -> None:
        """Write rows. Where a row's text is unchanged, what was computed of it stays."""
        table = self._tables[kind]
        for some in _slices(rows):
            there = await self._hashes(table, some)
            fresh = [row for row in some if there.get(key(row.project, row.id)) != row.hash]
            same = [row for row in some if there.get(key(row.project, row.id)) == row.hash]
            if fresh:
                await table.put(as_columns(fresh, self.dimensions(kind)))
            for row in fresh if self.dimensions(kind) else ():
                self.unfilled.pop((kind, key(row.project, row.id)), None)
                self.unfilled[kind, key(row.project, row.id)] = None
            if same:
                await table.fill(_without(as_columns(same, 0)), unless_changed="hash")
            self.changed += len(some)
            self.pieces[kind] += bool(fresh) + bool(same)

    async def _hashes(self, table: Table, rows: Iterable[SearchRow]) -> dict[str, str]:
        found = await table.rows(["key", "hash"], among("key", [key(row.project, row.id) for row in rows]))
        return {row["key"]: row["hash"] for row in found}

    async def fill(self, kind: str, rows: Columns) -> int:
        """Write what was computed of rows that still say the same; how many those are."""
        async with self.writing:
            done = await self._tables[kind].fill(rows, unless_changed="hash")
            self.changed += done
            self.pieces[kind] += 1
            await self.settle()
            return done

    async def copy(self, kind: str) -> None:
        """Write a table anew: nothing of rows that were taken away is left on the disk. Hold `writing` for it."""
        old = self.position.tables[kind]
        name = _name(kind, _number(old) + 1)
        await self._folder_tables.drop(name)
        table = await self._folder_tables.make(name, columns(self.dimensions(kind)))
        await self._tables[kind].copy_to(table)
        self._tables[kind] = table
        removed = {other: count for other, count in self.position.removed.items() if other != kind}
        await self.settle(tables={**self.position.tables, kind: name}, removed=removed)
        await self._folder_tables.drop(old)


def _name(kind: str, number: int) -> str:
    return f"{kind}-{number}" if number else kind


def _number(name: str) -> int:
    """The number of a table: how often one of its kind was made anew before it."""
    return int(name.partition("-")[2] or 0)


def _slices(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]


def _without(rows: Columns) -> Mapping[str, Sequence[Any]]:
    return {name: values for name, values in rows.items() if name == "hash" or name not in COMPUTED}


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
