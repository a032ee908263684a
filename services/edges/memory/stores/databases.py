"""SQLite databases of other tools. A copy is read, so that theirs stays as it is, whoever has it open."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from services.edges.memory.stores.files import opened
from services.edges.memory.stores.observations import BESIDES, of_sessions, statements, tool_of
from services.edges.memory.stores.statement import READABLE, StoreContents, UnreadableStore

MAGIC = b"SQLite format 3\x00"
MOST_BYTES = 1 << 30
"""Of a database with its log."""
MOST_TEXT = 1 << 24
"""Bytes of one value in it."""
TRIES = 3
"""Copies that are begun, where the database is written meanwhile."""
_PARTS = ("", "-wal", "-journal")
"""The endings of a database's files: itself, its log, and its journal."""


def read(path: Path, project: str) -> StoreContents:
    """The statements of a database about a project. Raises `UnreadableStore`."""
    with TemporaryDirectory(prefix="annals-import-") as folder:
        copy = Path(folder) / "store.db"
        _copied(path, copy)
        try:
            with closing(sqlite3.connect(copy)) as store:
                return _contents(store, path, project)
        except sqlite3.Error as error:
            raise UnreadableStore(
                f"{path} is a damaged SQLite database ({error}): have its own tool, or `sqlite3 {path.name} .recover`, "
                "repair it"
            ) from error


def _contents(store: sqlite3.Connection, path: Path, project: str) -> StoreContents:
    store.row_factory = sqlite3.Row
    store.text_factory = lambda data: data.decode(errors="replace")
    store.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_TEXT)
    store.execute("PRAGMA trusted_schema = OFF")
    store.execute("PRAGMA query_only = ON")
    tables = {name for (name,) in store.execute(_TABLES)}
    columns = store.execute("PRAGMA table_info(observations)") if "observations" in tables else ()
    tool = tool_of(row["name"] for row in columns)
    if not tool:
        raise UnreadableStore(f"{path} is a SQLite database of no tool that is known; what can be read: {READABLE}")
    found = statements(tool, _rows(store, "observations"), project)
    others = {name: _rows(store, name) for name in BESIDES if name in tables}
    return StoreContents(tool, (*found, *of_sessions(others, project)))


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
"""Real ones alone: reading a view runs what somebody else has written."""


def _rows(store: sqlite3.Connection, table: str) -> Iterator[dict[str, object]]:
    for row in store.execute(f"SELECT * FROM {table} ORDER BY rowid"):
        yield dict(zip(row.keys(), row, strict=True))


def _copied(path: Path, copy: Path) -> None:
    """Copy a database as it is at one moment. Raises `UnreadableStore`."""
    for _ in range(TRIES):
        before = _stamps(path)
        for part in _PARTS:
            target = copy.with_name(copy.name + part)
            target.unlink(missing_ok=True)
            if part and before[part] is None:
                continue
            original = path.with_name(path.name + part)
            with suppress(FileNotFoundError), opened(original, MOST_BYTES) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
        if before == _stamps(path):
            return
    raise UnreadableStore(f"{path} is being written all the time: stop its tool, and import it then")


def _stamps(path: Path) -> dict[str, tuple[int, int, int] | None]:
    """The state of the parts of a database, by which a later one is seen to differ; None: there is no such part."""
    found: dict[str, tuple[int, int, int] | None] = {}
    for part in _PARTS:
        try:
            state = os.lstat(path.with_name(path.name + part))
        except FileNotFoundError:
            found[part] = None
        else:
            found[part] = (state.st_mtime_ns, state.st_size, state.st_ino)
    return found
