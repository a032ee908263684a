"""Asks a chain of models: tries, one repair, the next model, within a deadline and a budget."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from services import settings
from services.domain.questions.question import (
    Attempt,
    Budget,
    BudgetExhausted,
    Code,
    ModelAnswer,
    ModelFailed,
    ModelQuestion,
    Outcome,
    Step,
)
from services.domain.questions.reading import Unfit, bare, read, repair
from services.kit.model.calls import Client, Completion, ModelFailure, clean
from services.kit.model.chain import MARGIN, ModelEndpoint, estimate

T = TypeVar("T", bound=msgspec.Struct)
OnAttempt = Callable[[Attempt], Awaitable[None]]

CODES: Mapping[Outcome, Code] = {
    "invalid": "invalid_output",
    "transient": "provider_transient",
    "refused": "provider_auth",
    "overflow": "overflow",
    "timeout": "timeout",
    "away": "provider_away",
}
PASSING = frozenset({"transient", "timeout"})


class _Result(msgspec.Struct, Generic[T], frozen=True):
    """The result of one call."""

    outcome: Outcome
    detail: str = ""
    """The fault in full, as the repair needs it."""
    text: str = ""
    value: T | None = None


class Asking(Generic[T]):
    """One question on its way."""

    def __init__(
        self,
        question: ModelQuestion[T],
        client: Client,
        model: settings.Model,
        pauses: Sequence[tuple[float, float]],
        budget: Budget | None,
        on_attempt: OnAttempt | None,
    ) -> None:
        self._question = question
        self._client = client
        self._timeout = model.timeout
        self._deadline = time.monotonic() + min(question.seconds or model.deadline, model.deadline)
        self._pauses = pauses
        self._budget = budget
        self._on_attempt = on_attempt
        self._attempts: list[Attempt] = []
        self._may_repair = question.repairs

    async def through(self, endpoints: Sequence[ModelEndpoint]) -> ModelAnswer[T]:
        size = estimate(self._question.system, self._question.prompt)
        most = max(endpoint.room for endpoint in endpoints)
        if size > most:
            raise ModelFailed("window_too_small", f"the prompt has about {size} tokens; the models take {most}")
        failed = _Result[T]("invalid")
        for number, endpoint in enumerate(endpoints):
            if size > endpoint.room:
                continue
            result = await self._with(endpoint, "fallback" if number else "summary")
            if result.value is not None:
                return ModelAnswer(result.value, self._attempts[-1].model, tuple(self._attempts))
            failed = result
            if failed.outcome == "overflow":
                break
        raise self._failure(CODES[failed.outcome], self._attempts[-1].detail)

    async def _with(self, endpoint: ModelEndpoint, step: Step) -> _Result[T]:
        """Ask one model, and once more if it can mend its answer."""
        result = await self._tries(endpoint, self._question.prompt, step)
        if result.outcome != "invalid" or not self._may_repair:
            return result
        prompt = repair(self._question.prompt, result.text, result.detail)
        if estimate(self._question.system, prompt) > endpoint.room:
            return result
        self._may_repair = False
        return await self._tries(endpoint, prompt, "repair")

    async def _tries(self, endpoint: ModelEndpoint, prompt: str, step: Step) -> _Result[T]:
        result = await self._once(endpoint, prompt, step)
        for shortest, longest in self._pauses:
            if result.outcome not in PASSING:
                break
            pause = random.uniform(shortest, longest)  # noqa: S311 - no secret, only not all at once
            if pause >= self._left():
                break
            await asyncio.sleep(pause)
            result = await self._once(endpoint, prompt, step)
        return result

    async def _once(self, endpoint: ModelEndpoint, prompt: str, step: Step) -> _Result[T]:
        if self._left() <= 0:
            raise self._failure("timeout", "the deadline for the question is over")
        output = min(self._question.output or endpoint.output, endpoint.output)
        before = estimate(self._question.system, prompt)
        reservation = await self._reserve(endpoint, int(before * MARGIN), output)
        seconds = max(0.0, min(self._timeout, self._left()))
        began = time.monotonic()
        try:
            completion = await self._client.ask(endpoint, self._question.system, prompt, output=output, seconds=seconds)
        except asyncio.CancelledError:
            await self._record(Attempt(endpoint.name, step, "cancelled", seconds=time.monotonic() - began))
            raise
        took = time.monotonic() - began
        if isinstance(completion, ModelFailure):
            attempt = _failed(endpoint, step, completion, took)
            if not completion.spent:
                await self._settle(reservation, attempt)
            await self._record(attempt)
            return _Result(completion.outcome, completion.detail)
        result = self._read(completion, output)
        attempt = _attempt(endpoint, step, completion, result, before, took)
        await self._settle(
            reservation, replace(attempt, tokens_in=0, tokens_out=0, usd=0.0) if completion.is_paid else attempt
        )
        await self._record(attempt)
        return result

    def _read(self, completion: Completion, output: int) -> _Result[T]:
        try:
            value = read(completion.text, self._question.shape, self._question.check)
        except Unfit as error:
            cut = f"The answer was cut off, as it may have {output} tokens; be shorter. " if completion.cut else ""
            return _Result("invalid", f"{cut}{error}", bare(completion.text))
        return _Result("ok", value=value)

    async def _reserve(self, endpoint: ModelEndpoint, tokens_in: int, output: int) -> str:
        if self._budget is None:
            return ""
        try:
            return await self._budget.reserve(tokens_in + output, endpoint.usd(tokens_in, output, 0))
        except BudgetExhausted as error:
            raise self._failure("budget_exhausted", str(error)) from None

    async def _settle(self, reservation: str, attempt: Attempt) -> None:
        if self._budget is not None:
            await self._budget.settle(reservation, attempt.tokens_in + attempt.tokens_out, attempt.usd)

    async def _record(self, attempt: Attempt) -> None:
        self._attempts.append(attempt)
        if self._on_attempt is not None:
            await self._on_attempt(attempt)

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _failure(self, code: Code, detail: str) -> ModelFailed:
        return ModelFailed(code, detail, self._attempts)


def _failed(endpoint: ModelEndpoint, step: Step, failed: ModelFailure, seconds: float) -> Attempt:
    return Attempt(
        failed.model or endpoint.name,
        step,
        failed.outcome,
        failed.detail,
        failed.tokens_in,
        failed.tokens_out,
        failed.cached,
        failed.usd,
        seconds,
    )


def _attempt(
    endpoint: ModelEndpoint, step: Step, completion: Completion, result: _Result[T], before: int, seconds: float
) -> Attempt:
    tokens_in = completion.tokens_in or before
    tokens_out = completion.tokens_out or estimate(completion.text)
    usd = endpoint.usd(tokens_in, tokens_out, completion.cached) if completion.usd is None else completion.usd
    detail = clean(result.detail, endpoint.key)  # it may quote the answer
    name = completion.model or endpoint.name
    return Attempt(name, step, result.outcome, detail, tokens_in, tokens_out, completion.cached, usd, seconds)
