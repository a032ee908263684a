"""A remote model behind a breaker, so that one that fails is left alone for a while."""

import time
from collections.abc import Callable

from schemas.asks import EmbedAsk, EmbeddedText, Probed
from services.embedder.core.breaker import Breaker
from services.embedder.core.guards import BadPlace
from services.embedder.errors import Unavailable
from services.embedder.remote import RemoteFailure, RemoteModel, identity_of
from services.settings import Embed

FLOAT = 4
"""Bytes of a number in a vector."""


class Remote:
    """A remote model behind a breaker."""

    has_tokens = False

    def __init__(self, settings: Embed, clock: Callable[[], float] = time.monotonic) -> None:
        self.identity = identity_of(settings)
        self.dimensions = settings.dimensions
        self._model = RemoteModel(settings)
        self._clock = clock
        self._breaker = Breaker()

    async def embed(self, ask: EmbedAsk) -> list[EmbeddedText]:
        if not self._breaker.may_try(self._clock()):
            raise Unavailable("the model failed again and again, and is left alone for a while")
        self._breaker = self._breaker.trying()
        try:
            found = await self._model.embed(ask.texts, is_query=ask.purpose == "query")
            self._check(len(found[0].vector) // FLOAT)
        except (RemoteFailure, BadPlace) as error:
            self._breaker = self._breaker.failed(self._clock())
            raise Unavailable(str(error)) from error
        except BaseException:
            self._breaker = self._breaker.given_up()
            raise
        self._breaker = self._breaker.succeeded()
        return found

    def _check(self, dimensions: int) -> None:
        """Vectors of other lengths cannot be compared: whoever serves the model has put another in its place."""
        if self.dimensions and dimensions != self.dimensions:
            raise RemoteFailure(
                "http_error", f"the vectors have {dimensions} dimensions, and had {self.dimensions} before"
            )
        self.dimensions = dimensions

    async def probe(self) -> Probed:
        return await self._model.probe()

    async def close(self) -> None:
        await self._model.close()
