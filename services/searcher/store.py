"""The searcher's view of the index: the tables of the set that is searched, and shelves of its projects."""

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from services.domain.search.rows import BY_NAME, KINDS, Kind
from services.kit.index_place import Current, Position, folder_of, read_current, read_position
from services.kit.logs import Logger
from services.kit.same_log import ComparedLog, difference
from services.kit.vectors import Table, Tables, VectorsError
from services.searcher import filling
from services.searcher.copies import PARTS, columns_of, pieces
from services.searcher.core.arrays import Places
from services.searcher.stored_shelf import StoredShelf

OLD = 1.5
"""Seconds."""
BEARABLE = 60.0
"""Seconds up to which shelves are used for a search that cannot wait for newer ones."""
LATELY = 3600.0
"""Seconds from the last use of a project for which its shelves follow the index closely."""
UNUSED = 20.0
"""Seconds after which those of others do: well before a search that cannot wait would have to wait for them."""
LOOK, REST = 1.0, 20.0
"""Seconds between two looks at the index, and how many times as long as a look took: that is a twentieth of a core."""
PAUSE = 5.0
"""Seconds that a look waits at most for a moment in which nobody searches."""
AT_ONCE = 500
"""Rows; a search that comes meanwhile waits for none of them, but for the machine."""


class ProjectShelves(NamedTuple):
    """The shelves of a project, and when they were last looked after."""

    kinds: dict[Kind, StoredShelf]
    at: float = 0.0
    through: int = 0
    """The position of the log that the index had read to before they were: all up to there is on them."""
    current: Current | None = None
    """The set that they are of; none: there was no index."""


class SearchStore:
    """The tables of the set that is searched, and shelves of the projects that were used last.

    Where another set takes the place of this one its shelves stay until those of the other are filled: a search that
    cannot wait finds what was known a moment before.
    """

    def __init__(self, data: Path, most_projects: int, log: Logger) -> None:
        self._data = data
        self._log = log
        self._most = most_projects
        self._tables: Tables | None = None
        self._live: dict[str, Table] = {}
        self._stored: dict[str, ProjectShelves] = {}
        self._refreshing: dict[str, asyncio.Task[object]] = {}
        self._copying: dict[str, asyncio.Task[None]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Project -> the lock of the task that fills its shelves, for as long as one does."""
        self._opening = asyncio.Lock()
        self._used: dict[str, float] = {}
        """Project whose shelves are here or are being filled -> when it was used last."""
        self._searches = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.current: Current | None = None
        self._comparing = asyncio.Lock()
        self._is_compared = False
        self._foreign: Mapping[str, str] = {}
        """The tables of an index that was made from another log: one that is made anew has others."""

    @property
    def through(self) -> int:
        """The position of the log up to which the index has read."""
        return self._position().through

    async def compare(self, log: ComparedLog) -> None:
        """Search nothing of an index that was made from another log, until the indexer has made it anew.

        That is looked at once: a searcher that notices another log later begins anew.
        """
        with contextlib.suppress(*VectorsError):  # the search that follows meets the same error, and reports it
            await self._compared(log)

    async def _compared(self, log: ComparedLog) -> None:
        async with self._comparing:
            if not self._is_compared and await self._opened() is not None:
                position = self._position()
                if position.marks and await difference(log, position.through, position.marks) is not None:
                    self._foreign = position.tables
            self._is_compared = True

    def _position(self) -> Position:
        """The position of the set that is searched; none where it was made from another log."""
        position = read_position(self._folder) if self.current else Position()
        return Position() if position.tables == self._foreign else position

    async def read_through(self) -> int:
        """That position, after a look at whether another index is searched by now. Raises `VectorsError`."""
        await self._opened()
        return self.through

    @property
    def expects_vectors(self) -> bool:
        """Whether there are rows, and a model that queries are compared by."""
        return self.current is not None and bool(self.current.model) and self.through > 0

    @property
    def rows(self) -> int:
        """The number of rows in memory."""
        return sum(len(stored.shelf) for project in self._stored.values() for stored in project.kinds.values())

    @property
    def copied(self) -> int:
        """The number of rows that can be compared without their tables."""
        return sum(len(stored.copies) for project in self._stored.values() for stored in project.kinds.values())

    @property
    def is_busy(self) -> bool:
        """Whether something is done in the background."""
        return any(not task.done() for task in (*self._copying.values(), *self._refreshing.values()))

    async def warm(self) -> None:
        """Open what the first search would have to open."""
        with contextlib.suppress(*VectorsError):  # that search meets the same error, and reports it
            if await self._opened():
                for name in (await asyncio.to_thread(self._position)).tables.values():
                    await self._table(name)

    @contextlib.contextmanager
    def searched(self) -> Iterator[None]:
        """A search, in which nothing is done that can wait."""
        self._searches += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._searches -= 1
            if not self._searches:
                self._quiet.set()

    async def shelves(self, project: str, *, through: int = 0, at_most: float = OLD) -> ProjectShelves:
        """All that is indexed of a project, as it was `at_most` seconds ago; as it is now if it lacks `through`.

        What has changed is read in the background while searches go on, so that these need not wait for it.
        """
        self._used[project] = time.monotonic()
        known = self._new_enough(project, through, at_most)
        if known is None:
            return await self._looked_after(project, through, at_most)
        if time.monotonic() - known.at >= OLD / 2:
            self._begin_refresh(project, can_wait=at_most > OLD)
        return known

    def expect(self, project: str, *, is_new: bool) -> None:
        """Have the shelves of a project ready before it is searched: a session begins in it, or goes on.

        For a new session they take the place of those that were used least lately. One that goes on only has them
        filled where there is room: of more projects at once than there is room for, each would push out another.
        """
        is_known = project in self._stored or project in self._refreshing
        has_room = len({*self._stored, *self._refreshing}) < self._most
        if is_known or is_new or has_room:
            self._used[project] = time.monotonic()
            if not is_known:
                self._begin_refresh(project, can_wait=False)

    async def follow(self) -> None:
        """Bring the shelves of the projects that are used up to date as the index grows. Never ends.

        An index that cannot be read now is read by the next search, which reports the error.
        """
        while True:
            spent = 0.0
            for project in self.behind:
                await self._pause()
                began = time.monotonic()
                with contextlib.suppress(*VectorsError):
                    await self._looked_after(project)
                spent += time.monotonic() - began
            await asyncio.sleep(max(LOOK, REST * spent))

    @property
    def behind(self) -> list[str]:
        """The projects whose shelves follow the index now: those that were used lately, and others now and then."""
        now = time.monotonic()
        return [
            project
            for project, known in self._stored.items()
            if now - self._used.get(project, now) < LATELY or now - known.at >= UNUSED
        ]

    async def _pause(self) -> None:
        """Wait until nobody searches, for a while at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PAUSE):
                await self._quiet.wait()

    def _new_enough(self, project: str, through: int, at_most: float) -> ProjectShelves | None:
        """The shelves of a project, if they are no older; those of the set before are for who cannot wait."""
        known = self._stored.get(project)
        if known is None or known.through < through or time.monotonic() - known.at >= at_most:
            return None
        return known if known.current == self.current or at_most > OLD else None

    def _begin_refresh(self, project: str, *, can_wait: bool) -> None:
        """Bring the shelves of a project up to date in the background."""
        if project in self._refreshing:
            return
        task = asyncio.create_task(self._refresh(project, can_wait=can_wait))
        self._refreshing[project] = task
        task.add_done_callback(lambda done: self._refreshed(project, done))

    async def _refresh(self, project: str, *, can_wait: bool) -> None:
        """Bring the shelves of a project up to date; what can wait waits until nobody searches."""
        if can_wait:
            await self._pause()
        await self._looked_after(project)

    def _refreshed(self, project: str, task: "asyncio.Task[object]") -> None:
        self._refreshing.pop(project, None)
        if not task.cancelled() and task.exception() is not None:
            self._forget(project)  # the next search meets the same error, and reports it

    def _forget(self, project: str) -> None:
        self._stored.pop(project, None)
        self._used.pop(project, None)

    async def _looked_after(self, project: str, through: int = 0, at_most: float = 0.0) -> ProjectShelves:
        """The shelves of a project after a look at the index. Raises `VectorsError`.

        Who waits while another looks gets what that one has found, where it is new enough.
        """
        try:
            async with self._locks.setdefault(project, asyncio.Lock()):
                if (known := self._new_enough(project, through, at_most)) is not None:
                    return known
                while (found := await self._of_one_set(project)) is None:
                    pass  # another search opened another set meanwhile
                self._stored.pop(project, None)
                self._stored[project] = found
                self._copy(project)
            while len(self._stored) > self._most:
                self._forget(min(self._stored, key=lambda one: self._used.get(one, 0.0)))
        finally:
            if project not in self._stored:
                self._used.pop(project, None)
        return found

    async def _of_one_set(self, project: str) -> ProjectShelves | None:
        """The shelves as they are now; none if another set was opened before all were filled."""
        tables, at = await self._opened(), time.monotonic()
        if tables is None:
            return ProjectShelves({}, at)
        current, stored = self.current, self._stored.get(project)
        known = stored.kinds if stored is not None and stored.current == current else {}
        position = await asyncio.to_thread(self._position)
        found: dict[Kind, StoredShelf] = {}
        try:
            for kind in KINDS:
                if kind in position.tables:
                    found[kind] = await self._shelf(project, kind, position, known.get(kind))
        except VectorsError:
            if self._tables is tables:
                raise
        return ProjectShelves(found, at, position.through, current) if self._tables is tables else None

    def _copy(self, project: str) -> None:
        """See to it that the rows of a project are copied to where they are read quickly."""
        known = self._copying.get(project)
        if not self._has_vectors or (known is not None and not known.done()):
            return
        task = self._copying[project] = asyncio.create_task(self._copied(project))

        def forget(_: "asyncio.Task[None]") -> None:
            if self._copying.get(project) is task:
                del self._copying[project]

        task.add_done_callback(forget)

    async def _copied(self, project: str) -> None:
        """Copy until nothing is left. What is not copied is read from its table: that takes longer, and is as good."""
        try:
            while project in self._stored:
                kinds = [stored for kind, stored in self._stored[project].kinds.items() if kind not in BY_NAME]
                if not sum([await copy(stored, self._quiet) for stored in kinds]):
                    return
        except VectorsError as error:
            self._log.warning("rows are not copied for search, which is slower now", project=project, reason=str(error))

    @property
    def _folder(self) -> Path:
        return folder_of(self._data) / (self.current.set if self.current else "")

    async def _opened(self) -> Tables | None:
        """The tables of the set that is searched; none if there is no index yet."""
        async with self._opening:  # who comes second waits for them, too
            current = await asyncio.to_thread(read_current, self._data)
            if current != self.current:
                tables = await Tables.open(folder_of(self._data) / current.set) if current else None
                self._replace(current, tables)
            return self._tables

    def _replace(self, current: Current | None, tables: Tables | None) -> None:
        """Search this set from now on. Shelves of the one before stay until they are filled anew; without any, none."""
        self._stop_copying()
        if self._tables is not None:
            self._tables.close()
        self.current, self._tables = current, tables
        self._live.clear()
        if current is None:
            self._stored.clear()
            self._used.clear()

    def _stop_copying(self) -> None:
        for task in self._copying.values():
            task.cancel()
        self._copying.clear()

    def close(self) -> None:
        for task in self._refreshing.values():
            task.cancel()
        self._stop_copying()
        if self._tables is not None:
            self._tables.close()
        self._tables = None
        self._live.clear()
        self._stored.clear()
        self._used.clear()

    async def _table(self, name: str) -> Table:
        if self._tables is None:
            raise ValueError("there is no index yet")
        if name not in self._live:
            self._live[name] = await self._tables.table(name)
        return self._live[name]

    async def _shelf(self, project: str, kind: Kind, position: Position, stored: StoredShelf | None) -> StoredShelf:
        """The shelf of a kind, brought up to the newest version of its table."""
        if self._tables is None:
            raise ValueError("there is no index yet")
        name, seen = position.tables[kind], position.versions.get(kind)
        if stored is not None and stored.name == name and seen is not None and seen == stored.seen:
            return stored
        try:
            version = await (await self._table(name)).version()
            if stored is not None and (stored.name, stored.version) == (name, version):
                return stored._replace(seen=seen)
            table = await self._tables.as_it_is(name)
            has_vectors = self._has_vectors and kind not in BY_NAME
            source = filling.ShelfSource(project, kind, name, version, table, seen, self._data, has_vectors)
            return await filling.filled(source, stored)
        except VectorsError:
            self._live.pop(name, None)
            raise

    @property
    def _has_vectors(self) -> bool:
        return self.current is not None and bool(self.current.dimensions)


async def copy(stored: StoredShelf, quiet: asyncio.Event) -> int:
    """Copy what is not copied yet, a few rows at a time while nobody searches; how many rows that were."""
    numbers = _missing(stored)
    for start in range(0, len(numbers), AT_ONCE):
        await quiet.wait()
        some = numbers[start : start + AT_ONCE]
        rows = await stored.table.at(stored.places[some].tolist(), columns_of(PARTS))
        ends = stored.copies.write(await asyncio.to_thread(pieces, rows, PARTS))
        stored.copies.know(some, ends)
        stored.copies.forget(some[~stored.shelf.alive[some]])
    return len(numbers)


def _missing(stored: StoredShelf) -> Places:
    """The rows that have vectors and no copy, in the order in which the table keeps them."""
    numbers = stored.numbers[~stored.copies.has(stored.numbers)]
    return numbers[~np.isin(numbers, stored.bare)]
