"""The door to the files of a project: a work tree on this machine. Little is read.

Tasks read it in a thread of their own, since they wait for the disk and for git.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from services.domain.secret_paths import is_secret
from services.dreamer.core.paths import parts_of
from services.dreamer.core.task import FileCommit, TreePoint
from services.dreamer.git_history import (
    LOG,
    GonePaths,
    asked,
    bounds_of,
    changed_between,
    ending_so,
    gone_paths,
    point_of,
)
from services.kit.files import open_within

MOST_BYTES = 64 * 1024
"""Of a file whose text is read."""
UNREADABLE = "\ufffd"
"""The character in place of bytes that are no UTF-8."""
_STAGED = ("diff-index", "--cached", "--diff-filter=RD", "--name-status", "-z", "-M", "-l400", "HEAD")
_ABSENT = ("ls-files", "--deleted", "-z")
"""The command for what is not committed yet, without a look into files: whoever compares those with the index runs the
filters that a repository's own settings name, and whoever compares submodules asks git in each of them, without our
settings."""
_SINCE = (
    "log", "--max-count=200", "--name-only", "--no-renames", "--relative", "-z", "--format=%x01%h %s",
    "--no-ext-diff", "--no-textconv",
)  # fmt: skip
"""The commits that documents are compared with: the newest, by their names, first lines and files."""


class Checkout:
    """A work tree. No link leads out of it, and no file with secrets is read."""

    is_whole = True

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    @property
    def root(self) -> Path:
        """The directory in which git is asked about it."""
        return self._root

    def barred(self, path: str) -> str:
        """The reason why a path is not looked at, as the end of a sentence; empty: it may be."""
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
        bounded = {**bounds_of(self._root), "GIT_LITERAL_PATHSPECS": "1"}
        last = asked(self._root, ("log", "--max-count=1", "--format=%H"), path=path, **bounded).decode().strip()
        return _commits(asked(self._root, _SINCE, f"{last}..HEAD", **bounded)) if last else ()

    def moved(self, path: str) -> str:
        """The new path of a file or a folder that git reports as renamed, also twice; empty: not known, or gone."""
        new = self._gone.moved("/".join(parts_of(path)), self.exists)
        return "" if is_secret(new) else new

    def named(self, ending: str) -> Sequence[str]:
        """The files that git has under a path that ends so; none where it does not say."""
        return ending_so(self._tracked, "/".join(parts_of(ending)))

    @cached_property
    def _tracked(self) -> Sequence[str]:
        answer = asked(self._root, ("ls-files", "-z"), **bounds_of(self._root)).decode(errors="replace")
        return [path for path in answer.split("\0") if path]

    def was_there(self, path: str) -> bool:
        """Whether git says that there was a file or a folder of this path, which is gone."""
        return self._gone.was_there("/".join(parts_of(path)))

    @cached_property
    def point(self) -> TreePoint | None:
        """Its state when it was first asked for. None: git does not say, or much of it is not committed."""
        return point_of(self._root)

    def changed_since(self, before: TreePoint) -> AbstractSet[str] | None:
        """The paths of what has changed since then. None: it is not known."""
        return changed_between(self._root, before, self.point, self._gone) if self.point else None

    def _place(self, path: str) -> Path | None:
        """The place that a path leads to, if that is within the tree."""
        parts = parts_of(path)
        try:
            place = self._root.joinpath(*parts).resolve(strict=True) if parts else None
        except (OSError, RuntimeError, ValueError):
            return None
        return place if place is not None and place.is_relative_to(self._root) and place != self._root else None

    def _read(self, parts: Sequence[str]) -> bytes:
        """The content of a regular file, or its first bytes and one more where it is larger than what is read."""
        with self._opened(parts) as file:
            content = bytearray()
            while len(content) <= MOST_BYTES and (piece := os.read(file, MOST_BYTES + 1 - len(content))):
                content += piece
            return bytes(content)

    @contextmanager
    def _opened(self, parts: Sequence[str]) -> Iterator[int]:
        """A regular file: no part of its path may have become a link meanwhile."""
        file = open_within(self._root, parts)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise IsADirectoryError
            yield file
        finally:
            os.close(file)

    @cached_property
    def _gone(self) -> GonePaths:
        """The paths that are gone by the log, and before that by what is not committed yet."""
        bounds = bounds_of(self._root)
        logged = gone_paths(asked(self._root, LOG, "-M", **bounds))
        staged = gone_paths(asked(self._root, _STAGED, **bounds))
        absent = frozenset(asked(self._root, _ABSENT, **bounds).decode(errors="replace").split("\0")) - {""}
        renames = {**logged.renames, **staged.renames}
        deleted = (logged.deleted - staged.renames.keys()) | ((staged.deleted | absent) - renames.keys())
        return GonePaths(renames, deleted)


def _commits(answer: bytes) -> list[FileCommit]:
    """The commits of an answer: each begins with a control character, its name and its first line."""
    found: list[FileCommit] = []
    for piece in answer.decode(errors="replace").split("\x01")[1:]:
        head, *files = (one.strip("\n") for one in piece.split("\0"))
        sha, _, subject = head.partition(" ")
        found.append(FileCommit(sha, subject, tuple(one for one in files if one)))
    return found


def _text(content: bytes) -> str | None:
    is_text = len(content) <= MOST_BYTES and b"\0" not in content
    return content.decode(errors="replace") if is_text else None
