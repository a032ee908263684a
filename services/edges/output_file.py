"""A file that a command is to leave: looked at before the work begins, not when it is done."""

import os
from collections.abc import Sequence
from pathlib import Path


class UnwritableFile(ValueError):
    """A file cannot be left there; says what to name instead."""


def check_writable(path: Path, endings: Sequence[str] = ()) -> None:
    """Raise `UnwritableFile` where no file can be written at this path, or its name has none of these endings."""
    name = str(path)[:MOST_QUOTED]
    try:
        is_there, is_folder, has_folder = path.exists(), path.is_dir(), path.parent.is_dir()
    except (OSError, ValueError):
        raise UnwritableFile(f"{name!a} is no name of a file here: name another") from None
    if "\0" in str(path):
        raise UnwritableFile(f"{name!a} is no name of a file here: name another")
    if is_folder:
        raise UnwritableFile(f"{name} is a directory: name a file in it")
    if path.is_symlink() and not is_there:
        raise UnwritableFile(f"{name} is a link that leads nowhere: name another file")
    if not has_folder:
        raise UnwritableFile(f"there is no directory {str(path.parent)[:MOST_QUOTED]}: make it, or name another file")
    if not os.access(path if is_there else path.parent, os.W_OK):
        raise UnwritableFile(f"{name} may not be written: name another file")
    if endings and path.suffix not in endings:
        raise UnwritableFile(f"{name} does not end with {' or '.join(endings)}: name a file that does")
    try:
        os.fsencode(path)
    except UnicodeError:
        raise UnwritableFile(f"{name!a} is no name of a file here: name another") from None


MOST_QUOTED = 200
"""Characters of a path that are repeated."""
