"""Sources of vectors: a model on this machine, a remote one, or none."""

import asyncio
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from schemas.asks import EmbedAsk, EmbeddedText, Probed
from services.embedder.convert import DIMENSIONS, FOLDER, NoModel
from services.embedder.errors import Unavailable
from services.settings import Embed

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
    from services.embedder.breaking import Remote  # noqa: PLC0415 - only who asks a remote model pays for its client

    return Remote(settings)


def _step_back() -> None:
    """Let the thread yield to all others, where the system can do that for one thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PATIENCE)
