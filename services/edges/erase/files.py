"""The files of an installation on this machine, as far as they may hold what is to be erased."""

import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import msgspec

from schemas.subjects import BadSubject, identifier
from services.domain.erasure.secret import Masks, masked
from services.edges.launcher.run import private
from services.kit.bus import Unreachable
from services.kit.data_directory import MIRRORS, mirror_in
from services.kit.duck import DuckError, open_to_read
from services.kit.files import SPOILT, open_own, write_whole
from services.kit.git import GitFailed, environment, git
from services.kit.index_place import folder_of
from services.kit.vectors import Tables, VectorsError

STORES = ("jetstream", "views", "index", MIRRORS)
"""Folders that are no plain files: each has a way of its own."""
PROGRAMS = ("adapters", "models")
"""Folders with what comes from outside, and contains no text of anybody here."""
SPOOLS = frozenset({".jsonl"})
"""The endings of the names of spools' files."""
RECORDS = "sessions"
"""The folder in which a plugin has a file for each session, named by it."""
LOCK = "erase.lock"
"""The file with the id of a data directory, which only one erasure of it has open."""
PRESERVED_FILE = "log-breaks.json"
PIECE = 1024 * 1024
MEMORY = "512MB"
MOST_QUOTED = 200
"""Characters of a path that are repeated."""
AT_ONCE = 256
"""Rows that are read together."""


def spools() -> Path:
    """The folder in which the plugins of harnesses on this machine store waiting messages, and their plans."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "annals"


@contextmanager
def only_one(data: Path) -> Iterator[str]:
    """Have what this data directory erases from a team's broker to this process alone, up to the end of the block.

    The id of the directory, by which an erasure that was cut off here is known: who has it works no more. Where another
    process has it, or nothing can be written there, it is an id that nobody had before.
    """
    try:
        private(data)
        descriptor = open_own(data / LOCK, os.O_RDWR)
    except OSError:
        yield str(uuid4())
        return
    with os.fdopen(descriptor, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield str(uuid4())
            return
        name = file.read()
        if not name:
            name = str(uuid4())
            file.write(name)
            file.flush()
        yield name


def plain_files(data: Path) -> Iterator[Path]:
    """Files that are masked in place: spools, plans of plugins, log lines, and what else is no store."""
    yield from (path for path in _files(data) if path.relative_to(data).parts[0] not in {*STORES, *PROGRAMS})
    yield from _files(spools())


def _files(folder: Path) -> Iterator[Path]:
    """Each file below a folder; what a broker deletes meanwhile is passed over."""
    found = (Path(place) / name for place, _, names in _walk(folder) for name in names)
    yield from (path for path in sorted(found) if path.is_file() and not path.is_symlink())


def _walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """All below a folder, as `os.walk` yields it; a folder that a broker deletes meanwhile is passed over.

    Raises `Unreachable` where one cannot be looked into: nobody would know whether something is left there.
    """

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise Unreachable(
                f"{str(error.filename)[:MOST_QUOTED]!a} cannot be looked into ({error.strerror}), so that nobody knows "
                "what is in it: run this as the user who owns it, or take it away from there"
            ) from error

    return os.walk(top, onerror=refuse)


def mask_file(path: Path, masks: Masks) -> None:
    """Mask a file in place, and the name that it has from a session. One that has nothing of it is not written."""
    data = path.read_bytes()
    clean = masked(data, masks)
    if clean != data:
        write_whole(path, clean, durable=True)
    if path.parent.name == RECORDS and (name := os.fsdecode(masked(os.fsencode(path.name), masks))) != path.name:
        path.replace(path.with_name(name))


def files_with(data: Path, masks: Masks) -> list[Path]:
    """Every file below the data directory and of the plugins that holds a spelling of it, in its bytes."""
    found = {path for path in (*_files(data), *_files(spools())) if holds(path, masks)}
    return sorted({*found, *_named(data, masks), *_named(spools(), masks)})


def _named(top: Path, masks: Masks) -> Iterator[Path]:
    """Files and folders below a folder that have it in their names."""
    names = (Path(at) / name for at, folders, files in _walk(top) for name in (*folders, *files))
    return (path for path in names if is_named(path, masks))


def is_named(path: Path, masks: Masks) -> bool:
    """Whether the name of a file has it: as it is, or as the token that is made of a name."""
    written = os.fsencode(path.name)
    try:
        meant = identifier(path.name.partition(".")[0]).encode()
    except BadSubject:
        meant = b""
    return any(one in written or one in meant for one in masks)


def holds(path: Path, masks: Masks) -> bool:
    """Whether a spelling is in the bytes of a file, or in its name."""
    if not masks:
        return False
    if is_named(path, masks):
        return True
    overlap, tail = max(map(len, masks)) - 1, b""
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                if any(one in tail + piece for one in masks):
                    return True
                tail = (tail + piece)[-overlap:]
    except FileNotFoundError:
        return False
    return False


def has_lines_of(path: Path, is_meant: Callable[[str], bool]) -> bool:
    """Whether a spool holds a message on a subject that is meant."""
    return path.suffix in SPOOLS and _without_lines(path, is_meant) is not None


def drop_lines_of(path: Path, is_meant: Callable[[str], bool]) -> None:
    """Take messages on subjects that are meant out of a spool."""
    left = _without_lines(path, is_meant) if path.suffix in SPOOLS else None
    if left is not None:
        write_whole(path, left, durable=True)


def _without_lines(path: Path, is_meant: Callable[[str], bool]) -> bytes | None:
    """A spool without these messages; none where it holds none of them."""
    lines = path.read_bytes().splitlines(keepends=True)
    left = [line for line in lines if not is_meant(_subject_of(line))]
    return None if len(left) == len(lines) else b"".join(left)


def _subject_of(line: bytes) -> str:
    try:
        return msgspec.json.decode(line, type=_SpooledMessage).subject
    except SPOILT:
        return ""


class _SpooledMessage(msgspec.Struct):
    """The part of a line of a spool that is read."""

    subject: str = ""


def rows_of_views(data: Path, masks: Masks) -> int:
    """Rows of all tables of all views that have it, as DuckDB reads them; a file that it cannot read counts."""
    return sum(_rows_of_file(path, masks) for path in sorted((data / "views").glob("*.duckdb*")) if _is_database(path))


def _is_database(path: Path) -> bool:
    return path.is_file() and not path.name.endswith(".wal")


def _rows_of_file(path: Path, masks: Masks) -> int:
    needles, found = _texts(masks), 0
    try:
        with closing(open_to_read(path, memory_limit=MEMORY)) as db:
            for name, columns in db.execute(_COLUMNS).fetchall():
                asked = db.execute(f"select {columns} from {name}")
                while rows := asked.fetchmany(AT_ONCE):
                    found += sum(any(one in _joined(row) for one in needles) for row in rows)
    except DuckError:
        return found + 1
    return found


_COLUMNS = """
select format('"{}"."{}"', schema_name, table_name), string_agg(format('"{}"', column_name), ', ')
from duckdb_columns() where not internal and (data_type like '%VARCHAR%' or data_type like '%JSON%') group by all
"""
"""Each table, with its columns that hold texts."""


def _joined(value: object) -> str:
    """All texts of a value, one for each line."""
    if isinstance(value, dict):
        return _joined([*value, *value.values()])
    return "\n".join(map(_joined, value)) if isinstance(value, list | tuple) else str(value)


def _texts(masks: Masks) -> list[str]:
    return [spelling.decode() for spelling in masks]


async def rows_of_index(data: Path, masks: Masks) -> int:
    """Rows of all versions of all tables of all indexes that have it, as LanceDB reads them."""
    folder = folder_of(data)
    found = 0
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir():
            found += await _rows_of_set(path, _texts(masks))
    return found


async def _rows_of_set(folder: Path, needles: Sequence[str]) -> int:
    """A set that cannot be read counts as one row."""
    try:
        tables = await Tables.open(folder)
        with closing(tables):
            return sum([await (await tables.table(name)).rows_with(needles) for name in await tables.names()])
    except VectorsError:
        return 1


def drop_made_of_log(data: Path) -> None:
    """Delete views and index, since deleted rows are still in their files. Rooms make both anew from the log."""
    shutil.rmtree(folder_of(data), ignore_errors=True)
    for path in (data / "views").glob("*"):
        if path.name != PRESERVED_FILE:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


async def mirrors_with(data: Path, masks: Masks) -> list[Path]:
    """Mirrors of remotes that have it in their names, a commit, a tag or the name of a file.

    One that git cannot read counts.
    """
    return [
        path
        for path in sorted((data / MIRRORS).glob("*.git"))
        if is_named(path, masks) or await _is_in_history(path, masks)
    ]


async def _is_in_history(mirror: Path, masks: Masks) -> bool:
    try:
        surroundings = environment(os.environ)
        # all objects, also those that no branch has
        content = await git(mirror, surroundings, "cat-file", "--batch-all-objects", "--batch")
        content += await git(mirror, surroundings, "for-each-ref", "--format=%(refname)")
    except GitFailed:
        return True
    return masked(content, masks) != content


def mirrors_of(data: Path, projects: Collection[str]) -> list[Path]:
    """The mirrors of these projects."""
    places = (mirror_in(data / MIRRORS, project) for project in sorted(projects))
    return [place for place in places if place.exists()]


def links(data: Path) -> list[Path]:
    """Links below the data directory and of the plugins: what they lead to is neither read nor changed."""
    found = (
        Path(at) / one for top in (data, spools()) for at, folders, names in _walk(top) for one in (*folders, *names)
    )
    return sorted(path for path in found if os.path.islink(path))  # noqa: PTH114 - that of pathlib raises where it cannot look


def drop_mirror(mirror: Path) -> None:
    """Delete a mirror, and the lock that is named like it."""
    shutil.rmtree(mirror, ignore_errors=True)
    mirror.with_suffix(".lock").unlink(missing_ok=True)


def refuse_foreign(data: Path) -> None:
    """Raise `Unreachable` where a file of this data directory, or of the plugins, cannot be written by this user."""
    files = (one for top in (data, spools()) for one in _files(top))
    foreign = next((one for one in files if one.exists() and not os.access(one, os.R_OK | os.W_OK)), None)
    if foreign is not None:
        raise Unreachable(f"{foreign} cannot be read and written by this user; run this as the user who owns it")
