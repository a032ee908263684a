"""Sources of vectors: a model on this machine, a remote one, or none."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from schemas.asks import EmbedAsk, EmbeddedText, Probed
from services.embedder.convert import DIMENSIONS, FOLDER, NoModel
from services.embedder.core.breaker import Breaker
from services.embedder.core.guards import BadPlace
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


class Unavailable(RuntimeError):
    """There are no vectors now; says why."""


if TYPE_CHECKING:  # only who uses it pays for the libraries that it brings
    from services.embedder.local import LocalModel

PATIENCE = 10
"""The factor by which texts that nobody waits for get less of the machine."""


class VectorSource(Protocol):
    """A source of vectors."""

    identity: str
    dimensions: int
    has_tokens: bool

    async def embed(self, ask: EmbedAsk) -> list[EmbeddedText]:
        """The vectors of these texts, in their order. Raises `Unavailable`."""

    async def probe(self) -> Probed:
        """Whether it can."""

    async def close(self) -> None:
        """Give back what it holds."""


class Off:
    """No model: search goes by words alone."""

    identity, dimensions, has_tokens = "", 0, False

    async def embed(self, ask: EmbedAsk) -> list[EmbeddedText]:
        raise Unavailable(f"{len(ask.texts)} texts get no vectors: they are turned off (ANNALS_EMBED__PROVIDER)")

    async def probe(self) -> Probed:
        return Probed("off", "vectors are turned off (ANNALS_EMBED__PROVIDER)")

    async def close(self) -> None:
        """There is nothing to give back."""


class Local:
    """The model of this machine, which is loaded when it is first asked."""

    identity, dimensions, has_tokens = FOLDER, DIMENSIONS, True

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._model: LocalModel | None = None
        self._loading = threading.Lock()
        self._urgent = ThreadPoolExecutor(1, thread_name_prefix="queries")
        self._patient = ThreadPoolExecutor(1, thread_name_prefix="texts", initializer=_step_back)

    async def embed(self, ask: EmbedAsk) -> list[EmbeddedText]:
        """A query has a thread of its own, so that it does not wait for texts."""
        is_query = ask.purpose == "query"

        def work() -> list[EmbeddedText]:
            return self._loaded().embed(ask.texts, tokens=ask.tokens, pieces=is_query)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._urgent if is_query else self._patient, work)
        except (NoModel, OSError, RuntimeError) as error:
            raise Unavailable(str(error)) from error

    async def probe(self) -> Probed:
        try:
            await self.embed(EmbedAsk(texts=("annals",), purpose="query"))
        except Unavailable as error:
            return Probed("no_model", str(error))
        return Probed("ok", model=self.identity, dimensions=self.dimensions)

    async def close(self) -> None:
        for thread in (self._urgent, self._patient):
            thread.shutdown(cancel_futures=True)

    def _loaded(self) -> "LocalModel":
        with self._loading:
            if self._model is None:
                from services.embedder.local import LocalModel  # noqa: PLC0415

                self._model = LocalModel(self._cache)
            return self._model


def source_of(settings: Embed, cache: Path) -> VectorSource:
    """The source that these settings ask for."""
    if settings.provider == "off":
        return Off()
    if settings.provider == "local":
        return Local(cache)
    from services.embedder.sources import Remote  # noqa: PLC0415 - only who asks a remote model pays for its client

    return Remote(settings)


def _step_back() -> None:
    """Let the thread yield to all others, where the system can do that for one thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PATIENCE)
