"""Files of our own: written whole or not at all, for their owner alone, and never where a link of somebody's leads."""

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

OWNERS = 0o600
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
"""No link, and no pipe for whose other end somebody waits."""
SPOILT = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of reading a file of JSON that is not as it was written, such as after a power cut."""


class ForeignFile(OSError):
    """A file of ours was replaced by one that we did not make; the message names a remedy."""


def open_own(path: Path, flags: int = os.O_WRONLY | os.O_APPEND) -> int:
    """A descriptor of a file that is written piece by piece, which is made where it is missing.

    One that others may read or write is corrected. Raises `ForeignFile` for a link, another user's file, or what is no
    file at all.
    """
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, OWNERS)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.EISDIR}:
            raise ForeignFile(_foreign(path, "a link, a folder or a pipe")) from error
        raise
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(descriptor)
        raise ForeignFile(_foreign(path, "another user's, or no file"))
    if stat.S_IMODE(found.st_mode) != OWNERS:
        os.fchmod(descriptor, OWNERS)
    return descriptor


def _foreign(path: Path, what: str) -> str:
    return f"nothing is written to {str(path)!a}, as it is {what}: see who put it there, remove it, and try again"


def open_within(root: Path, parts: Sequence[str]) -> int:
    """A descriptor of a file below a folder, for reading: opened part by part of its path, of which none is a link.

    Raises `OSError`; `NotADirectoryError` or `ELOOP` where a part is a link. What is opened may be no regular file.
    """
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        try:
            inner = os.open(part, _READ, dir_fd=at)
        finally:
            os.close(at)
        at = inner
    return at


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
        descriptor = os.open(
            draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666 if mode is None else mode
        )
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
