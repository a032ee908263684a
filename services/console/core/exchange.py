"""The messages between the console and the process of one query."""

from datetime import datetime

import msgspec

OUT_OF_MEMORY = 3
"""The exit status where not even a sentence could be written."""


class SqlQuery(msgspec.Struct, frozen=True):
    """The query for this process."""

    copy: str
    """The file that is read."""
    sql: str
    max_rows: int
    seconds: float
    memory: int
    """MiB of memory beyond what DuckDB needs to open the file."""
    room: int
    """Bytes of one page."""
    bytes: int
    """Bytes of all pages."""
    descriptor: int = 0
    """The open file that pages are written to, one behind the other."""


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a query."""

    columns: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    """Bytes of each page."""
    truncated: bool = False
    """There were more rows, or more bytes."""
    as_of: int = 0
    at: datetime | None = None
    error: str = ""


def too_large(memory: int) -> str:
    """The reason why a query was ended that needed more memory than it may have."""
    return f"the query needs more than the {memory} MiB of memory that it may have; ask for less"
