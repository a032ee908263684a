"""The data directory, as its name must be: it is handed to libraries that have no way to spell some characters.

DuckDB reads a backslash as a slash and a question mark as the end of a path, LanceDB takes no control characters, and
neither takes bytes that are no UTF-8. All else that a system allows in a name works.
"""

import re
from pathlib import Path

_UNUSABLE = re.compile(r"[\\?\x00-\x1f\x7f\ud800-\udfff]")
_NAMES = {"\\": "a backslash", "?": "a question mark", "\n": "a line break", "\t": "a tab"}


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
