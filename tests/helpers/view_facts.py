"""Facts at positions of a log, a store in memory, and what its views say."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import msgspec

from schemas.codec import wrap
from schemas.envelope import Actor, Envelope
from schemas.events import Event
from schemas.subjects import Address
from services.responder.views.store import Store, view_sources
from services.responder.views.tables import TABLES
from tests.helpers.waiting import PATIENCE

MEMORY = "256MB"
START = datetime(2026, 1, 1, tzinfo=UTC)
VIEWS = tuple(view_sources())

Fact = tuple[Envelope, Event]
Row = dict[str, object]


def fact(seq: int, event: Event, session: str = "s", project: str = "p") -> Fact:
    """An event at a position; each happens a second after the one before."""
    envelope = wrap(
        event,
        Address(project, session),
        id=f"e{seq}",
        at=START + timedelta(seconds=seq),
        actor=Actor("agent", "a"),
        cause="c",
    )
    return msgspec.structs.replace(envelope, seq=seq), event


def numbered(events: Iterable[Event | tuple[str, Event]]) -> list[Fact]:
    """These events as the log's facts 1, 2, ...; a pair names another session than `s`."""
    facts = []
    for seq, event in enumerate(events, 1):
        session, what = event if isinstance(event, tuple) else ("s", event)
        facts.append(fact(seq, what, session))
    return facts


def happened(seq: int) -> datetime:
    """When the fact at this position happened, as a view says it."""
    return (START + timedelta(seconds=seq)).replace(tzinfo=None)


def open_store(path: Path = Path(":memory:")) -> Store:
    return asyncio.run(Store.open(path, memory_limit=MEMORY))


def close(store: Store) -> None:
    asyncio.run(store.close())


def empty(store: Store) -> None:
    """Forget all facts."""

    def work(db: duckdb.DuckDBPyConnection) -> None:
        for table in TABLES.values():
            db.execute(f'delete from "{table.name}"')
        db.execute("update checkpoint_row set seq = 0")

    asyncio.run(store.duck.write(work))
    store.committed = 0


def commit(store: Store, facts: Sequence[Fact], through: int | None = None) -> None:
    asyncio.run(store.commit(facts, facts[-1][0].seq if through is None else through))


def rows(store: Store, sql: str) -> list[Row]:
    answer = asyncio.run(store.duck.query(sql, max_rows=10_000, timeout=PATIENCE))
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def sorted_rows(found: Iterable[Row]) -> list[Row]:
    return sorted(found, key=repr)


def snapshot(store: Store, as_of: int | None = None) -> dict[str, list[Row]]:
    """All rows of all views, now or as of a position."""
    at = {name: name if as_of is None else f"{name}_at({as_of})" for name in VIEWS}
    return {name: sorted_rows(rows(store, f"select * from {at[name]}")) for name in VIEWS}


class Given:
    """A store that holds these facts and no others."""

    def __init__(self, store: Store, *events: Event | tuple[str, Event]) -> None:
        self._store = store
        empty(store)
        if events:
            commit(store, numbered(events))

    def view(self, name: str, as_of: int | None = None) -> "Viewed":
        source = name if as_of is None else f"{name}_at({as_of})"
        return Viewed(rows(self._store, f"select * from {source}"))


class Viewed:
    """The rows of a view."""

    def __init__(self, found: list[Row]) -> None:
        self._found = found

    def is_(self, *expected: Row) -> None:
        """These rows in any order, compared in the columns that are named."""
        columns = list(expected[0]) if expected else []
        found = [{column: row[column] for column in columns} for row in self._found]
        assert sorted_rows(found) == sorted_rows(expected)
