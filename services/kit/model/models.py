"""The models of an installation: nothing of them is loaded, and nobody is called, before the first question."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from services import settings
from services.domain.questions.question import Answer, Budget, ModelFailed, Question
from services.kit.model.asking import Asking, OnAttempt
from services.kit.model.calls import Client, load, priced
from services.kit.model.chain import Endpoint, chain

T = TypeVar("T", bound=msgspec.Struct)

PAUSES = ((2.0, 3.0), (6.0, 8.0))
"""Seconds before the second and the third try, somewhere between the two: what passes by itself gets three tries."""


class Models:
    """The chain of an installation's settings. Nothing is loaded and nobody is called before the first question."""

    def __init__(
        self,
        model: settings.Model,
        *,
        environment: Mapping[str, str] = os.environ,
        pauses: Sequence[tuple[float, float]] = PAUSES,
    ) -> None:
        self._settings = model
        self._chain = chain(model, environment)
        self._pauses = tuple(pauses)
        self._client: Client | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The models of the chain; none: there is nobody to ask."""
        return tuple(endpoint.name for endpoint in self._chain)

    @property
    def room(self) -> int:
        """The most tokens, by `estimate`, of a prompt that every model of the chain takes; 0 without a chain."""
        return min((endpoint.room for endpoint in self._chain), default=0)

    async def ask(
        self, question: Question[T], *, budget: Budget | None, on_attempt: OnAttempt | None = None
    ) -> Answer[T]:
        """Ask until a model gives what was asked for, or raise `ModelFailed`.

        Each call is paid from `budget`, and handed to `on_attempt` when it is over, also one that was cancelled. What
        these two raise is not caught. Of one model, what passes by itself is tried three times; what is wrong with an
        answer is explained to the model once per question; a prompt that is too long for a provider ends the question.
        """
        if not self._chain:
            raise ModelFailed("provider_auth", "no model is set; name one in ANNALS_MODEL__CHAIN")
        if self._client is None:
            client, endpoints = await asyncio.to_thread(self._load)
            if self._client is None:
                self._client, self._chain = client, endpoints
        asking = Asking(question, self._client, self._settings, self._pauses, budget, on_attempt)
        return await asking.through(self._chain)

    def _load(self) -> tuple[Client, tuple[Endpoint, ...]]:
        return load(self._settings.temperature), priced(self._chain)

    async def close(self) -> None:
        """Hang up."""
        if self._client is not None:
            await self._client.close()
