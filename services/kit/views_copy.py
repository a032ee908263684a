"""The copy of the views that the responder leaves for others: where it is, and what it says of itself."""

from pathlib import Path

TABLE = "copied"
"""One row of the copy: `as_of`, the position of the log that it shows, and `copied_at`, when that was, in UTC."""


def views_copy(data: Path) -> Path:
    """The copy in this data directory, a whole DuckDB file. A newer one takes its place at once."""
    return data / "views" / "copy.duckdb"
