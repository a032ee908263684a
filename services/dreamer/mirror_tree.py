"""The names of a project's files as the mirror of its remote has them: for who has no work tree on this machine.

A mirror has the history without the files: no text is read from it, and what its ignore files say is not known. So only
its history proves that something is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
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

_NAMES = ("ls-tree", "-r", "--name-only", "-z", "HEAD")
_SAME_CONTENT = "--find-renames=100%"
"""Renames are seen by the same content alone: another one would need the files."""


class MirrorTree:
    """The files of a mirror, by their names."""

    is_whole = False

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        answer = asked(directory, _NAMES, **bounds_of(directory)).decode(errors="replace")
        self._files = frozenset(filter(None, answer.split("\0")))
        self._folders = frozenset(
            name.rsplit("/", depth)[0] for name in self._files for depth in range(1, name.count("/") + 1)
        )

    def __len__(self) -> int:
        """The number of its files; 0: git has not answered, or nothing is committed."""
        return len(self._files)

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this path."""
        name = "/".join(parts_of(path))
        return name in self._files or name in self._folders

    def text(self, path: str) -> str | None:  # noqa: ARG002 - as a tree is asked
        """None: a mirror has no texts."""
        return None

    def document(self, path: str) -> str | None:  # noqa: ARG002 - as a tree is asked
        """None: a mirror has no texts."""
        return None

    def commits_since(self, path: str) -> Sequence[FileCommit]:  # noqa: ARG002 - as a tree is asked
        """None: only who reads documents asks for them."""
        return ()

    def named(self, ending: str) -> Sequence[str]:
        """The files under a path that ends so."""
        return ending_so(self._files, "/".join(parts_of(ending)))

    def moved(self, path: str) -> str:
        """The new path of a file or a folder that git reports as renamed without a change; empty: not known."""
        new = self._gone.moved("/".join(parts_of(path)), self.exists)
        return "" if is_secret(new) else new

    def was_there(self, path: str) -> bool:
        """Whether the history has a file or a folder of this path that is gone."""
        return self._gone.was_there("/".join(parts_of(path)))

    @cached_property
    def point(self) -> TreePoint | None:
        """Its state when it was first asked for."""
        return point_of(self._directory, has_files=False)

    def changed_since(self, before: TreePoint) -> AbstractSet[str] | None:
        """The paths of what has changed since then. None: it is not known."""
        return changed_between(self._directory, before, self.point, self._gone) if self.point else None

    @cached_property
    def _gone(self) -> GonePaths:
        return gone_paths(asked(self._directory, LOG, _SAME_CONTENT, **bounds_of(self._directory)))
