"""A repository as it is read: what its branches are at, what is reached from there, and what each commit holds."""

import os
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from schemas.events import CommitSeen
from services.commit_indexer.core import arguments
from services.commit_indexer.core.decide import Listed, batches
from services.commit_indexer.core.objects import (
    Commit,
    commit_fact,
    commits_in,
    files_in,
    listed_in,
    read_commit,
    sizes_in,
)
from services.kit.git import GitFailed, environment, git

LARGE = 1024 * 1024
"""Bytes of a commit from which on only its beginning is read: nobody writes so much."""
NO_SUCH_NAME = 1
"""git's exit code for a name that does not resolve, where `--quiet` suppresses the message."""
MISSES = 3
"""Commits of a batch whose files cannot be read, after which those of the others are not looked for one by one."""


class Shape(msgspec.Struct, frozen=True):
    """The shape of a repository: what may change between two looks."""

    head: str
    """Empty: nothing was committed yet."""
    refs: bytes
    ends: frozenset[str] = frozenset()
    """The commits at which a shallow clone ends."""


class Repository:
    """A checkout or a mirror, which is only read."""

    def __init__(self, directory: Path, *, is_root: bool = True) -> None:
        """`is_root`: it is the root of a work tree, so that a repository around it is another one."""
        self.directory = directory
        self._environment = environment(os.environ)
        if is_root:
            self._environment["GIT_CEILING_DIRECTORIES"] = str(directory.resolve().parent)
        self._is_bounded = not (is_root and os.pathsep in str(directory.resolve()))
        """Whether git is prevented from looking above it: its list of ceilings has no way to spell a colon."""

    async def shape(self) -> Shape:
        """The commits that its branches are at now."""
        if not self._is_bounded and (await self._run(*arguments.WITHIN)).strip():
            raise GitFailed("not a git repository, but a folder of one")
        shallow, _, path = (await self._run(*arguments.SHAPE)).decode(errors="surrogateescape").partition("\n")
        ends: frozenset[str] = frozenset()
        if shallow == "true":
            text = (self.directory / path.rstrip("\n")).read_text(errors="replace")
            ends = frozenset(text.split())
        try:
            head = (await self._run(*arguments.HEAD)).decode().strip()
        except GitFailed as error:
            if error.status != NO_SUCH_NAME:
                raise
            return Shape("", b"", ends)
        return Shape(head, await self._run(*arguments.REFS), ends)

    async def sizes(self, shas: Iterable[str]) -> dict[str, int]:
        """Those of these that it has, with their sizes."""
        wanted = arguments.lines(shas)
        return sizes_in(await self._run(*arguments.SIZES, stdin=wanted)) if wanted else {}

    async def listed(self, head: str, without: Iterable[str], most: int) -> list[Listed]:
        """The newest commits reached from one and not from others: after those, the newest first."""
        return listed_in(await self._run(*arguments.listing(most), stdin=arguments.reached(head, without)))

    async def lost(self, shas: Collection[str], *, is_shallow: bool) -> set[str]:
        """Those that no branch has any more. What a shallow clone does not have may be beyond its end."""
        there = await self.sizes(shas)
        gone = set() if is_shallow else set(shas) - there.keys()
        if there:
            answer = await self._run(*arguments.UNREACHED, stdin=arguments.lines(there))
            gone |= there.keys() & set(answer.decode().split())
        return gone

    async def read(self, shas: Sequence[str], ends: Collection[str]) -> AsyncIterator[list[CommitSeen]]:
        """These commits, in pieces of the size in which they are recorded."""
        for batch in batches(shas, await self.sizes(shas)):
            found = await self._commits(batch)
            files = await self._files([one.sha for one in found if one.sha not in ends])
            yield [commit_fact(one, files.get(one.sha)) for one in found]

    async def _commits(self, shas: Sequence[str]) -> list[Commit]:
        try:
            return list(commits_in(await self._run(*arguments.OBJECTS, stdin=arguments.lines(shas))))
        except GitFailed as error:
            if error.output is None or len(shas) > 1:
                raise
            return [read_commit(shas[0], error.output[:LARGE].partition(b"\n")[2])]

    async def _files(self, shas: Sequence[str]) -> dict[str, list[str]]:
        """The paths that each of these changed; a commit whose paths git cannot name is left out."""
        found: dict[str, list[str]] = {}
        waiting, misses = [list(shas)], 0
        while waiting and misses < MISSES:
            batch = waiting.pop()
            try:
                answer = await self._run(*arguments.FILES, stdin=arguments.lines(batch)) if batch else b""
                found |= files_in(answer, batch)
            except GitFailed as error:
                if error.status is not None and error.status < 0:
                    raise  # somebody killed it: that says nothing of the commit
                if len(batch) > 1:
                    middle = len(batch) // 2
                    waiting += [batch[middle:], batch[:middle]]
                elif error.output is not None:
                    found |= files_in(error.output, batch)
                else:
                    misses += 1
        return found

    async def _run(self, *words: str, stdin: bytes = b"") -> bytes:
        return await git(self.directory, self._environment, *words, stdin=stdin)
