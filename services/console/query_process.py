"""One query, in this process alone: `python -m services.console.query_process` reads it, answers it, and ends.

The process is bounded by its system and not by DuckDB, whose functions take memory and time that it does not count.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from services.console.core.exchange import OUT_OF_MEMORY, Outcome, SqlQuery, too_large
from services.console.core.values import ColumnShape, RowTooLarge, pages, shape
from services.kit.data_directory import COPY_TABLE
from services.kit.duck import BadQuery, Connection, DuckError, SelectedRows, open_to_read, select

MIB = 1024 * 1024
LATE = 1.0
"""Seconds after its deadline at which this process ends itself, where nobody is left who would end it."""
LONGEST = 2000
"""Characters of a sentence: errors quote values, and those may be of any size."""
ESCAPED = 8
"""Bytes that a character of it may take in a reply."""
NICE = 10
"""Those who answer agents go first."""


class WrittenPages(NamedTuple):
    """The pages of rows that were written."""

    sizes: tuple[int, ...]
    is_whole: bool


def answer(query: SqlQuery, sink: BinaryIO, bound: Callable[[], None]) -> Outcome:
    """Answer a query from the copy of the views, whose rows go to the sink. `bound` is called before it runs."""
    outcome = Outcome()
    try:
        db = open_to_read(Path(query.copy), memory_limit=f"{query.memory * 3 // 4}MiB")
        as_of, at = _of_the_copy(db)
        outcome = Outcome(as_of=as_of, at=at)
        bound()
        found = select(db, query.sql)
        written = _write(query, found, sink)
    except (BadQuery, RowTooLarge) as error:
        reason = str(error)
    except DuckError as error:
        reason = too_large(query.memory) if str(error).startswith("Out of Memory") else str(error)
    except OSError as error:
        reason = f"the rows could not be written down ({error})"
    except RecursionError:
        reason = "the values are nested too deeply; ask for a part of them"
    else:
        return msgspec.structs.replace(
            outcome, columns=found.columns, sizes=written.sizes, truncated=not written.is_whole
        )
    return msgspec.structs.replace(outcome, error=sentence(reason, min(LONGEST, query.room // ESCAPED)))


def sentence(reason: str, longest: int) -> str:
    """A reason without what it says of this program, and without the most of a value that it quotes."""
    text = reason.partition("\nTraceback")[0].strip()
    return text if len(text) <= longest else f"{text[:longest]} ..."


def _of_the_copy(db: Connection) -> tuple[int, datetime]:
    """The position that the copy shows, and when it was made."""
    as_of, at = db.execute(f"select as_of, copied_at from {COPY_TABLE}").fetchone() or (0, datetime.now(UTC))
    return int(as_of), at.replace(tzinfo=UTC)


def _write(query: SqlQuery, found: SelectedRows, sink: BinaryIO) -> WrittenPages:
    shapes = [shape(kind) for kind in found.kinds]
    expressions = [_expression(*one) for one in enumerate(zip(found.kinds, shapes, strict=True), 1)]
    names = len(msgspec.json.encode(found.columns))
    if names > query.room // 2:
        raise BadQuery("the names of the columns fill the whole answer; give them shorter ones with `as`")
    rows = found.rows(expressions, query.max_rows + 1)
    written = (tuple(map(_encoded, row, shapes)) for row in rows[: query.max_rows])
    sizes: list[int] = []
    for page in pages(written, query.room - names):
        if sizes and sum(sizes) + len(page) > query.bytes:
            return WrittenPages(tuple(sizes), is_whole=False)
        sink.write(page)
        sizes.append(len(page))
    sink.flush()
    return WrittenPages(tuple(sizes), is_whole=len(rows) <= query.max_rows)


def _expression(number: int, column: tuple[object, ColumnShape]) -> str:
    kind, wanted = column
    return f"#{number}" if wanted.sql == str(kind) else f"cast(#{number} as {wanted.sql})"


def _encoded(value: object, wanted: ColumnShape) -> object:
    return value if wanted.encode is None else wanted.encode(value)


def _limit_memory(mebibytes: int) -> None:
    """Let this process take so much more than it has. What is beyond fails, whichever function asks for it."""
    if sys.platform != "linux":
        return  # other systems do not heed this limit, and DuckDB's own is all there is
    pages_taken = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages_taken * resource.getpagesize() + mebibytes * MIB
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    query = msgspec.json.decode(sys.stdin.buffer.read(), type=SqlQuery)
    signal.setitimer(signal.ITIMER_REAL, query.seconds + LATE)  # which ends a process that says nothing else
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (query.bytes + MIB, query.bytes + MIB))
    try:
        with os.fdopen(query.descriptor, "wb") as sink:
            outcome = answer(query, sink, lambda: _limit_memory(query.memory))
        sys.stdout.buffer.write(msgspec.json.encode(outcome))
        sys.stdout.buffer.flush()
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    os._exit(0)  # to take the library apart takes longer than the answer did


if __name__ == "__main__":
    main()
