"""Files of other people's programs, written whole or not at all."""

import os
import stat
from pathlib import Path

from services.edges.connect.jsonc import UnreadableConfig
from services.kit.files import write_whole

BACKUP = ".before-annals"


def read(path: Path) -> str | None:
    """The text of a file with its line breaks as they are; None where there is none."""
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise UnreadableConfig("it is not UTF-8") from error
    except OSError as error:
        raise UnreadableConfig(f"it cannot be read ({error.strerror})") from error


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
