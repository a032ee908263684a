"""Files of other people's programs, written whole or not at all."""

import os
import stat
from pathlib import Path

from services.edges.connect.jsonc import UnreadableConfig
from services.kit.files import write_whole

BACKUP = ".before-annals"


MOST_BYTES = 16 * 1024 * 1024


def read(path: Path) -> str | None:
    """The text of a file with its line breaks as they are; None where there is none. Raises `UnreadableConfig`."""
    data = content(path)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableConfig("it is not UTF-8") from error


def content(path: Path) -> bytes | None:
    """The bytes of a file; None where there is none. Raises `UnreadableConfig`.

    Somebody's repository may have a link there to a device that never ends, or a pipe that nobody writes to.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            data = _whole(descriptor) if is_file else b""
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnreadableConfig(f"it cannot be read ({error.strerror})") from error
    if not is_file:
        raise UnreadableConfig("it is no file")
    if len(data) > MOST_BYTES:
        raise UnreadableConfig(f"it is longer than {MOST_BYTES // 1024**2} MiB")
    return data


def _whole(descriptor: int) -> bytes:
    """All that a file has, as far as it is read."""
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(MOST_BYTES + 1)


def write(path: Path, data: bytes) -> None:
    """Put a whole file in the place of another, under the same mode; behind a link, the file it points to."""
    write_whole(path.resolve(), data, durable=True)


def back_up(path: Path) -> Path | None:
    """Make a copy next to a file, the first time only; where it is if it was made now."""
    copy = _copy_of(path)
    if not path.exists() or copy.exists():
        return None
    mode = stat.S_IMODE(path.stat().st_mode)
    with os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(path.read_bytes())
    return copy


def drop_back_up(path: Path) -> Path | None:
    """Remove the copy where it says the same as the file again; where it is if it must stay."""
    copy = _copy_of(path)
    if not copy.exists():
        return None
    if path.exists() and copy.read_bytes() == path.read_bytes():
        copy.unlink()
        return None
    return copy


def _copy_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)
