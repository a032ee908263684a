"""Keeping an index quick and small, and what was taken away off the disk. Nobody writes while that is done."""

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from services.indexer.build import built
from services.indexer.index import Index
from services.indexer.tables import TABLES, VECTORS
from services.kit.index_place import Current, read_position
from services.kit.logs import Logger
from services.kit.vectors import VectorsError, give_back
from services.settings import Index as Limits

LOOK = 1.0
GROWN = 1.5
"""A vector index is built anew when there are so many times more rows than when it was built."""
SMALL = 5_000
"""Rows that are copied anew at any rest; a larger table is copied once in a while."""
WHILE = 3_600.0


class Upkeep:
    """What is done between writes, and at rest."""

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
        self.failure = ""

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            await self.look()

    async def look(self) -> None:
        """Do what is due."""
        index, now = self._index, self._clock()
        if index.changed != self._seen:
            self._seen, self._since = index.changed, now
        is_resting = now - self._since >= self._limits.rest
        is_due = index.changed >= self._limits.tidy_rows or (is_resting and index.changed)
        try:
            if is_due:
                await self.tidy()
            if is_resting and index.position.removed:
                await self.erase(now)
            self.failure = ""
        except VectorsError as error:
            self.failure = f"{type(error).__name__}: {error}"
            self._log.warning("the index could not be tidied", reason=self.failure)
            self._since = now

    async def tidy(self) -> None:
        """Join what was written piece by piece, and see to the indexes."""
        index = self._index
        async with index.writing:
            done, index.changed, self._seen = index.changed, 0, 0
            try:
                for kind in TABLES:
                    await index.table(kind).tidy()
                    await self._indexed(kind)
            except BaseException:
                index.changed += done
                raise
            finally:
                await index.settle()
            await index.check()
        await asyncio.to_thread(give_back)

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

    async def _elsewhere(self, kind: str, kept: Mapping[str, str]) -> None:
        """Take what is gone from the sets of other models, too: nobody searches them, and they are on the disk.

        What says something else by now may quote what is gone. Their position is behind that: they read it again.
        """
        for folder in sorted(self._index.folder.parent.iterdir()):
            if folder == self._index.folder or not folder.is_dir():
                continue
            position = read_position(folder)
            if kind not in position.tables:  # an index of before has fewer kinds
                continue
            other = await Index.open(self._data, Current(folder.name, folder.name, position.dimensions))
            stale = {name for name, said in (await other.hashes(kind)).items() if kept.get(name) != said}
            await other.drop({kind: stale})
            other.close()
