"""The commit indexer's wiring: a look at every repository, again and again, and at what sessions say of commits."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import aclosing
from typing import ClassVar

from schemas.events import (
    Event,
    PartRecorded,
    ProjectIdentified,
    ProjectMerged,
    alias,
)
from services.commit_indexer import core
from services.commit_indexer.core.sources import ProjectPlaces, RepositorySource, evolve, sources
from services.commit_indexer.mirror import MirrorBusy
from services.commit_indexer.naming import MentionReader
from services.commit_indexer.reading import RepositoryReading, Unread
from services.domain.registry import events_made_in
from services.kit.background import begin
from services.kit.bus import BrokerError, Unreachable
from services.kit.nouns import AliasReader
from services.kit.room import Kit

PROJECTS = "log.*.*._.project.*"
AT_ONCE = 4
"""Projects whose repositories are read at the same time."""


class CommitIndexer:
    """Records the commits of projects' repositories, and which sessions name them."""

    NAME: ClassVar[str] = "commit_indexer"
    GIVES_WAY: ClassVar[bool] = True
    READS: ClassVar[tuple[type[Event], ...]] = (
        ProjectIdentified,
        ProjectMerged,
        PartRecorded,
        *alias.EVENTS,
    )
    WRITES: ClassVar[tuple[type[Event], ...]] = events_made_in(core)

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        self._reading = RepositoryReading(kit)
        self._places = ProjectPlaces()
        self._aliases = AliasReader(kit)
        self._found_through = self._looked_through = 0
        """Positions of the log up to which projects were found, and up to which their repositories were looked at."""
        self._sources: Sequence[RepositorySource] = ()
        self._unread: dict[RepositorySource, str] = {}
        self._looks = 0
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._naming = MentionReader(kit)
        if kit.settings.commits.enabled:
            await self._naming.open()
            begin(kit, self._run())

    async def idle(self) -> bool:
        """Whether the repositories that harnesses have named by now were looked at."""
        if not self._kit.settings.commits.enabled:
            return True
        if not await self._naming.idle():
            return False
        async with aclosing(self._kit.reader.after(self._looked_through, PROJECTS)) as more:
            async for _ in more:
                return False
        return self._looks > 0

    def health(self) -> dict[str, object]:
        unread = {f"{source.project} {source.place}": reason for source, reason in self._unread.items()}
        return {"ok": True, "repositories": len(self._sources), "looks": self._looks, "unread": unread}

    async def _run(self) -> None:
        while True:
            try:
                await self._look()
            except (BrokerError, Unreachable) as error:
                self._kit.log.warning("repositories were not read", reason=str(error) or type(error).__name__)
            except Exception:  # the next look comes, whatever broke in this one
                self._kit.log.exception("repositories were not read")
            await asyncio.sleep(self._kit.settings.commits.every)

    async def _look(self) -> None:
        """Look once at every repository."""
        await self._find()
        found_through = self._found_through
        by_project: dict[str, list[RepositorySource]] = defaultdict(list)
        for source in self._sources:
            by_project[source.project].append(source)
        looks = await asyncio.gather(*map(self._look_at, by_project.values()), return_exceptions=True)
        for error in (look for look in looks if look is not None):
            raise error
        self._looked_through = found_through
        self._looks += 1

    async def _find(self) -> None:
        """Read where projects are, from where that was read before."""
        async for record in self._kit.reader.after(self._found_through, PROJECTS):
            if record.event is not None:
                self._places = evolve(self._places, record.event, record.envelope.project)
            self._found_through = record.envelope.seq
        self._sources = sources(self._places, self._kit.settings.commits, await self._aliases.now())
        self._unread = {source: reason for source, reason in self._unread.items() if source in self._sources}

    async def _look_at(self, found: Sequence[RepositorySource]) -> None:
        """Look at the repositories of one project, one after the other."""
        for source in found:
            async with self._turns:
                await self._look_once(source, [other for other in found if other != source])

    async def _look_once(self, source: RepositorySource, others: Sequence[RepositorySource]) -> None:
        try:
            await self._reading.look(source, others)
        except MirrorBusy:
            return  # another process reads it
        except (BrokerError, Unreachable):
            raise
        except Unread as unread:
            self._note(source, str(unread))
        except Exception as error:  # it concerns this repository only
            self._kit.log.exception("a repository could not be read", project=source.project)
            self._note(source, f"{source.place} could not be read: {type(error).__name__}: {error}; see the log")
        else:
            self._unread.pop(source, None)

    def _note(self, source: RepositorySource, reason: str) -> None:
        """Say once why a repository is not read."""
        if self._unread.get(source) != reason:
            self._kit.log.warning("a repository is not read", project=source.project, reason=reason)
        self._unread[source] = reason
