"""The embedder's wiring: texts of all rooms in, vectors out."""

from typing import ClassVar

import msgspec

from schemas.asks import EmbedAsk, Embedded, ProbeAsk, Probed
from schemas.events import Event
from services.embedder.sources import Unavailable, VectorSource, source_of
from services.kit.asks import AskHandler
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
        self._source: VectorSource = source_of(kit.settings.embed, kit.settings.data / "models")
        kit.stack.push_async_callback(self._source.close)
        self._failure = ""
        self._embedding = AskHandler(kit, EmbedAsk, self._embedded, self._failed)
        self._probing = AskHandler(kit, ProbeAsk, self._probed, lambda reason: Probed("invalid_question", reason))
        await self._embedding.open()
        await self._probing.open()

    async def idle(self) -> bool:
        return not self._embedding.in_hand and not self._probing.in_hand

    def health(self) -> dict[str, object]:
        """It does its work also where there are no vectors: search says so."""
        return {"ok": True, "model": self._source.identity, "failure": self._failure}

    async def _embedded(self, ask: EmbedAsk) -> Embedded:
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

    def _failed(self, reason: str) -> Embedded:
        return self._reply(error=reason)

    def _reply(self, error: str = "") -> Embedded:
        source = self._source
        return Embedded(source.identity, source.dimensions, source.has_tokens, error=error)

    async def _probed(self, _: ProbeAsk) -> Probed:
        return await self._source.probe()
