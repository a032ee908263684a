"""What tests of models share: a scripted provider, a question, and what was paid for it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from pydantic import SecretStr

from services.kit.model import Attempt, BudgetExhausted, ModelFailed, ModelQuestion, Models
from services.settings import Model, ProviderSettings
from tests.harness.provider import Answer, Script
from tests.harness.provider import Provider as Server
from tests.harness.provider.content import Format

KEY = "a-key-of-no-known-shape-4711"
AT_ONCE = ((0.0, 0.0), (0.0, 0.0))
SYSTEM = "You count."
PROMPT = "How many sheep are there in the pen behind the barn?"
FORMATS: tuple[Format, ...] = ("openai", "anthropic")


class Count(msgspec.Struct, frozen=True):
    sheep: int
    note: str = ""


def counted(answer: Count) -> str:
    return "" if answer.sheep < 100 else f"There are {answer.sheep} sheep, and the pen holds 99."


QUESTION = ModelQuestion(SYSTEM, PROMPT, Count, counted)


class Pocket:
    """A budget with so many tokens."""

    def __init__(self, tokens: int = 10**9) -> None:
        self.left = tokens
        self.open: dict[str, tuple[int, float]] = {}
        self.reserved: list[tuple[int, float]] = []
        self.settled: list[tuple[int, float]] = []

    async def reserve(self, tokens: int, usd: float) -> str:
        if tokens > self.left:
            raise BudgetExhausted(f"{tokens} tokens were asked for and {self.left} are left")
        self.left -= tokens
        name = str(len(self.open) + len(self.settled))
        self.open[name] = tokens, usd
        self.reserved.append((tokens, usd))
        return name

    async def settle(self, reservation: str, tokens: int, usd: float) -> None:
        self.left += self.open.pop(reservation)[0] - tokens
        self.settled.append((tokens, usd))


class World:
    """Models that ask a scripted provider."""

    def __init__(self, server: Server, models: Models) -> None:
        self.server = server
        self.models = models
        self.pocket = Pocket()
        self.attempts: list[Attempt] = []

    async def ask(self, question: ModelQuestion[Count] = QUESTION) -> Count:
        return (await self.models.ask(question, budget=self.pocket, on_attempt=self.record)).value

    async def record(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    async def fails(self, question: ModelQuestion[Count] = QUESTION) -> ModelFailed:
        try:
            value = await self.ask(question)
        except ModelFailed as failed:
            return failed
        raise AssertionError(f"it was answered: {value}")

    @property
    def steps(self) -> list[tuple[str, str, str]]:
        """Model, step and outcome of each attempt."""
        return [(one.model.rpartition("/")[2], one.step, one.outcome) for one in self.attempts]

    @property
    def prompts(self) -> list[str]:
        return [request.texts[-1] for request in self.server.requests]


@asynccontextmanager
async def world(
    form: Format,
    *replies: Answer,
    chain: Sequence[str] = ("shepherd",),
    pauses: Sequence[tuple[float, float]] = AT_ONCE,
    **model: Any,  # noqa: ANN401 - settings of several types
) -> AsyncIterator[World]:
    """A provider of this format with these answers, and a chain of its models."""
    script = Script()
    script.add(*replies, lane="compaction")
    async with Server(script) as server:
        url = server.url if form == "anthropic" else f"{server.url}/v1"
        providers = {"own": ProviderSettings(kind=form, url=url, key=SecretStr(KEY))}
        names = tuple(f"own/{name}" for name in chain)
        models = Models(Model(chain=names, providers=providers, **model), environment={}, pauses=pauses)
        try:
            yield World(server, models)
        finally:
            await models.close()
            await asyncio.sleep(0)  # the connections that were closed say goodbye in a turn of their own
