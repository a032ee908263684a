"""The door to DuckDB: one file, one thread that writes, a few cursors that read."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa

T = TypeVar("T")

Connection = duckdb.DuckDBPyConnection
DuckError = duckdb.Error
DuckBusy = duckdb.TransactionException

READERS = 4
INSISTENCE = 0.05
"""Seconds until a query is interrupted again: where it still waited for a reader, it did not hear the first time."""
GUARDS = (
    "set enable_external_access = false",
    "set python_enable_replacements = false",
    "set lock_configuration = true",
)
"""Queries come from outside: no files, no variables of this process, no way to change that."""


class BadQuery(ValueError):
    """A query that was not answered; says why."""


class Answer:
    """Rows with their column names; `truncated` if there were more."""

    def __init__(self, columns: Sequence[str], rows: Sequence[tuple[object, ...]], *, truncated: bool) -> None:
        self.columns = tuple(columns)
        self.rows = tuple(rows)
        self.truncated = truncated


class Duck:
    """An open database file. Only one process can have it."""

    def __init__(self, path: Path, *, memory_limit: str) -> None:
        self.path = path
        self._db = duckdb.connect(str(path))
        self._db.execute(f"set memory_limit = '{memory_limit}'")
        self._db.execute("set checkpoint_threshold = '1GB'")
        self._db.execute("set threads = 2")
        self._db.execute("set timezone = 'UTC'")
        for guard in GUARDS:
            self._db.execute(guard)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="duck-writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="duck-reader")

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run on the writing thread, in one transaction."""

        def transaction() -> T:
            self._db.execute("begin")
            try:
                result = work(self._db)
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")
            return result

        return await asyncio.get_running_loop().run_in_executor(self._writer, transaction)

    async def checkpoint(self) -> None:
        """Move what is in the write-ahead log into the file."""
        await asyncio.get_running_loop().run_in_executor(self._writer, self._checkpoint)

    def _checkpoint(self) -> None:
        try:
            self._db.execute("checkpoint")
        except duckdb.TransactionException:
            return  # someone reads right now: the next idle time will do

    async def query(self, sql: str, parameters: Sequence[object] = (), *, max_rows: int, timeout: float) -> Answer:  # noqa: ASYNC109 - it interrupts the query, not the wait
        """Answer one SELECT, without any way to change anything. Raises `BadQuery`."""
        loop = asyncio.get_running_loop()
        cursor = self._db.cursor()
        alarm = asyncio.create_task(_interrupt(cursor, timeout))
        try:
            return await loop.run_in_executor(self._readers, _select, cursor, sql, parameters, max_rows)
        except duckdb.InterruptException as error:
            raise BadQuery(f"the query took longer than {timeout} s; ask for less") from error
        except duckdb.Error as error:
            raise BadQuery(str(error)) from error
        finally:
            alarm.cancel()
            cursor.close()

    async def close(self) -> None:
        await self.checkpoint()
        self._writer.shutdown()
        self._readers.shutdown()
        self._db.close()


async def _interrupt(cursor: duckdb.DuckDBPyConnection, after: float) -> None:
    await asyncio.sleep(after)
    while True:
        cursor.interrupt()
        await asyncio.sleep(INSISTENCE)


def _select(cursor: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object], max_rows: int) -> Answer:
    statements = cursor.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise BadQuery("only one SELECT is answered; `select table_name from duckdb_tables()` lists what there is")
    cursor.execute("begin transaction read only")
    try:
        cursor.execute(sql, list(parameters))
        columns = [column[0] for column in cursor.description or ()]
        rows = cursor.fetchmany(max_rows + 1)
    finally:
        cursor.execute("rollback")
    return Answer(columns, rows[:max_rows], truncated=len(rows) > max_rows)


ARROW_TYPES = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us"),
}


def insert(
    db: Connection, table: str, shape: Sequence[tuple[str, str]], columns: Mapping[str, Sequence[object]]
) -> None:
    """Append rows, given as columns. `shape` is the table's: names and SQL types in their order."""
    rows = pa.table({name: pa.array(columns[name], _arrow_type(kind)) for name, kind in shape})
    db.register("rows_to_insert", rows)
    try:
        db.execute(f'insert into "{table}" select * from rows_to_insert')
    finally:
        db.unregister("rows_to_insert")


def _arrow_type(kind: str) -> pa.DataType:
    return pa.list_(_arrow_type(kind[:-2])) if kind.endswith("[]") else ARROW_TYPES[kind]
