"""The searcher's wiring: questions in, hits out."""

import asyncio
import time
from typing import ClassVar

import msgspec

from schemas.asks import Hits, SearchAsk
from schemas.codec import encode
from schemas.events import Event
from services.kit import metrics
from services.kit.embed import embedded
from services.kit.room import Kit
from services.searcher.answering import Searching
from services.searcher.asker import Refused, asker
from services.searcher.store import Store

ATTEMPTS, PAUSE = 20, 1.0
"""How often, and after how many seconds, the embedder is asked that starts at the same time."""


class Searcher:
    """Finds what bears on a few words in all that the index holds of a project."""

    NAME: ClassVar[str] = "searcher"
    READS: ClassVar[tuple[type[Event], ...]] = ()
    WRITES: ClassVar[tuple[type[Event], ...]] = ()

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        self._store = Store(kit.settings.data, kit.settings.search.projects, kit.log)
        kit.stack.callback(self._store.close)
        self._searching = Searching(kit, self._store)
        self._decoder = msgspec.json.Decoder(SearchAsk)
        self._in_hand = 0
        warming = asyncio.create_task(self._warm())
        kit.stack.callback(warming.cancel)
        await kit.bus.serve(f"ask.{SearchAsk.NAME}.*", kit.room, self._handle)

    async def _warm(self) -> None:
        """Where there is something to search, have ready what the first question would have to wait for."""
        await self._store.warm()
        for _ in range(ATTEMPTS if self._store.expects_vectors else 0):
            if not (await embedded(self._kit.bus, (self.NAME,), "query", tokens=False)).error:
                return
            await asyncio.sleep(PAUSE)

    async def idle(self) -> bool:
        return not self._in_hand and not self._store.is_busy

    def health(self) -> dict[str, object]:
        """Where nothing is indexed it still answers, and says so."""
        store = self._store
        return {"ok": True, "rows": store.rows, "copied": store.copied, "read_through": store.through}

    async def _handle(self, subject: str, data: bytes) -> bytes:
        began = time.monotonic()
        self._in_hand += 1
        try:
            reply = await self._answer(subject, data)
        finally:
            self._in_hand -= 1
        status = "error" if reply.error else "ok"
        metrics.ASKS.labels(SearchAsk.NAME, status).observe(time.monotonic() - began)
        return encode(reply)

    async def _answer(self, subject: str, data: bytes) -> Hits:
        try:
            ask = self._decoder.decode(data)
            return await self._searching.answer(asker(subject, ask), ask)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            return Hits(error=f"not a question for {subject}: {error}; see asks.schema.json")
        except Refused as error:
            return Hits(error=f"Not searched: {error}.")
        except Exception as error:
            self._kit.log.exception("a search failed", subject=subject)
            return Hits(error=f"the search failed: {type(error).__name__}: {error}")
