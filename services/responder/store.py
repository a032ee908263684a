"""The file of tables and views: named by a fingerprint of their shapes, rebuilt instead of migrated."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from schemas.envelope import Envelope
from schemas.events import Event
from services.kit.duck import Connection, Duck, DuckBusy, insert
from services.kit.retry import patiently
from services.responder.tables import TABLES, columns_of, fingerprint

LATEST = 2**63 - 1
COMMIT_PATIENCE = 10.0
"""Seconds for which a commit that the database could not make just then is tried again."""
PREFIX = "views-"
ORDER = ("plans", "tags")
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


class Store:
    """One file with its position in the log."""

    def __init__(self, duck: Duck) -> None:
        self.duck = duck
        self.committed = 0

    @classmethod
    async def open(cls, path: Path, *, memory_limit: str) -> "Store":
        """Open the file, make what is missing, and find its position."""
        path.parent.mkdir(parents=True, exist_ok=True)
        store = cls(Duck(path, memory_limit=memory_limit))
        store.committed = await store.duck.write(_prepare)
        return store

    @classmethod
    async def open_as_is(cls, path: Path, *, memory_limit: str) -> "Store":
        """Open a file of other shapes to answer from it; nothing of it is changed."""
        store = cls(Duck(path, memory_limit=memory_limit))
        try:
            store.committed = await store.duck.write(_position)
        except BaseException:
            await store.close()
            raise
        return store

    async def commit(self, facts: Sequence[tuple[Envelope, Event]], through: int) -> None:
        """Add facts, in log order, and move the position, in one transaction."""
        if through <= self.committed:
            return
        fresh = [fact for fact in facts if fact[0].seq > self.committed]
        async for attempt in patiently(DuckBusy, seconds=COMMIT_PATIENCE):
            with attempt:
                await self.duck.write(lambda db: _commit(db, fresh, through))
        self.committed = through

    async def close(self) -> None:
        await self.duck.close()


def _prepare(db: Connection) -> int:
    for table in TABLES.values():
        db.execute(table.ddl)
    for name, source in view_sources().items():
        db.execute(source)
        db.execute(f'create or replace view "{name}" as select * from "{name}_at"({LATEST})')
    db.execute("create table if not exists checkpoint_row (seq bigint)")
    db.execute("insert into checkpoint_row select 0 where not exists (from checkpoint_row)")
    return _position(db)


def _position(db: Connection) -> int:
    row = db.execute("select max(seq) from checkpoint_row").fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _commit(db: Connection, facts: Sequence[tuple[Envelope, Event]], through: int) -> None:
    by_type: dict[str, list[tuple[Envelope, Event]]] = defaultdict(list)
    for envelope, event in facts:
        by_type[envelope.type].append((envelope, event))
    for event_type, rows in by_type.items():
        table = TABLES[event_type]
        insert(db, table.name, table.all_columns, columns_of(table, rows))
    db.execute("update checkpoint_row set seq = ?", [through])
