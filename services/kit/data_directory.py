"""The data directory: what its name may be, and where in it rooms find what others have made.

It is handed to libraries that have no way to spell some characters: DuckDB reads a
backslash as a slash and a question mark as the end of a path, LanceDB takes no control characters, and neither takes
bytes that are no UTF-8. All else that a system allows in a name works.
"""

import re
from pathlib import Path

from schemas.subjects import token

_UNUSABLE = re.compile(r"[\\?\x00-\x1f\x7f\ud800-\udfff]")
_NAMES = {"\\": "a backslash", "?": "a question mark", "\n": "a line break", "\t": "a tab"}
MIRRORS = "mirrors"
"""The folder of mirrors, below the data directory."""
COPY_TABLE = "copied"
"""The table of the copy of the views that has one row: `as_of`, the position of the log that it shows, and
`copied_at`, when that was, in UTC."""


class Unusable(OSError):
    """No data can be stored below a directory of this name; says which one to name instead."""


def refuse_unusable(data: Path) -> None:
    """Raise `Unusable` where the name of the data directory, or of one above it, has what cannot be spelled."""
    path = str(data.resolve())
    found = _UNUSABLE.search(path)
    if found is None:
        return
    character = found[0]
    name = _NAMES.get(character) or ("a control character" if character < "\x80" else "a byte that is no UTF-8")
    raise Unusable(
        f"the data directory {path!a} has {name} in its name, and what stores the views or the index of search cannot "
        "open files below such a name; set ANNALS_DATA to a directory without it, such as /var/tmp/annals-data"
    )


def mirror_in(folder: Path, project: str) -> Path:
    """The bare repository that mirrors the remote of a project. The commit indexer makes it, others read it."""
    return folder / f"{token(project)}.git"


def views_copy(data: Path) -> Path:
    """The copy of the views that the responder leaves for others, a whole DuckDB file.

    A newer one takes its place at once.
    """
    return data / "views" / "copy.duckdb"
