"""Reads a project's repositories: records new commits, and takes back those that no branch has any more."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from schemas.envelope import Actor
from schemas.events import CommitSeen, Event
from schemas.subjects import Address
from services.commit_indexer.core import decide, failures
from services.commit_indexer.core.decide import NOUNS, CommitBounds, CommitHistory, Head, evolve
from services.commit_indexer.core.sources import RepositorySource
from services.commit_indexer.mirror import Mirror, MirrorBusy
from services.commit_indexer.repository import Repository, Shape
from services.domain.draft import Draft
from services.kit.aggregate import Aggregate
from services.kit.cache import Sessions
from services.kit.data_directory import MIRRORS
from services.kit.git import GitFailed
from services.kit.nouns import NounReader
from services.kit.project_name import is_repository_of
from services.kit.room import Kit

GUARD = "commit"
"""Every commit that another process records makes a decision stale, so that none is recorded twice."""


class Unread(Exception):
    """A repository that is not read; says why, and what to do."""


class RepositoryReading:
    """Reads repositories for their projects."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        settings = kit.settings.commits
        self._bounds = CommitBounds(settings.since_days, settings.max_commits)
        reader = NounReader(kit.reader, NOUNS, catches_up=True)
        self._histories = Aggregate(
            kit, Sessions(reader, evolve, CommitHistory(), kit.settings.loop.sessions), guard=GUARD, catches_up=True
        )
        self._shapes: dict[RepositorySource, Shape] = {}
        """The shapes of the repositories that were read to their ends."""
        self._mirrors: dict[RepositorySource, Mirror] = {}

    async def look(self, source: RepositorySource, others: Collection[RepositorySource]) -> None:
        """Record what is new in a repository. Raises `Unread`.

        `others`: repositories of the same project. A commit that one of them has counts still.
        """
        try:
            async with self._opened(source) as repository:
                await self._look(repository, source, others)
        except (GitFailed, OSError) as error:
            raise Unread(_why(source, error)) from error

    @asynccontextmanager
    async def _opened(self, source: RepositorySource) -> AsyncIterator[Repository]:
        if not source.is_remote:
            yield Repository(Path(source.place), is_root=source.is_root)
            return
        if source not in self._mirrors:
            folder = self._kit.settings.data / MIRRORS
            self._mirrors[source] = Mirror(folder, source.project, source.place, self._bounds.max_commits + 1)
        async with self._mirrors[source].fetched() as repository:
            yield repository

    async def _look(
        self, repository: Repository, source: RepositorySource, others: Collection[RepositorySource]
    ) -> None:
        shape = await repository.shape()
        address = Address(source.project)
        history = await self._histories.newest(address)
        is_recorded = history.heads.get(source.place) == Head(shape.head, self._bounds)
        if not shape.head or (is_recorded and self._shapes.get(source) == shape):
            return
        await self._check(source)
        async for commits in self._unknown(repository, source, history, shape):
            await self._write(address, source, shape, commits=commits)
        history = await self._histories.newest(address)
        lost = await self._lost(repository, history, shape, others)
        await self._write(address, source, shape, lost=lost)
        self._shapes[source] = shape

    async def _check(self, source: RepositorySource) -> None:
        """A harness may name any directory of this machine: only the repository that is the project is read."""
        if not source.is_remote and not await is_repository_of(source.project, Path(source.place)):
            raise Unread(failures.other_repository(source.place, source.project))

    async def _unknown(
        self, repository: Repository, source: RepositorySource, history: CommitHistory, shape: Shape
    ) -> AsyncIterator[list[CommitSeen]]:
        """Commits of this repository that are not recorded yet, from the oldest on."""
        bounds = self._bounds
        heads = {head.sha for head in history.heads.values() if head.bounds == bounds}
        before = self._shapes.get(source)
        is_deeper = before is None or before.ends != shape.ends
        mended = is_deeper and any(one.partial and sha not in shape.ends for sha, one in history.commits.items())
        known = [] if mended else list(await repository.sizes(heads))
        listed = await repository.listed(shape.head, known, bounds.max_commits)
        if not known:
            listed = decide.within(listed, bounds, datetime.now(UTC).timestamp())
        async for commits in repository.read(decide.commits_to_read(history, listed, bounds, shape.ends), shape.ends):
            yield commits

    async def _lost(
        self, repository: Repository, history: CommitHistory, shape: Shape, others: Collection[RepositorySource]
    ) -> set[str]:
        """The commits that no branch has any more, here or in another repository of the project."""
        lost = await repository.lost([*history.commits], is_shallow=bool(shape.ends))
        for other in others:
            if not lost:
                break
            lost &= await self._lost_in(other, lost)
        return lost

    async def _lost_in(self, other: RepositorySource, shas: set[str]) -> set[str]:
        """Those of these that another repository does not have either. One that cannot be read now may have them."""
        try:
            await self._check(other)
            async with self._opened(other) as repository:
                shape = await repository.shape()
                return await repository.lost(shas, is_shallow=bool(shape.ends))
        except (FileNotFoundError, NotADirectoryError, Unread):
            return shas
        except (MirrorBusy, GitFailed, OSError):
            return set()

    async def _write(
        self,
        address: Address,
        source: RepositorySource,
        shape: Shape,
        *,
        commits: list[CommitSeen] | None = None,
        lost: Collection[str] = (),
    ) -> None:
        async def judge(draft: Draft[CommitHistory]) -> None:
            events: list[Event] = []
            if commits is None:
                events += decide.advanced(draft.state, source.place, shape.head, self._bounds, lost)
            else:
                events += decide.news(draft.state, commits)
            draft.record(*events)

        await self._histories.handle(
            address, judge, cause=shape.head, at=datetime.now(UTC), actor=Actor("room", self._kit.room)
        )


def _why(source: RepositorySource, error: GitFailed | OSError) -> str:
    """The reason why a repository is not read, for people."""
    if isinstance(error, FileNotFoundError):
        return failures.missing(source.place, is_there=source.is_remote or Path(source.place).is_dir())
    return (failures.unreachable if source.is_remote else failures.sentence)(source.place, str(error))
