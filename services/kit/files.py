"""Files that are written whole or not at all: whoever reads one never sees half of it."""

import os
import stat
from pathlib import Path


def write_whole(path: Path, data: bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Put these bytes in the place of the file, whose folder is made where it is missing.

    `mode` is the permissions of the file; without it, those that it had, or what the process gives to new files. With
    `durable` the bytes are on the disk before they take the place of the old ones, which a power cut then leaves whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    if mode is None and path.exists():
        mode = stat.S_IMODE(path.stat().st_mode)
    try:
        draft.unlink(missing_ok=True)  # what a killed process left has the permissions of that time
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666 if mode is None else mode)
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)  # as asked for, whatever this process takes from new files
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
