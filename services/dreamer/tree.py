"""The door to the files of a project: a work tree on this machine. Little is read.

Tasks read it in a thread of their own, since they wait for the disk and for git.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from services.domain.secret_paths import is_secret
from services.dreamer.core.paths import parts_of
from services.dreamer.core.task import FileCommit
from services.kit.git import GitFailed, git
from services.kit.git_environment import environment

MOST_BYTES = 64 * 1024
"""Of a file whose text is read."""
UNREADABLE = "\ufffd"
"""What bytes that are no UTF-8 are read as."""
PATIENCE = 3.0
"""Seconds that git may take for one answer."""
MOST_COMMITS = 2_000
"""The newest commits in which renamed files are looked for."""
_LOG = ("log", f"--max-count={MOST_COMMITS}", "--diff-filter=RD", "--name-status", "-z", "--format=", "-l400")
_STAGED = ("diff-index", "--cached", "--diff-filter=RD", "--name-status", "-z", "-M", "-l400", "HEAD")
_ABSENT = ("ls-files", "--deleted", "-z")
"""What is not committed yet, without a look into files: whoever compares those with the index runs the filters that a
repository's own settings name, and whoever compares submodules asks git in each of them, without our settings."""
_SINCE = (
    "log", "--max-count=200", "--name-only", "--no-renames", "--relative", "-z", "--format=%x01%h %s",
    "--no-ext-diff", "--no-textconv",
)  # fmt: skip
"""The commits that documents are compared with: the newest, by their names, first lines and files."""
_OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
"""No link, and no pipe for whose other end somebody waits."""


class GonePaths(NamedTuple):
    """The paths that files had before, as far as git says."""

    renames: Mapping[str, str]
    """Old path -> new path."""
    deleted: frozenset[str]
    """Those of files that have no new one."""


class Checkout:
    """A work tree. No link leads out of it, and no file with secrets is read."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    @property
    def root(self) -> Path:
        """Where git is asked about it."""
        return self._root

    def barred(self, path: str) -> str:
        """Why a path is not looked at, as the end of a sentence; empty: it may be."""
        if not parts_of(path):
            return "is no path within the project"
        if self._leads_out(path):
            return "is a link that leads out of the project, or nowhere"
        place = self._place(path)
        if is_secret(path) or (place is not None and is_secret(str(place.relative_to(self._root)))):
            return "may hold secrets by its name"
        return ""

    def written_at(self, path: str) -> datetime | None:
        """When a file was written to last, as the file system has it; none: there is no such file."""
        place = self._place(path)
        if place is None:
            return None
        try:
            with self._opened(str(place.relative_to(self._root)).split("/")) as file:
                return datetime.fromtimestamp(os.fstat(file).st_mtime, UTC)
        except (OSError, ValueError, OverflowError):
            return None

    def _leads_out(self, path: str) -> bool:
        """Whether a part of the path is a link whose end is not in the tree."""
        at = self._root
        try:
            for part in parts_of(path):
                at /= part
                if at.is_symlink():
                    at = at.resolve(strict=True)
                    if not at.is_relative_to(self._root):
                        return True
        except (OSError, RuntimeError, ValueError):
            return True
        return False

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this path, which a link may not lead out of the tree."""
        place = self._place(path)
        try:
            return place is not None and place.exists()
        except (OSError, ValueError):  # a name that the system takes for none
            return False

    def text(self, path: str) -> str | None:
        """The text of a file. None: it is not there, secret, a link out, no text, no file, or larger than 64 KiB."""
        place = self._place(path)
        if place is None or is_secret(path) or is_secret(inner := str(place.relative_to(self._root))):
            return None
        try:
            content = self._read(inner.split("/"))
        except (OSError, ValueError):
            return None
        return _text(content)

    def document(self, path: str) -> str | None:
        """The text of a file in UTF-8, byte for byte. None: as for `text`, it is a link, or is in another encoding."""
        place = self._place(path)
        if place is None or place != self._root.joinpath(*parts_of(path)):
            return None
        text = self.text(path)
        return None if text is None or UNREADABLE in text else text

    def commits_since(self, path: str) -> Sequence[FileCommit]:
        """The commits since the newest one that has changed a file, the newest first; none where git does not say."""
        if not parts_of(path):
            return ()
        bounded = {"GIT_CEILING_DIRECTORIES": str(self._root.parent), "GIT_LITERAL_PATHSPECS": "1"}
        last = _asked(self._root, ("log", "--max-count=1", "--format=%H"), path=path, **bounded).decode().strip()
        return _commits(_asked(self._root, _SINCE, f"{last}..HEAD", **bounded)) if last else ()

    def moved(self, path: str) -> str:
        """Where git says that a file or a folder was renamed to, over several renames; empty: not known, or gone."""
        new = _followed(self._gone.renames, path) or self._folder_followed("/".join(parts_of(path)))
        return new if new and not is_secret(new) and self.exists(new) else ""

    def _folder_followed(self, folder: str) -> str:
        """The folder that has most of what was in another one, some of it by the same name; empty: there is none."""
        within = f"{folder}/"
        left = [path for path in (*self._gone.renames, *self._gone.deleted) if path.startswith(within)]
        places = [(f"/{path.removeprefix(within)}", _followed(self._gone.renames, path)) for path in left]
        there = [(name, new) for name, new in places if self.exists(new)]
        folders = Counter(new.removesuffix(name) for name, new in there if new.endswith(name))
        ((found, _),) = folders.most_common(1) or [("", 0)]
        count = sum(new.startswith(f"{found}/") for _, new in there)
        return found if 2 * count > len(left) else ""

    def _place(self, path: str) -> Path | None:
        """Where a path leads, if that is within the tree."""
        parts = parts_of(path)
        try:
            place = self._root.joinpath(*parts).resolve(strict=True) if parts else None
        except (OSError, RuntimeError, ValueError):
            return None
        return place if place is not None and place.is_relative_to(self._root) and place != self._root else None

    def _read(self, parts: Iterable[str]) -> bytes:
        """The content of a regular file, or its first bytes and one more where it is larger than what is read."""
        with self._opened(parts) as file:
            content = bytearray()
            while len(content) <= MOST_BYTES and (piece := os.read(file, MOST_BYTES + 1 - len(content))):
                content += piece
            return bytes(content)

    @contextmanager
    def _opened(self, parts: Iterable[str]) -> Iterator[int]:
        """A regular file, opened part by part of its path: none of them may have become a link meanwhile."""
        at = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                inner = os.open(part, _OPENED, dir_fd=at)
                os.close(at)
                at = inner
            if not stat.S_ISREG(os.fstat(at).st_mode):
                raise IsADirectoryError
            yield at
        finally:
            os.close(at)

    @cached_property
    def _gone(self) -> GonePaths:
        """What the log says, and before that what is not committed yet."""
        bounded = {"GIT_CEILING_DIRECTORIES": str(self._root.parent)}
        logged = _gone_paths(_asked(self._root, _LOG, "-M", **bounded))
        staged = _gone_paths(_asked(self._root, _STAGED, **bounded))
        absent = frozenset(_asked(self._root, _ABSENT, **bounded).decode(errors="replace").split("\0")) - {""}
        renames = {**logged.renames, **staged.renames}
        deleted = (logged.deleted - staged.renames.keys()) | ((staged.deleted | absent) - renames.keys())
        return GonePaths(renames, deleted)


def _asked(directory: Path, words: Iterable[str], *more: str, path: str = "", **bounds: str) -> bytes:
    """What git answers in this thread, which runs no loop; nothing where it fails, or takes too long."""
    try:
        return asyncio.run(
            git(
                directory,
                {**environment(os.environ), **bounds},
                *words,
                *more,
                "--",
                *([path] if path else []),
                patience=PATIENCE,
            )
        )
    except (GitFailed, OSError):
        return b""


def _commits(answer: bytes) -> list[FileCommit]:
    """The commits of an answer: each begins with a control character, its name and its first line."""
    found: list[FileCommit] = []
    for piece in answer.decode(errors="replace").split("\x01")[1:]:
        head, *files = (one.strip("\n") for one in piece.split("\0"))
        sha, _, subject = head.partition(" ")
        found.append(FileCommit(sha, subject, tuple(one for one in files if one)))
    return found


def _gone_paths(answer: bytes) -> GonePaths:
    """The paths of an answer with the newest change first, which holds."""
    fields = iter([one for one in answer.decode(errors="replace").strip("\0\n").split("\0") if one.strip()])
    renames: dict[str, str] = {}
    deleted: set[str] = set()
    for status in fields:
        old = next(fields, "")
        if status.strip().startswith("R"):
            renames.setdefault(old, next(fields, ""))
        else:
            deleted.add(old)
    return GonePaths(renames, frozenset(deleted - renames.keys()))


def _followed(renames: Mapping[str, str], path: str) -> str:
    """Where a path leads over all renames; empty: there is none. Those that lead in a circle end where they began."""
    seen, name = {path}, path
    while (after := renames.get(name, "")) and after not in seen:
        seen.add(after)
        name = after
    return name if name != path else ""


def _text(content: bytes) -> str | None:
    is_text = len(content) <= MOST_BYTES and b"\0" not in content
    return content.decode(errors="replace") if is_text else None
