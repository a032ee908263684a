"""Keeping an index quick and small, and what was taken away off the disk. Nobody writes while that is done."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import NamedTuple

from services.indexer.build import built
from services.indexer.index import Index
from services.indexer.tables import TABLES, VECTORS
from services.kit.index_place import Current, read_position
from services.kit.logs import Logger
from services.kit.surroundings import reason_of
from services.kit.vectors import VectorsError, give_back
from services.settings import IndexSettings as Limits

LOOK = 1.0
SMALL = 5_000
"""Rows that are copied anew at any rest; a larger table is copied once in a while."""
WHILE = 3_600.0
NEW_ROWS = 0.25
"""The share of a table's rows from which on new ones are joined with it: to join is to write all of it anew."""
PIECES = 256
"""Pieces that are joined however few rows they have: a version lists them all."""
GRACE = 30.0
"""Seconds for which those who read a version may go on when another has taken its place. A search takes less."""
ALL = timedelta(days=3_650)


def is_due(changed: int, pieces: int, rows: int, limits: Limits) -> bool:
    """Whether an index with so many rows is to be tidied, of which so many were written in so many pieces since then.

    What is new makes search slow and is as large as what was there; but the more rows a table has, the more it costs.
    """
    return pieces >= PIECES or changed >= max(limits.tidy_rows, min(NEW_ROWS * rows, limits.index_rows))


class Tidying(NamedTuple):
    """A version in which all was joined, and that took the place of those before it. Seconds of one clock."""

    ended: float
    replaced: float = inf
    """When it was first seen that another version had taken its place in turn."""

    def is_over(self, now: float) -> bool:
        """Whether nobody reads what is older than its end any more, nor itself where it is not the newest."""
        return now - self.ended >= GRACE and (self.replaced == inf or now - self.replaced >= GRACE)


class OldVersions:
    """The versions of a table that nobody reads any more.

    A version is old when another took its place long ago, however old it is itself: of a table that nobody wrote to for
    a day, those who search read a version of yesterday until a moment ago.
    """

    def __init__(self) -> None:
        self._tidied: list[Tidying] = []

    def written(self, now: float) -> None:
        """Something was written into the table since it was tidied."""
        self._tidied = [one._replace(replaced=min(one.replaced, now)) for one in self._tidied]

    def age(self, now: float) -> timedelta:
        """Versions that are older than this are not read any more."""
        ended = [one.ended for one in self._tidied if one.is_over(now)]
        return timedelta(seconds=now - ended[-1]) if ended else ALL

    def dropped(self, now: float) -> None:
        """Forget the versions that were old at this moment: they are deleted."""
        self._tidied = [one for one in self._tidied if not one.is_over(now)]

    def tidied(self, now: float) -> None:
        """All was joined into a version of its own."""
        self._tidied.append(Tidying(now))


class Upkeep:
    """The upkeep of tables, between writes and at rest."""

    def __init__(
        self, data: Path, index: Index, limits: Limits, log: Logger, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._data = data
        self._index = index
        self._limits = limits
        self._log = log
        self._clock = clock
        self._seen = 0
        self._since = clock()
        self._copied: dict[str, float] = {}
        self._rows = 0
        """Of all tables, when they were tidied last."""
        self._old: defaultdict[str, OldVersions] = defaultdict(OldVersions)
        self.failure = ""

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            await self.look()

    async def look(self) -> None:
        """Do what is due."""
        index, now = self._index, self._clock()
        for kind in +index.pieces:
            self._old[kind].written(now)
        if index.changed != self._seen:
            self._seen, self._since = index.changed, now
        is_resting = now - self._since >= self._limits.rest
        is_new = is_resting and index.changed
        is_old = is_resting and any(old.age(now) < ALL for old in self._old.values())
        try:
            if is_new or is_old or is_due(index.changed, index.pieces.total(), self._rows, self._limits):
                await self.tidy()
            if is_resting and index.position.removed:
                await self.erase(now)
            self.failure = ""
        except VectorsError as error:
            self.failure = reason_of(error)
            self._log.warning("the index could not be tidied", reason=self.failure)
            self._since = now

    async def tidy(self) -> None:
        """Join what was written piece by piece, and see to the indexes."""
        index = self._index
        async with index.writing:
            done, index.changed, self._seen = index.changed, 0, 0
            pieces, index.pieces = index.pieces, Counter()
            try:
                for kind in TABLES:
                    await self._joined(kind)
                    await self._indexed(kind)
                self._rows = sum([await index.table(kind).count() for kind in TABLES])
            except BaseException:
                index.changed += done
                index.pieces += pieces
                raise
            finally:
                await index.settle()
            await index.check()
        await asyncio.to_thread(give_back)

    async def _joined(self, kind: str) -> None:
        """Join the files of a table, and drop its versions that nobody reads any more."""
        table, old, now = self._index.table(kind), self._old[kind], self._clock()
        before = await table.version()
        await table.tidy(retention=old.age(now))
        ended = self._clock()  # versions are compared by the time: nobody writes for a few milliseconds around it
        old.dropped(now)
        if await table.version() != before:
            old.tidied(ended)

    async def _indexed(self, kind: str) -> None:
        """Build what indexes a table has become large enough for."""
        index = self._index
        table = index.table(kind)
        rows = await table.count()
        if rows < self._limits.index_rows:
            return
        there = await table.indexes()
        wanted = ("key", *(VECTORS if index.dimensions(kind) else ()))
        for column in wanted:
            if column in there or (column in VECTORS and not await self._is_filled(kind, column)):
                continue
            if not await built(index.folder, index.position.tables[kind], column):
                self._log.warning("an index could not be built", table=kind, column=column)

    async def _is_filled(self, kind: str, column: str) -> bool:
        """Whether there are vectors enough to build an index from."""
        return await self._index.table(kind).count(f"{column} is not null") >= self._limits.index_rows

    async def erase(self, now: float, *, at_once: bool = False) -> None:
        """Copy tables anew from which rows were taken away, so that no byte of these is left on the disk."""
        index = self._index
        for kind in tuple(index.position.removed):
            is_small = await index.table(kind).count() <= SMALL
            if not (at_once or is_small or now - self._copied.get(kind, now - WHILE) >= WHILE):
                continue
            await self._elsewhere(kind, await index.hashes(kind))
            async with index.writing:
                await index.copy(kind)
                self._copied[kind] = now
                await self._indexed(kind)

    async def _elsewhere(self, kind: str, current: Mapping[str, str]) -> None:
        """Take what is gone from the sets of other models, too: nobody searches them, and they are on the disk.

        What says something else by now may quote what is gone. Their position is behind that: they read it again.
        """
        for folder in sorted(self._index.folder.parent.iterdir()):
            if folder == self._index.folder or not folder.is_dir():
                continue
            position = read_position(folder)
            if kind not in position.tables:  # an index of before has fewer kinds
                continue
            with closing(await Index.open(self._data, Current(folder.name, folder.name, position.dimensions))) as other:
                stale = {name for name, digest in (await other.hashes(kind)).items() if current.get(name) != digest}
                await other.drop({kind: stale})
