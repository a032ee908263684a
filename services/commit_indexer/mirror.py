"""A mirror of a remote: its history without its files, stored next to the views, and made anew when in doubt."""

import fcntl
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from services.commit_indexer.core import arguments
from services.commit_indexer.repository import Repository
from services.kit.data_directory import mirror_in
from services.kit.files import open_own
from services.kit.git import REMOTE, GitFailed, environment, git

MOST_PACKS = 100
"""Fetches that brought something, after which one pack of them all is fetched."""
BROKEN = (
    "not a git repository",
    "corrupt",
    "bad object",
    "unable to read",
    "unable to resolve reference",
    "missing necessary objects",
    "does not point",
)
"""The complaints of git about a mirror that a power cut, a full disk or a killed process has left half written."""
OTHER_FORMAT = "mismatched algorithms"


class MirrorBusy(Exception):
    """Another process has this mirror."""


class Mirror:
    """The mirror of one address."""

    def __init__(self, folder: Path, project: str, address: str, depth: int) -> None:
        """`depth`: how many commits deep it is to be."""
        self._directory = mirror_in(folder, project)
        self._lock = self._directory.with_suffix(".lock")
        self._depth = depth
        self._step = depth
        """The depth of the next fetch, in commits: less, where so many did not come in time."""
        self._format = "sha1"
        self._environment = environment(os.environ, REMOTE, {"remote.origin.url": address})

    @asynccontextmanager
    async def fetched(self) -> AsyncIterator[Repository]:
        """The mirror as it is now, for this process alone. Raises `MirrorBusy`, `GitFailed`."""
        self._directory.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(open_own(self._lock), "ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise MirrorBusy from error
            await self._fetch(lock.fileno())
            yield Repository(self._directory)

    async def _fetch(self, lock: int) -> None:
        """The lock is handed on to git: where this process is killed, its fetch has the mirror until it ends."""
        self._tidy()
        try:
            await self._attempt(lock)
        except GitFailed as error:
            if error.status is None:
                self._step = max(1, self._step // 8)
            if not self._is_to_be_made_anew(str(error)):
                raise
            self._remove()
            await self._attempt(lock)
        self._step = min(self._depth, self._step * 2)

    async def _attempt(self, lock: int) -> None:
        if not (self._directory / "HEAD").exists():
            self._directory.mkdir(parents=True, exist_ok=True)
            await self._run(lock, *arguments.NEW_MIRROR, self._format)
        await self._run(lock, *arguments.fetching(self._deepening()))

    def _is_to_be_made_anew(self, words: str) -> bool:
        if OTHER_FORMAT in words:
            self._format = "sha256" if self._format == "sha1" else "sha1"
            return True
        return any(sign in words for sign in BROKEN)

    def _deepening(self) -> Sequence[str]:
        """Nothing, where all of it is there."""
        if not (self._directory / "shallow").exists() and self._packs():
            return ()
        return (f"--depth={self._step}",)

    async def _run(self, lock: int, *words: str) -> bytes:
        return await git(self._directory, self._environment, *words, inherits=(lock,))

    def _tidy(self) -> None:
        """Take away what a killed git has left: nobody else is at work here."""
        if self._packs() > MOST_PACKS:
            self._remove()
        left = [*self._directory.glob("*.lock"), *self._directory.glob("refs/**/*.lock")]
        for path in (*left, *self._directory.glob("objects/pack/tmp_*")):
            path.unlink(missing_ok=True)

    def _packs(self) -> int:
        return sum(1 for _ in self._directory.glob("objects/pack/*.pack"))

    def _remove(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)
