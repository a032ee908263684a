"""Files of other tools: opened to be read only, where they are files and no links, and as large as can be read."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import BinaryIO

from services.edges.memory.stores.statement import Omission, UnreadableStore

MOST_FILES = 500
"""Of Markdown, of all folders that are named."""
_MIB = 1 << 20


class NothingToImport(LookupError):
    """No file has anything to import; says what would."""


def files(paths: Sequence[Path]) -> Iterator[Path | Omission]:
    """The files that these paths name: of a folder all of Markdown in it. Raises `NothingToImport`."""
    found: list[Path] = []
    omitted: Counter[str] = Counter()
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            found += sorted(_markdown(path, omitted))
        elif os.path.lexists(path):
            found.append(path)
        else:
            raise NothingToImport(f"there is no file {path}; name one such as CLAUDE.md, AGENTS.md or a folder of them")
    if not found:
        raise NothingToImport(
            f"no file of Markdown is in {', '.join(map(str, paths))}; name the file of another tool's store itself"
        )
    yield from found[:MOST_FILES]
    omitted[f"is a file behind the first {MOST_FILES}"] = max(0, len(found) - MOST_FILES)
    yield from (Omission(reason, count) for reason, count in omitted.items() if count)


def _markdown(top: Path, omitted: Counter[str]) -> Iterator[Path]:
    """The files of Markdown in a folder. What is passed over there is counted."""

    def unread(_error: OSError) -> None:
        omitted["is a folder that cannot be read"] += 1

    for folder, _, names in os.walk(top, onerror=unread):
        for path in (Path(folder) / name for name in names):
            is_markdown = path.suffix.lower() == ".md"
            if path.is_symlink():
                omitted["is a link in a folder, and links are not followed"] += is_markdown
            elif is_markdown and path.is_file():
                yield path
            else:
                omitted["is a file in a folder and no Markdown; the store of a tool is named itself"] += 1


@contextmanager
def opened(path: Path, most: int) -> Iterator[BinaryIO]:
    """A file of at most so many bytes. Raises `UnreadableStore`, and `FileNotFoundError`."""
    try:
        if S_ISLNK(os.lstat(path).st_mode):
            raise UnreadableStore(f"{path} is a link, and links are not followed: name {_aim(path)} itself")
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableStore(f"{path} cannot be read ({error.strerror}): see who may read it") from error
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not S_ISREG(state.st_mode):
            raise UnreadableStore(f"{path} is no regular file; name a file or a folder")
        if state.st_size > most:
            size = f"{state.st_size / _MIB:,.0f} MiB"
            raise UnreadableStore(
                f"{path} has {size}, and at most {most // _MIB:,} MiB are read: export a part of it, or split it"
            )
        yield file


def content_of(path: Path, most: int) -> bytes:
    """The bytes of a file. Raises `UnreadableStore`, and `FileNotFoundError`."""
    with opened(path, most) as file:
        return file.read(most)


def _aim(path: Path) -> str:
    try:
        return str(path.resolve())
    except (OSError, RuntimeError):
        return "the file"
