"""The work on one index: reading the log into it, filling it and keeping it, until there is another model."""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from schemas.events import Event
from services.indexer.filler import Filler, OtherModel
from services.indexer.index import Damaged, Index, Misfit, misfits
from services.indexer.sink import IndexSink, envelope_types
from services.indexer.states import States
from services.indexer.upkeep import Upkeep
from services.kit.background import watched
from services.kit.embed import embedded
from services.kit.index_place import Current, read_current, set_name, write_current
from services.kit.projector import CommitPace, Projector
from services.kit.room import Kit
from services.kit.vectors import give_back
from services.kit.within import cut_off

PROMPT = 15.0
"""Seconds that the embedder has to say which model it has, before the index begins without it."""
ASKED = 0.3
LATER = 30.0
LEAST_PAUSE = 0.1
"""Seconds from a fact to its writing, however little that costs: what belongs together mostly comes together."""
POLL = 0.1


class IndexWork:
    """Everything that goes on about one index."""

    def __init__(self, kit: Kit, reads: tuple[type[Event], ...], repairs: Sequence[Misfit] = ()) -> None:
        """`repairs`: rows that the work before has found to be wrong, of the same index. They are made anew first."""
        self._kit = msgspec.structs.replace(kit, stack=AsyncExitStack())
        self._reads = reads
        self._repairs = repairs
        self.misfits: Sequence[Misfit] = ()
        """Rows that were found to be wrong: the work begins anew with them."""
        self._tasks: list[asyncio.Task[None]] = []
        self.is_over = asyncio.Event()
        """Set when the embedder has another model: the work begins anew, on that one's index."""

    async def open(self, patience: float) -> None:
        kit, data = self._kit, self._kit.settings.data
        known = await asyncio.to_thread(read_current, data)
        wanted = await self._wanted(known, patience)
        self.index = await Index.open(data, wanted)
        self._kit.stack.callback(self.index.close)
        await self.index.compare(kit.reader)
        self.states = States(kit)
        self.sink = IndexSink(self.index, self.states, envelope_types(self._reads), self._damaged)
        limits = kit.settings.index
        self.upkeep = Upkeep(data, self.index, limits, kit.log)
        pace = CommitPace(limits.batch, limits.linger, limits.rest, shortest=LEAST_PAUSE)
        filters = [f"log.*.*.*.{event.TYPE}" for event in self._reads]
        self.projector = Projector(kit, self.sink, kit.room, pace, filters=filters)
        self.filler = Filler(kit, self.index, lambda: self.projector.quiet)
        head = await kit.reader.head()
        is_first = known is None or known.set == wanted.set
        if is_first:
            await asyncio.to_thread(write_current, data, wanted)
        else:
            self._begin(self._swap_at(head))
        if self._repairs:
            await self.sink.make_anew(self._repairs)
        await self.projector.open()
        self._begin(self._maintain())
        self._begin(self._verified())
        self._begin(self._filled() if wanted.dimensions else self._awaited())
        await asyncio.to_thread(give_back)

    async def close(self) -> None:
        grace = self._kit.settings.loop.grace
        await asyncio.gather(*(cut_off(task, grace) for task in self._tasks))  # what failed has been reported
        await self._kit.stack.aclose()  # the index last

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(watched(self._kit, work))

    async def _wanted(self, known: Current | None, patience: float) -> Current:
        """The set of the model that the embedder has. Where it does not say, the one that there is goes on."""
        if self._kit.settings.embed.provider == "off":
            return Current(set_name())
        try:
            async with asyncio.timeout(patience):
                while True:
                    found = await self._model()
                    if found is not None:
                        return found
                    await asyncio.sleep(ASKED)
        except TimeoutError:
            return known or Current(set_name())

    async def _model(self) -> Current | None:
        reply = await embedded(self._kit.bus, [])
        if reply.model and not reply.dimensions:  # a remote one knows its length when it was asked once
            reply = await embedded(self._kit.bus, ["annals"])
        if not (reply.model and reply.dimensions):
            return None
        return Current(set_name(reply.model), reply.model, reply.dimensions)

    async def _swap_at(self, head: int) -> None:
        """Let the new set be searched as soon as it has all that the log had when it was begun."""
        while self.index.committed < head:  # noqa: ASYNC110 - once in a set's life
            await asyncio.sleep(POLL)
        await asyncio.to_thread(write_current, self._kit.settings.data, self.index.current)
        self._kit.log.info("another index is searched now", set=self.index.current.set)

    async def _maintain(self) -> None:
        try:
            await self.upkeep.run()
        except Damaged as damage:
            self._damaged(damage)

    async def _verified(self) -> None:
        """Look once through all rows. Where some that were made anew are wrong again, all of the index is made anew."""
        try:
            found = await misfits(self.index)
        except Damaged as damage:
            self._damaged(damage)
            return
        if found and self._repairs:
            self._damaged(Damaged(f"{len(found)} rows are wrong again after they were made anew"))
        elif found:
            self._kit.log.error("rows of the index are not what was written, they are made anew", rows=len(found))
            self.misfits = found
            self.is_over.set()

    def _damaged(self, damage: Damaged) -> None:
        """Have the index made anew from the log."""
        self._kit.log.error("the index is damaged, it is made anew", reason=str(damage))
        self._begin(self._made_anew())

    async def _made_anew(self) -> None:
        await self.index.forget()
        self.is_over.set()

    async def _filled(self) -> None:
        try:
            await self.filler.run()
        except OtherModel as error:
            self._kit.log.info("the embedder has another model now", model=str(error))
            self.is_over.set()

    async def _awaited(self) -> None:
        """Without vectors: look now and then whether there is a model by now."""
        if self._kit.settings.embed.provider == "off":
            return
        while await self._model() is None:  # noqa: ASYNC110 - nothing notifies us that the embedder has come
            await asyncio.sleep(LATER)
        self.is_over.set()
