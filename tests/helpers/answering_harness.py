"""A harness whose person lets it answer the questions of rooms, over the bus, and what rooms ask it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from uuid import uuid4

import msgspec

from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage
from schemas.envelope import Actor
from schemas.question_asks import OfferedQuestion, QuestionAsk
from schemas.question_commands import QuestionAnswer, QuestionTake
from schemas.subjects import Address, ask
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, Unreachable
from tests.helpers.broker_world import HARBOUR, connected
from tests.helpers.waiting import PATIENCE

Answering = Callable[[OfferedQuestion], QuestionAnswer | None]
"""What a harness answers; its taker is filled in. None: it falls after it has taken the question."""


OWN_SESSION = Address(HARBOUR.project, "of-the-harness")


class AnsweringHarness:
    """One process of a harness."""

    def __init__(self, bus: Bus, taker: str = "") -> None:
        self._bus = bus
        self.taker = taker or uuid4().hex
        self.offered: list[OfferedQuestion] = []
        """What it was offered and has taken."""

    async def ask(self, deadline_ms: int = 20_000, *begun: str) -> OfferedQuestion:
        """Wait for a question that is none of those that it has begun to answer."""
        body = encode(QuestionAsk(HARBOUR.project, "pi", self.taker, deadline_ms=deadline_ms, begun=[*begun]))
        data = await self._bus.request(ask(QuestionAsk.NAME, HARBOUR.project), body, PATIENCE)
        return msgspec.json.decode(data, type=OfferedQuestion)

    async def take(self, question: str) -> Answer:
        return await self.send(QuestionTake(question, self.taker))

    async def answer(self, question: str, text: str = "", **fields: object) -> Answer:
        return await self.send(msgspec.convert(
            {"question": question, "taker": self.taker, "text": text, **fields}, QuestionAnswer
        ))  # fmt: skip

    async def send(self, command: Command, address: Address = OWN_SESSION) -> Answer:
        name = f"{self.taker}/{getattr(command, 'question', '')}/{command.TYPE}"  # the same one, as often as it is sent
        message = CommandMessage(name, datetime.now(UTC), Actor("harness", "pi"), msgspec.Raw(encode(command)))
        while True:
            data = await self._bus.request(address.command(command.TYPE), encode(message), PATIENCE)
            answer = msgspec.json.decode(data, type=Answer)
            if not answer.again:
                return answer

    async def work(self, answering: Answering) -> None:
        """Answer whatever is asked, until it is ended."""
        while True:
            with suppress(Unreachable):
                offered = await self.ask()
                if offered.question and (await self.take(offered.question)).ok:
                    self.offered.append(offered)
                    answer = answering(offered)
                    if answer is None:
                        return
                    await self.send(msgspec.structs.replace(answer, taker=self.taker))


@asynccontextmanager
async def answering_harness(broker: Broker, answering: Answering) -> AsyncIterator[AnsweringHarness]:
    """A harness that answers, as the user that harnesses are."""
    bus = await connected(broker, "harness")
    made = AnsweringHarness(bus)
    working = asyncio.create_task(made.work(answering))
    try:
        yield made
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        await bus.close()


def with_text(text: str, **fields: object) -> Answering:
    """Answers each question with this."""

    def answering(offered: OfferedQuestion) -> QuestionAnswer:
        return msgspec.convert({"question": offered.question, "taker": "", "text": text, **fields}, QuestionAnswer)

    return answering


def in_turn(*answers: Answering) -> Answering:
    """Answers each question with the next of these."""
    left = iter(answers)

    def answering(offered: OfferedQuestion) -> QuestionAnswer | None:
        return next(left)(offered)

    return answering


def falling(_: OfferedQuestion) -> None:
    """Takes a question and ends."""
