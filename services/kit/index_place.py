"""The place of indexes on the disk, and the files about them next to their tables.

`index/<set>/` holds the tables of one model, and `position.json` how far the log is in them. `index/current.json` names
the set that is searched. A set is never changed into another: a new one is built next to it.
"""

from pathlib import Path
from typing import TypeVar

import msgspec

from services.domain.search.rows import RULES
from services.kit.files import SPOILT, write_whole
from services.kit.same_log import Mark

FOLDER, CURRENT, POSITION = "index", "current.json", "position.json"
WORDS = "words"
"""The set where no model makes vectors."""


T = TypeVar("T")


class Current(msgspec.Struct, frozen=True):
    """The set that is searched."""

    set: str
    model: str = ""
    """The model of its vectors; empty: it has none."""
    dimensions: int = 0


class Position(msgspec.Struct, frozen=True):
    """The position of the log in a set, and which of its tables are at it."""

    through: int = 0
    tables: dict[str, str] = {}
    """By kind, the name of its table: one that was copied anew has another."""
    versions: dict[str, int] = {}
    """By kind, the version of its table: one that is older was put back, and lacks rows."""
    removed: dict[str, int] = {}
    """By kind, how many rows were taken away since the table was copied: their bytes may still be on the disk."""
    dimensions: int = 0
    """Of the set's vectors; 0: it has none."""
    newest: Mark = Mark()
    """The newest fact, as an older release has written it: it had no marks."""
    marks: tuple[Mark, ...] = ()
    """By which the log that it was made from is known again."""


def set_name(model: str = "") -> str:
    """The set that is made now: of a model, or of words alone, and of today's rules by which texts become rows."""
    return f"{model or WORDS}-{RULES}"


def folder_of(data: Path) -> Path:
    return data / FOLDER


def read_current(data: Path) -> Current | None:
    """The set that is searched; none: there is none yet."""
    return _read(folder_of(data) / CURRENT, Current)


def write_current(data: Path, current: Current) -> None:
    write_whole(folder_of(data) / CURRENT, msgspec.json.encode(current), mode=0o600, durable=True)


def read_position(folder: Path) -> Position:
    """The position up to which a set is written; one whose file cannot be read begins anew."""
    return _read(folder / POSITION, Position) or Position()


def write_position(folder: Path, position: Position) -> None:
    write_whole(folder / POSITION, msgspec.json.encode(position), mode=0o600)


def _read(file: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (FileNotFoundError, *SPOILT):
        return None
