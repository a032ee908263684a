"""The history of a project's files by git: which were renamed, which are gone, and which have changed since a look.

git is asked in a thread of its own that runs no loop, with 3 seconds for each answer. Where it fails, nothing is known.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from services.domain.secrets import mask
from services.dreamer.core.task import TreePoint
from services.kit.git import GitFailed, environment, git

PATIENCE = 3.0
"""Seconds that git may take for one answer."""
MOST_COMMITS = 2_000
"""The newest commits in which renamed files are looked for."""
MOST_UNCOMMITTED = 100
"""Files that are not committed: with more of them the state of a tree is not noted, and all is looked at next time."""
LOG = ("log", f"--max-count={MOST_COMMITS}", "--diff-filter=RD", "--name-status", "-z", "--format=", "-l400")
_HEAD = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
_DIFFERS = ("diff-index", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z", "HEAD")
"""By the marks of files alone: one that was only touched counts as changed, and no filter of a repository is run."""
_UNTRACKED = ("ls-files", "--others", "--exclude-standard", "-z")
_BETWEEN = ("diff-tree", "-r", "--name-only", "--no-renames", "-z")
_TOP = ("ls-tree", "--name-only", "-z")


class GonePaths(NamedTuple):
    """The paths that files had before, as far as git says."""

    renames: Mapping[str, str]
    """Old path -> new path."""
    deleted: frozenset[str]
    """Those of files that have no new one."""

    def moved(self, path: str, exists: Callable[[str], bool]) -> str:
        """The new path of a file or a folder, over several renames; empty: not known, or gone."""
        new = self.followed(path) or self._folder_followed(path, exists)
        return new if new and exists(new) else ""

    def followed(self, path: str) -> str:
        """The end of a path over all renames; empty: there is none. Those in a circle end where they began."""
        seen, name = {path}, path
        while (after := self.renames.get(name, "")) and after not in seen:
            seen.add(after)
            name = after
        return name if name != path else ""

    def was_there(self, path: str) -> bool:
        """Whether git says that a file, or a folder with files, was there before."""
        within = f"{path.rstrip('/')}/"
        return any(one == path or one.startswith(within) for one in (*self.deleted, *self.renames))

    def _folder_followed(self, folder: str, exists: Callable[[str], bool]) -> str:
        """The folder that has most of what was in another one, some of it by the same name; empty: there is none."""
        within = f"{folder}/"
        left = [path for path in (*self.renames, *self.deleted) if path.startswith(within)]
        places = [(f"/{path.removeprefix(within)}", self.followed(path)) for path in left]
        there = [(name, new) for name, new in places if exists(new)]
        folders = Counter(new.removesuffix(name) for name, new in there if new.endswith(name))
        ((found, _),) = folders.most_common(1) or [("", 0)]
        count = sum(new.startswith(f"{found}/") for _, new in there)
        return found if 2 * count > len(left) else ""


def gone_paths(answer: bytes) -> GonePaths:
    """The paths of an answer with the newest change first, which holds."""
    fields = iter([one for one in _text(answer).strip("\0\n").split("\0") if one.strip()])
    renames: dict[str, str] = {}
    deleted: set[str] = set()
    for status in fields:
        old = next(fields, "")
        if status.strip().startswith("R"):
            renames.setdefault(old, next(fields, ""))
        else:
            deleted.add(old)
    return GonePaths(renames, frozenset(deleted - renames.keys()))


def ending_so(files: Iterable[str], ending: str) -> list[str]:
    """Those of paths that end with this one, by whole parts."""
    return [path for path in files if f"/{path}".endswith(f"/{ending}")] if ending else []


def point_of(directory: Path, *, has_files: bool = True) -> TreePoint | None:
    """The state of a tree now. None: git does not say, or too much of it is not committed.

    `has_files`: it is a work tree, and no bare repository.
    """
    head = _answer(directory, _HEAD)
    uncommitted = [_answer(directory, one) for one in (_DIFFERS, _UNTRACKED)] if has_files else []
    if head is None or any(one is None for one in uncommitted):
        return None
    paths = sorted({path for one in uncommitted for path in _paths(one or b"")})
    if len(paths) > MOST_UNCOMMITTED or any(mask(path) != path for path in paths):  # the log keeps no secret
        return None
    return TreePoint(_text(head).strip(), tuple(paths), is_whole=has_files)


def changed_between(directory: Path, before: TreePoint, now: TreePoint, gone: GonePaths) -> AbstractSet[str] | None:
    """The paths of what differs between two states of a tree, with its former names. None: git does not say.

    A folder at the root that was not there before is one of them by itself.
    """
    between = _answer(directory, _BETWEEN, before.commit, now.commit)
    tops = _answer(directory, _TOP, before.commit)
    if between is None or tops is None:
        return None
    paths = {*_paths(between), *before.uncommitted, *now.uncommitted}
    former = {old for old in gone.renames if paths.intersection(_chain(gone.renames, old))} if paths else set()
    return paths | former | ({path.partition("/")[0] for path in paths} - {*_paths(tops)})


def asked(directory: Path, words: Iterable[str], *more: str, path: str = "", **bounds: str) -> bytes:
    """The output of git; nothing where it fails, or takes too long."""
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


def bounds_of(directory: Path) -> dict[str, str]:
    """Git looks no further up than this directory."""
    return {"GIT_CEILING_DIRECTORIES": str(directory.parent)}


def _answer(directory: Path, words: Iterable[str], *more: str) -> bytes | None:
    """The same where it matters whether it failed; None: it did."""
    try:
        surroundings = {**environment(os.environ), **bounds_of(directory)}
        return asyncio.run(git(directory, surroundings, *words, *more, patience=PATIENCE))
    except (GitFailed, OSError):
        return None


def _chain(renames: Mapping[str, str], path: str) -> Iterator[str]:
    """The names that a file has had since it had this one."""
    seen = {path}
    while (path := renames.get(path, "")) and path not in seen:
        seen.add(path)
        yield path


def _paths(answer: bytes) -> Iterator[str]:
    return filter(None, _text(answer).split("\0"))


def _text(answer: bytes) -> str:
    return answer.decode(errors="replace")
