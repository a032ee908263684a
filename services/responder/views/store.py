"""The file of tables and views: named by a fingerprint of their shapes, rebuilt instead of migrated."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import msgspec

from schemas.status_asks import SkippedRecord
from services.domain.record import RecordSkipped
from services.kit import metrics
from services.kit.duck import Connection, Duck, DuckBusy, insert
from services.kit.projector import Fact
from services.kit.retry import retrying
from services.kit.same_log import NOTHING, ComparedLog, Difference, Mark, difference, with_mark
from services.responder.views.tables import TABLES, columns_of, fingerprint, table_name

LATEST = 2**63 - 1
COMMIT_PATIENCE = 10.0
"""Seconds for which a commit that the database could not make just then is tried again."""
PREFIX = "views-"
CHECKPOINT = "checkpoint_row"
SKIPPED = table_name(RecordSkipped.TYPE)
NEWEST_SKIPPED = 5
"""Skipped records that `ask.status` names."""
ORDER = ("plans", "tags", "memory_parts", "memory_lineage", "memories", "notes", "compartments", "commits")
"""Views that others read come first."""


@cache
def view_sources() -> dict[str, str]:
    """The views' SQL by name, in the order they are created."""
    folder = files("services.responder") / "views"
    names = sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))
    ordered = [*(name for name in ORDER if name in names), *(name for name in names if name not in ORDER)]
    return {name: (folder / f"{name}.sql").read_text() for name in ordered}


def file_name() -> str:
    return f"{PREFIX}{fingerprint(tuple(view_sources().values()))}.duckdb"


class SkippedRecords(NamedTuple):
    """Records that cannot be read, as far as the file goes: their number, and the last of them."""

    total: int = 0
    newest: tuple[SkippedRecord, ...] = ()


class Torn(Exception):
    """A file whose position is not that of what it holds."""


class Store:
    """One file with its position in the log: the sink that the projector fills with tables."""

    def __init__(self, duck: Duck) -> None:
        self.duck = duck
        self.committed = 0
        self.skipped = SkippedRecords()
        self._marks: tuple[Mark, ...] = ()

    @classmethod
    async def open(cls, path: Path, *, memory_limit: str) -> "Store":
        """Open the file, make what is missing, and find its position."""
        path.parent.mkdir(parents=True, exist_ok=True)
        store = await cls._opened(path, memory_limit, _prepare)
        metrics.COMMITTED.set(store.committed)
        return store

    @classmethod
    async def open_as_is(cls, path: Path, *, memory_limit: str) -> "Store":
        """Open a file of other shapes to answer from it; nothing of it is changed."""
        return await cls._opened(path, memory_limit, position)

    @classmethod
    async def _opened(cls, path: Path, memory_limit: str, position: Callable[[Connection], int]) -> "Store":
        store = cls(Duck(path, memory_limit=memory_limit))
        try:
            store.committed = await store.duck.write(position)
            store.skipped = await store.duck.write(_skipped)
            store._marks = await store.duck.write(_marks)
        except BaseException:
            await store.close()
            raise
        return store

    async def compare(self, log: ComparedLog) -> Difference | None:
        """The difference between the log and the one that this was made from; none: the marks show none.

        Raises `Torn`.
        """
        newest = await self.duck.write(_newest)
        if any(mark.seq > self.committed for mark in newest):
            raise Torn(f"it holds facts up to {newest[0].seq}, and its position is {self.committed}")
        return await difference(log, self.committed, [*newest, *self._marks])

    async def commit(self, facts: Sequence[Fact], through: int, mark: Mark = NOTHING) -> None:
        """Add facts, in log order, and move the position, in one transaction."""
        if through <= self.committed:
            return
        fresh = [fact for fact in facts if fact[0].seq > self.committed]
        marks = with_mark(self._marks, mark) if mark.seq else self._marks
        async for attempt in retrying(DuckBusy, seconds=COMMIT_PATIENCE):
            with attempt:
                await self.duck.write(lambda db: _commit(db, fresh, through, marks))
        self.committed, self._marks = through, marks
        if any(isinstance(event, RecordSkipped) for _, event in fresh):
            self.skipped = await self.duck.write(_skipped)
        metrics.COMMITTED.set(through)

    async def idle(self) -> None:
        """Move what was written lately into the file itself."""
        await self.duck.checkpoint()

    async def close(self) -> None:
        await self.duck.close()


def _prepare(db: Connection) -> int:
    if not _is_prepared(db):
        _make(db)
    db.execute(f"insert into {CHECKPOINT} (seq) select 0 where not exists (from {CHECKPOINT})")
    return position(db)


def _is_prepared(db: Connection) -> bool:
    """Whether all is there. What is there is of today's shapes, which the name of the file is made of."""
    there = db.execute(
        "select table_name from duckdb_tables() union all select view_name from duckdb_views()"
    ).fetchall()
    wanted = {CHECKPOINT, *(table.name for table in TABLES.values()), *view_sources()}
    return wanted <= {name for (name,) in there}


def _make(db: Connection) -> None:
    for table in TABLES.values():
        db.execute(table.ddl)
    for name, source in view_sources().items():
        db.execute(source)
        db.execute(f'create or replace view "{name}" as select * from "{name}_at"({LATEST})')
    db.execute(f"create table if not exists {CHECKPOINT} (seq bigint, marks varchar)")


def position(db: Connection) -> int:
    """The position up to which the log is in this database."""
    row = db.execute(f"select max(seq) from {CHECKPOINT}").fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _marks(db: Connection) -> tuple[Mark, ...]:
    """The file's marks; none in a file of an older release."""
    if not db.execute(
        f"select 1 from duckdb_columns() where table_name = '{CHECKPOINT}' and column_name = 'marks'"
    ).fetchone():
        return ()
    row = db.execute(f"select marks from {CHECKPOINT}").fetchone()
    return msgspec.json.decode(row[0], type=tuple[Mark, ...]) if row and row[0] else ()


def _newest(db: Connection) -> tuple[Mark, ...]:
    """The newest fact in the tables: all that a file of an older release is compared by."""
    tables = db.execute(
        f"select table_name from duckdb_tables() where table_name not in ('{CHECKPOINT}', '{SKIPPED}')"
    ).fetchall()
    each = (f'select max(seq) as seq, arg_max(id, seq) as id from "{name}"' for (name,) in tables)
    row = db.execute(f"select max(seq), arg_max(id, seq) from ({' union all '.join(each)})").fetchone()
    return (Mark(*row),) if row and row[0] is not None else ()


def _skipped(db: Connection) -> SkippedRecords:
    """The records that were skipped; none in a file of an older release, which did not count them."""
    if not db.execute(f"select 1 from duckdb_tables() where table_name = '{SKIPPED}'").fetchone():
        return SkippedRecords()
    newest = db.execute(
        f'select seq, subject, reason from "{SKIPPED}" order by seq desc limit {NEWEST_SKIPPED}'
    ).fetchall()
    (count,) = db.execute(f'select count(*) from "{SKIPPED}"').fetchone() or (0,)
    return SkippedRecords(int(count), tuple(SkippedRecord(*row) for row in newest))


def _commit(db: Connection, facts: Sequence[Fact], through: int, marks: Sequence[Mark]) -> None:
    by_type: dict[str, list[Fact]] = defaultdict(list)
    for envelope, event in facts:
        by_type[event.TYPE].append((envelope, event))
    for event_type, rows in by_type.items():
        table = TABLES[event_type]
        insert(db, table.name, table.all_columns, columns_of(table, rows))
    db.execute(f"update {CHECKPOINT} set seq = ?, marks = ?", [through, msgspec.json.encode(marks).decode()])
