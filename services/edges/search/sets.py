"""Sets of documents and questions, as `annals bench search` reads them."""

import gzip
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from services.domain.misread import misread

ENDINGS = (".json", ".json.gz")


class UnreadableSet(ValueError):
    """A file is no such set; says what is wrong with it."""


class Doc(msgspec.Struct, frozen=True):
    """A document: with `files` a commit, otherwise a message."""

    id: str
    text: str
    time: str | int | float | None = None
    group: str | None = None
    """Its session."""
    role: str | None = None
    files: tuple[str, ...] | None = None


class SetQuestion(msgspec.Struct, frozen=True):
    """A question. Nothing but its words is asked."""

    id: str
    query: str


class Set(msgspec.Struct, frozen=True):
    """One file."""

    task: str
    docs: tuple[Doc, ...]
    queries: tuple[SetQuestion, ...]


def read_sets(paths: Iterable[Path]) -> list[Set]:
    """The sets of these files, and of all files in these folders. Raises `UnreadableSet`."""
    return [_read(path) for path in files(paths)]


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files that are named, and all that the folders hold. Raises `UnreadableSet`."""
    for path in paths:
        if path.is_dir():
            found = sorted(one for one in path.rglob("*") if one.name.endswith(ENDINGS) and one.is_file())
            if not found:
                raise UnreadableSet(f"{path} holds no file that ends with {' or '.join(ENDINGS)}")
            yield from found
        else:
            yield path


def _read(path: Path) -> Set:
    try:
        raw = path.read_bytes()
        data = gzip.decompress(raw) if path.name.endswith(".gz") else raw
        return msgspec.json.decode(data, type=Set)
    except (OSError, EOFError, ValueError, RecursionError) as error:
        why = (error.strerror or "it is damaged") if isinstance(error, OSError) else misread(error)
        raise UnreadableSet(
            f"{path} cannot be read as a set of documents and questions: {why}; name another"
        ) from error


FORMS = (
    "%Y/%m/%d (%a) %H:%M", "%I:%M %p on %d %B, %Y", "%B-%d-%Y", "%Y-%m-%d", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y",
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
)  # fmt: skip


def moment(time: str | float | None) -> datetime | None:
    """When a document was written, if that can be read."""
    if isinstance(time, int | float):
        seconds = time / 1000 if time > MILLISECONDS else time
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    for read_one in (datetime.fromisoformat, *(_form(form) for form in FORMS)):
        try:
            found = read_one(time or "")
        except ValueError:
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


MILLISECONDS = 100_000_000_000
"""A number from which on a time is in milliseconds."""


def _form(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
