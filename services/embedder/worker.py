"""The embedder's wiring: texts of all rooms in, vectors out."""

import time
from collections.abc import Awaitable, Callable
from typing import ClassVar

import msgspec

from schemas.asks import EmbedAsk, Embedded, ProbeAsk, Probed
from schemas.codec import encode
from schemas.events import Event
from services.embedder.errors import Unavailable
from services.embedder.sources import Source, source_of
from services.kit import metrics
from services.kit.room import Kit

MOST_TEXTS = 32
"""Of one question: more would not fit into one answer."""


class Embedder:
    """Makes vectors of texts, for every room that asks."""

    NAME: ClassVar[str] = "embedder"
    READS: ClassVar[tuple[type[Event], ...]] = ()
    WRITES: ClassVar[tuple[type[Event], ...]] = ()

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        self._source: Source = source_of(kit.settings.embed, kit.settings.data / "models")
        kit.stack.push_async_callback(self._source.close)
        self._in_hand = 0
        self._failure = ""
        await kit.bus.serve(f"ask.{EmbedAsk.NAME}.*", kit.room, self._served(EmbedAsk.NAME, self._embedded))
        await kit.bus.serve(f"ask.{ProbeAsk.NAME}.*", kit.room, self._served(ProbeAsk.NAME, self._probed))

    async def idle(self) -> bool:
        return not self._in_hand

    def health(self) -> dict[str, object]:
        """It does its work also where there are no vectors: search says so."""
        return {"ok": True, "model": self._source.identity, "failure": self._failure}

    def _served(
        self, name: str, answer: Callable[[bytes], Awaitable[Embedded | Probed]]
    ) -> Callable[[str, bytes], Awaitable[bytes]]:
        async def handle(_: str, data: bytes) -> bytes:
            began = time.monotonic()
            self._in_hand += 1
            try:
                reply = await answer(data)
            finally:
                self._in_hand -= 1
            status = "error" if getattr(reply, "error", "") else "ok"
            metrics.ASKS.labels(name, status).observe(time.monotonic() - began)
            return encode(reply)

        return handle

    async def _embedded(self, data: bytes) -> Embedded:
        try:
            ask = msgspec.json.decode(data, type=EmbedAsk)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            return self._reply(error=f"not a question for ask.embed: {error}; see asks.schema.json")
        if len(ask.texts) > MOST_TEXTS:
            return self._reply(error=f"{len(ask.texts)} texts at once: send at most {MOST_TEXTS}")
        if not ask.texts:
            return self._reply()
        try:
            texts = tuple(await self._source.embed(ask))
        except Unavailable as error:
            self._failure = str(error)
            return self._reply(error=self._failure)
        except Exception as error:
            self._kit.log.exception("texts got no vectors")
            self._failure = f"{type(error).__name__}: {error}"
            return self._reply(error=self._failure)
        self._failure = ""
        return msgspec.structs.replace(self._reply(), texts=texts)

    def _reply(self, error: str = "") -> Embedded:
        source = self._source
        return Embedded(source.identity, source.dimensions, source.has_tokens, error=error)

    async def _probed(self, _: bytes) -> Probed:
        return await self._source.probe()
