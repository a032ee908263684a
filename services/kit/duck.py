"""The door to DuckDB: one file, one thread that writes, a few cursors that read."""

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NamedTuple, TypeVar

import duckdb

from services.kit.surroundings import MAKE_ROOM, explained_by

T = TypeVar("T")

Connection = duckdb.DuckDBPyConnection
DuckError = duckdb.Error
DuckBusy = duckdb.TransactionException

READERS = 4
CHUNK = 1024 * 1024
INTERRUPT_INTERVAL = 0.05
"""Seconds until a query is interrupted again: where it still waited for a reader, it did not hear the first time."""
THREADS = 2
SETTINGS = ("set checkpoint_threshold = '1GB'", f"set threads = {THREADS}", "set timezone = 'UTC'")
GUARDS = (
    "set enable_external_access = false",
    "set python_enable_replacements = false",
    "set lock_configuration = true",
)
"""Queries come from outside: no files, no variables of this process, no way to change that."""
DAMAGE = ("orrupt", "not a valid DuckDB database", "Could not read enough bytes", "version number")
"""The words in which the library complains of a file that is damaged, or that another version of it wrote."""
DAMAGED = (duckdb.Error, duckdb.IOException, duckdb.SerializationException)
"""The errors that say so, themselves and not those below them: a query may fail with any words of its own."""
FATAL = (duckdb.FatalException, duckdb.InternalException)
NO_ROOM = "Could not write"
BEING_MENDED = "the views are being opened again after a fault; ask again in a moment"


class BadQuery(ValueError):
    """A query that was not answered; says why."""


class QueryResult(NamedTuple):
    """Rows with their column names; `truncated` if there were more."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool


def is_corrupt(error: DuckError) -> bool:
    """Whether it says that the file itself is damaged: to open it again would not help."""
    says_so = type(error) in (*DAMAGED, *FATAL) and any(sign in str(error) for sign in DAMAGE)
    return says_so and NO_ROOM not in str(error)


def is_fatal(error: DuckError) -> bool:
    """Whether nothing can be done with the open file after this."""
    return is_corrupt(error) or isinstance(error, FATAL)


@explained_by
def _without_room(error: BaseException) -> str:
    """Whether the library could not write. Its words about a query may be any, and are not looked at."""
    is_about_files = isinstance(error, (duckdb.IOException, duckdb.TransactionException, *FATAL))
    return MAKE_ROOM if is_about_files and NO_ROOM in str(error) else ""


class Duck:
    """An open database file. Only one process can have it."""

    def __init__(self, path: Path, *, memory_limit: str) -> None:
        self.path = path
        self.broken = asyncio.Event()
        """Set when nothing can be done with the open file any more."""
        self.corrupt = False
        """Whether it broke because the file is damaged."""
        self._db = duckdb.connect(str(path))
        try:
            for setting in (f"set memory_limit = '{memory_limit}'", *SETTINGS, *GUARDS):
                self._db.execute(setting)
        except BaseException:
            self._db.close()
            raise
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="duck-writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="duck-reader")
        self._source: BinaryIO | None = None
        """The file as `copy` reads it. It stays open: to close it would give up the lock that DuckDB has on it."""

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run on the writing thread, in one transaction."""

        def transaction() -> T:
            self._db.execute("begin")
            try:
                result = work(self._db)
            except BaseException:
                with contextlib.suppress(duckdb.Error):  # what is broken has nothing to take back, and says so
                    self._db.execute("rollback")
                raise
            self._db.execute("commit")
            return result

        return await self._written(transaction)

    async def checkpoint(self) -> None:
        """Move what is in the write-ahead log into the file."""
        await self._written(self._checkpoint)

    async def copy(self, target: Path) -> None:
        """Copy the database as it is between two transactions. Only writers wait for that; readers go on."""
        await self._written(lambda: self._copy(target))

    def _copy(self, target: Path) -> None:
        self._checkpoint()
        if self._source is None:
            self._source = self.path.open("rb")
        self._source.seek(0)
        with target.open("wb") as copied:
            shutil.copyfileobj(self._source, copied, CHUNK)
        log, copied_log = write_ahead_log(self.path), write_ahead_log(target)
        copied_log.unlink(missing_ok=True)
        if log.exists():  # a query was in the way of the checkpoint
            shutil.copyfile(log, copied_log)

    async def _written(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._writer, work)
        except duckdb.Error as error:
            self._heed(error)
            raise

    def _heed(self, error: duckdb.Error) -> None:
        if is_fatal(error):
            self.corrupt = self.corrupt or is_corrupt(error)
            self.broken.set()

    def _checkpoint(self) -> None:
        try:
            self._db.execute("checkpoint")
        except duckdb.TransactionException:
            return  # someone reads right now: the next idle time will do

    async def query(self, sql: str, parameters: Sequence[object] = (), *, max_rows: int, timeout: float) -> QueryResult:  # noqa: ASYNC109 - it interrupts the query, not the wait
        """Answer one SELECT, without any way to change anything. Raises `BadQuery`."""
        if self.broken.is_set():
            raise BadQuery(BEING_MENDED)
        loop = asyncio.get_running_loop()
        cursor = self._db.cursor()
        alarm = asyncio.create_task(_interrupt(cursor, timeout))
        try:
            return await loop.run_in_executor(self._readers, _select, cursor, sql, parameters, max_rows)
        except duckdb.InterruptException as error:
            raise BadQuery(f"the query took longer than {timeout} s; ask for less") from error
        except duckdb.Error as error:
            self._heed(error)
            raise BadQuery(str(error)) from error
        finally:
            alarm.cancel()
            cursor.close()

    async def close(self) -> None:
        """Close the file, whatever state it is in: what is only in its write-ahead log is read at the next opening."""
        try:
            await self.checkpoint()
        except duckdb.Error as error:
            from services.kit.logs import logger  # noqa: PLC0415 - it takes half of the time that a query needs to start

            logger().warning("the views were closed without a checkpoint", file=self.path.name, reason=str(error))
        self._writer.shutdown()
        self._readers.shutdown()
        self._db.close()
        if self._source is not None:
            self._source.close()


def write_ahead_log(path: Path) -> Path:
    """The file with a database's changes that are not in the database itself yet."""
    return path.with_name(f"{path.name}.wal")


def change_alone(path: Path, work: Callable[[Connection], T], *, memory_limit: str) -> T:
    """Change a database that nobody else has open, and leave all of it in its one file."""
    db = duckdb.connect(str(path), config={"memory_limit": memory_limit, "threads": 1})
    try:
        result = work(db)
        db.execute("checkpoint")
    finally:
        db.close()
    return result


async def _interrupt(cursor: duckdb.DuckDBPyConnection, after: float) -> None:
    await asyncio.sleep(after)
    while True:
        cursor.interrupt()
        await asyncio.sleep(INTERRUPT_INTERVAL)


def _select(cursor: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object], max_rows: int) -> QueryResult:
    _refuse_all_but_select(cursor, sql)
    cursor.execute("begin transaction read only")
    try:
        cursor.execute(sql, list(parameters))
        columns = tuple(column[0] for column in cursor.description or ())
        rows = cursor.fetchmany(max_rows + 1)
    finally:
        cursor.execute("rollback")
    return QueryResult(columns, tuple(rows[:max_rows]), truncated=len(rows) > max_rows)


def _refuse_all_but_select(db: Connection, sql: str) -> None:
    statements = db.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise BadQuery("only one SELECT is answered; `select table_name from duckdb_tables()` lists what there is")


ARROW_TYPES = {
    "VARCHAR": "string",
    "BIGINT": "int64",
    "DOUBLE": "float64",
    "BOOLEAN": "bool",
    "TIMESTAMP": "timestamp[us]",
}


def insert(
    db: Connection, table: str, shape: Sequence[tuple[str, str]], columns: Mapping[str, Sequence[object]]
) -> None:
    """Append rows, given as columns. `shape` is the table's: names and SQL types in their order."""
    arrow = import_module("pyarrow")
    rows = arrow.table({name: arrow.array(columns[name], _arrow_type(arrow, kind)) for name, kind in shape})
    db.register("rows_to_insert", rows)
    try:
        db.execute(f'insert into "{table}" select * from rows_to_insert')
    finally:
        db.unregister("rows_to_insert")


def _arrow_type(arrow: ModuleType, kind: str) -> object:
    if kind.endswith("[]"):
        return arrow.list_(_arrow_type(arrow, kind[:-2]))
    return arrow.type_for_alias(ARROW_TYPES[kind])


class SelectedRows(NamedTuple):
    """The result of a query: the names and types of its columns, and its rows as they are asked for."""

    columns: tuple[str, ...]
    kinds: tuple[Any, ...]
    rows: Callable[[Sequence[str], int], list[tuple[object, ...]]]
    """At most so many rows, with these expressions over the columns, `#1` to `#n`, in place of the columns."""


def open_to_read(path: Path, *, memory_limit: str) -> Connection:
    """Open a database that nobody writes, for one query from outside: what it cannot hold in memory, it cannot ask."""
    db = duckdb.connect(str(path), read_only=True, config={"threads": THREADS})
    for setting in (f"set memory_limit = '{memory_limit}'", "set temp_directory = ''", *SETTINGS, *GUARDS):
        db.execute(setting)
    return db


def select(db: Connection, sql: str) -> SelectedRows:
    """Prepare one SELECT from outside. Raises `BadQuery`, and `DuckError` with the reason in the library's words."""
    _refuse_all_but_select(db, sql)
    db.execute("begin transaction read only")
    found: Any = db.sql(sql)  # the library does not describe the methods of a relation

    def rows(expressions: Sequence[str], limit: int) -> list[tuple[object, ...]]:
        asked: list[tuple[object, ...]] = found.limit(limit).select(", ".join(expressions)).fetchall()
        return asked

    return SelectedRows(tuple(found.columns), tuple(found.types), rows)
