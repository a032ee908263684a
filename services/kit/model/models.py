"""The models of an installation: nothing of them is loaded, and nobody is called, before the first question."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from schemas.subjects import Address
from services import settings
from services.domain.questions.question import Budget, ModelAnswer, ModelFailed, ModelQuestion
from services.kit.model.asking import Asking, OnAttempt
from services.kit.model.calls import Client, Completion, ModelFailure, load, priced
from services.kit.model.chain import ModelEndpoint, chain
from services.kit.model.harness import HarnessQuestions

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
        harness: HarnessQuestions | None = None,
    ) -> None:
        """`harness`: how the room asks the harnesses of a project; without, those of the chain count as away."""
        self._settings = model
        self._chain = chain(model, environment)
        self._pauses = tuple(pauses)
        self._harness = harness
        self._client: Client | None = None
        self._is_loaded = False

    @property
    def names(self) -> tuple[str, ...]:
        """The models of the chain; none: there is nobody to ask."""
        return tuple(endpoint.name for endpoint in self._chain)

    @property
    def room(self) -> int:
        """The most tokens, by `estimate`, of a prompt that every model of the chain takes; 0 without a chain."""
        return min((endpoint.room for endpoint in self._chain), default=0)

    async def ask(
        self, question: ModelQuestion[T], *, budget: Budget | None, on_attempt: OnAttempt | None = None
    ) -> ModelAnswer[T]:
        """Ask until a model gives what was asked for, or raise `ModelFailed`.

        Each call is paid from `budget`, and handed to `on_attempt` when it is over, also one that was cancelled. What
        these two raise is not caught. Of one model, what passes by itself is tried three times; what is wrong with an
        answer is explained to the model once per question; a prompt that is too long for a provider ends the question.
        """
        if not self._chain:
            raise ModelFailed("provider_auth", "no model is set; name one in ANNALS_MODEL__CHAIN")
        if not self._is_loaded:
            remote, endpoints = await asyncio.to_thread(self._load)
            if not self._is_loaded:
                self._client, self._chain, self._is_loaded = remote, endpoints, True
        client = ClientByKind(self._client, self._harness, question.address)
        asking = Asking(question, client, self._settings, self._pauses, budget, on_attempt)
        return await asking.through(self._chain)

    def _load(self) -> tuple[Client | None, tuple[ModelEndpoint, ...]]:
        is_needed = not all(endpoint.is_of_harness for endpoint in self._chain)
        return load(self._settings.temperature) if is_needed else None, priced(self._chain)

    async def close(self) -> None:
        """Hang up."""
        if self._client is not None:
            await self._client.close()


class ClientByKind:
    """Asks each model of a chain by the client of its kind, for one question."""

    def __init__(self, remote: Client | None, harness: HarnessQuestions | None, address: Address) -> None:
        self._remote = remote
        self._harness = harness.client(address) if harness is not None and address.project else None

    async def ask(
        self, endpoint: ModelEndpoint, system: str, prompt: str, *, output: int, seconds: float
    ) -> Completion | ModelFailure:
        client = self._harness if endpoint.is_of_harness else self._remote
        if client is None:
            return ModelFailure("away", f"{endpoint.name} is not asked: this question belongs to no project")
        return await client.ask(endpoint, system, prompt, output=output, seconds=seconds)

    async def close(self) -> None:
        """The clients stay open for other questions."""
