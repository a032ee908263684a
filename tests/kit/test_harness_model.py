"""Models that harnesses ask: what comes of a question, what it costs, and that a paid answer is not paid for twice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from schemas.events import QuestionAnswered, QuestionPut, QuestionTaken, QuestionWithdrawn
from schemas.question_asks import OfferedQuestion
from schemas.question_commands import QuestionAnswer
from schemas.subjects import Address
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, LogReader
from services.kit.model import Attempt, HarnessQuestions, ModelFailed, Models
from services.settings import Model, Price, ProviderSettings
from tests.harness.provider import Provider as Server
from tests.harness.provider import Reply, Script
from tests.helpers.answering_harness import answering_harness, falling, in_turn, with_text
from tests.helpers.broker_world import HARBOUR, connected, facts, opened, quick_settings
from tests.helpers.model_questions import AT_ONCE, QUESTION, SYSTEM, Count, Pocket
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

ASKED = replace(QUESTION, address=HARBOUR)
PROJECT = Address(HARBOUR.project)
GOOD = '{"sheep": 3}'
PRESENT, ABSENT = 60.0, 0.05
"""Seconds that a harness is waited for that is there, and one that is not."""


class Asker:
    """A room that asks, in one life of it."""

    def __init__(self, bus: Bus, chain: tuple[str, ...], wait: float, **model: Any) -> None:  # noqa: ANN401
        self.harness = HarnessQuestions(bus, LogReader(bus), "historian", wait=wait)
        self.models = Models(Model(chain=chain, **model), environment={}, pauses=AT_ONCE, harness=self.harness)
        self.pocket = Pocket()
        self.attempts: list[Attempt] = []

    async def ask(self) -> Count:
        return (await self.models.ask(ASKED, budget=self.pocket, on_attempt=self.record)).value

    async def fails(self) -> ModelFailed:
        with pytest.raises(ModelFailed) as failed:
            await self.ask()
        return failed.value

    async def record(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    @property
    def outcomes(self) -> list[tuple[str, str, str]]:
        return [(one.model, one.step, one.outcome) for one in self.attempts]


def asker(bus: Bus, *chain: str, wait: float = PRESENT, **model: Any) -> Asker:  # noqa: ANN401
    return Asker(bus, chain or ("harness/small",), wait, **model)


@pytest.fixture
async def room(bus: Bus, tmp_path: Path) -> AsyncIterator[Asker]:
    """A room that asks the small model of a harness, and an open desk."""
    async with opened(Desk(), bus, quick_settings(tmp_path)):
        yield asker(bus)


async def test_a_harness_answers_and_what_it_reports_is_what_it_costs(broker: Broker, bus: Bus, room: Asker) -> None:
    answering = with_text(GOOD, model="pi/tiny", tokens_in=120, tokens_out=9, cached=100, usd=0.25)
    async with answering_harness(broker, answering) as harness:
        assert Count(3) == await room.ask()
    (attempt,) = room.attempts
    assert ("harness/pi/tiny", "summary", "ok", 120, 9, 100, 0.25) == (
        attempt.model, attempt.step, attempt.outcome, attempt.tokens_in, attempt.tokens_out, attempt.cached, attempt.usd
    )  # fmt: skip
    assert [(129, 0.25)] == room.pocket.settled
    (offered,) = harness.offered
    assert (SYSTEM, QUESTION.prompt, "small", "s1", "historian") == (
        offered.system, offered.prompt, offered.model, offered.session, offered.purpose
    )  # fmt: skip
    assert [QuestionPut, QuestionTaken, QuestionAnswered] == [type(event) for event in await facts(bus, PROJECT)]


async def test_a_model_may_be_named_with_its_provider(broker: Broker, bus: Bus, room: Asker) -> None:
    named = asker(bus, "harness/anthropic/claude-haiku-4-5")
    async with answering_harness(broker, with_text(GOOD)) as harness:
        await named.ask()
    assert "anthropic/claude-haiku-4-5" == harness.offered[0].model
    assert [("harness/anthropic/claude-haiku-4-5", "summary", "ok")] == named.outcomes
    assert room.pocket.reserved != named.pocket.reserved


async def test_where_no_harness_takes_it_the_next_of_the_chain_is_asked_at_once(bus: Bus, room: Asker) -> None:
    away = asker(bus, "harness/small", "harness/a/b", wait=ABSENT)
    failed = await away.fails()
    assert "provider_away" == failed.code
    assert "no harness of the project took the question within 0.05 s" in failed.detail
    assert [("harness/small", "summary", "away"), ("harness/a/b", "fallback", "away")] == away.outcomes
    assert ({}, [(0, 0.0)] * 2) == (away.pocket.open, away.pocket.settled)
    assert [QuestionPut, QuestionWithdrawn] * 2 == [type(event) for event in await facts(bus, PROJECT)]
    assert [] == room.attempts


@pytest.mark.usefixtures("room")
async def test_a_provider_answers_where_a_harness_is_away(bus: Bus) -> None:
    script = Script()
    script.add(Reply(text=GOOD), lane="compaction")
    async with Server(script) as server:
        providers = {"own": ProviderSettings(url=f"{server.url}/v1")}
        chained = asker(bus, "harness/small", "own/shepherd", wait=ABSENT, providers=providers)
        assert Count(3) == await chained.ask()
        await chained.models.close()
    assert [("harness/small", "summary", "away"), ("own/shepherd", "fallback", "ok")] == chained.outcomes


@pytest.mark.parametrize(
    ("failure", "outcome", "code", "tries"),
    [
        ("busy", "transient", "provider_transient", 3),
        ("aborted", "transient", "provider_transient", 3),
        ("the wind has blown it away", "transient", "provider_transient", 3),
        ("refused", "refused", "provider_auth", 1),
        ("refused: no small model is set", "refused", "provider_auth", 1),
        ("overflow", "overflow", "overflow", 1),
        ("timeout", "timeout", "timeout", 3),
    ],
)
async def test_what_a_harness_reports_is_what_a_provider_would(
    broker: Broker, room: Asker, failure: str, outcome: str, code: str, tries: int
) -> None:
    async with answering_harness(broker, with_text("", failure=failure, tokens_in=5, usd=0.01)):
        failed = await room.fails()
    assert (code, [outcome] * tries) == (failed.code, [one.outcome for one in failed.attempts])
    assert f"the harness reports: {failure}" == failed.detail
    assert [(5, 0.01)] * tries == room.pocket.settled


async def test_an_empty_answer_is_mended_once_with_what_was_wrong(broker: Broker, room: Asker) -> None:
    answers = in_turn(with_text("", failure="empty", tokens_in=7), with_text(GOOD))
    async with answering_harness(broker, answers) as harness:
        assert Count(3) == await room.ask()
    assert ["summary", "repair"] == [one.step for one in room.attempts]
    assert "The answer is empty" in harness.offered[1].prompt


async def test_a_wrong_answer_is_mended_once_and_then_the_next_is_asked(broker: Broker, bus: Bus, room: Asker) -> None:
    chained = asker(bus, "harness/small", "harness/a/b")
    garbage = with_text("There are three sheep, I believe.")
    async with answering_harness(broker, in_turn(garbage, garbage, with_text(GOOD))):
        assert Count(3) == await chained.ask()
    assert ["summary", "repair", "fallback"] == [one.step for one in chained.attempts]
    assert [] == room.attempts


async def test_a_harness_that_falls_costs_what_was_reserved(broker: Broker, bus: Bus, room: Asker) -> None:
    hasty = asker(bus, timeout=0.5, deadline=0.5)
    async with answering_harness(broker, falling):
        failed = await hasty.fails()
    assert "timeout" == failed.code
    assert "timeout" == failed.attempts[0].outcome
    assert (1, []) == (len(hasty.pocket.open), hasty.pocket.settled)
    assert QuestionWithdrawn in [type(event) for event in await facts(bus, PROJECT)]
    assert [] == room.attempts


class Delayed:
    """A harness that has taken a question and waits to be let go."""

    def __init__(self) -> None:
        self.taken: list[OfferedQuestion] = []

    def __call__(self, offered: OfferedQuestion) -> QuestionAnswer | None:
        self.taken.append(offered)
        return None


async def test_an_answer_that_was_paid_for_serves_the_next_life_of_its_room(
    broker: Broker, bus: Bus, room: Asker
) -> None:
    """The room falls between the answer and its use: nothing of it is left, and the log has the answer."""
    other = await connected(broker)
    asking = asyncio.create_task(asker(other).ask())
    await until(lambda: _has(bus, QuestionPut))
    await other.client.close()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    async with answering_harness(broker, with_text(GOOD, tokens_in=120, usd=0.25)) as harness:
        await until(lambda: _has(bus, QuestionAnswered))
        assert Count(3) == await room.ask()
        assert 1 == len(harness.offered)
    assert [(0, 0.0)] == room.pocket.settled, "what the life before has reserved counts"
    assert 1 == sum(isinstance(event, QuestionPut) for event in await facts(bus, PROJECT))


async def test_a_room_that_begins_anew_waits_for_the_answer_that_it_had_asked_for(
    broker: Broker, bus: Bus, room: Asker
) -> None:
    delayed = Delayed()
    first = asyncio.create_task(asker(bus).ask())
    async with answering_harness(broker, delayed) as harness:
        await until(lambda: delayed.taken)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        second = asyncio.create_task(room.ask())
        await until(lambda: room.pocket.reserved)
        await harness.answer(delayed.taken[0].question, GOOD)
        assert Count(3) == await second
    assert 1 == sum(isinstance(event, QuestionPut) for event in await facts(bus, PROJECT))


async def test_who_asks_the_same_again_in_one_life_gets_another_answer(broker: Broker, room: Asker) -> None:
    async with answering_harness(broker, in_turn(with_text(GOOD), with_text('{"sheep": 4}'))):
        assert [Count(3), Count(4)] == [await room.ask(), await room.ask()]


async def test_a_harness_that_is_busy_is_waited_for(broker: Broker, bus: Bus, room: Asker) -> None:
    """It has taken another question, so that it is there: nobody is away, however short the wait is."""
    impatient = asker(bus, wait=0.001)
    await impatient.harness.watch.open()
    delayed = Delayed()
    async with answering_harness(broker, delayed) as busy:
        first = asyncio.create_task(room.ask())
        await until(lambda: impatient.harness.is_busy(HARBOUR.project))
        wolves = replace(ASKED, prompt="How many wolves?")
        second = asyncio.create_task(impatient.models.ask(wolves, budget=None))
        await until(lambda: _puts(bus, 2))
        async with answering_harness(broker, with_text('{"sheep": 0}')):
            assert Count(0) == (await second).value
        await busy.answer(delayed.taken[0].question, GOOD)
        assert Count(3) == await first


async def test_a_reported_cost_of_nothing_is_priced_by_the_name_of_the_model(broker: Broker, room: Asker) -> None:
    answering = with_text(GOOD, model="anthropic/claude-haiku-4-5", tokens_in=1_000_000, tokens_out=100_000)
    async with answering_harness(broker, answering):
        await room.ask()
    assert pytest.approx(1.5) == room.attempts[0].usd


async def test_a_price_that_is_set_holds_where_none_is_reported(broker: Broker, bus: Bus, room: Asker) -> None:
    priced = asker(bus, prices={"harness/*": Price(input=2.0)})
    async with answering_harness(broker, with_text(GOOD, model="pi/tiny", tokens_in=1_000_000)):
        await priced.ask()
    assert pytest.approx(2.0) == priced.attempts[0].usd
    assert [] == room.attempts


async def test_a_model_that_nobody_knows_a_price_of_is_named_once(
    broker: Broker, room: Asker, capsys: pytest.CaptureFixture[str]
) -> None:
    async with answering_harness(broker, with_text(GOOD, model="pi/of-nobody", tokens_in=9)):
        await room.ask()
        await room.ask()
    assert [0.0, 0.0] == [one.usd for one in room.attempts]
    assert 1 == capsys.readouterr().out.count("no price is known")


@pytest.mark.usefixtures("room")
async def test_a_question_that_is_too_large_for_a_message_is_an_overflow(bus: Bus) -> None:
    wide = asker(bus, default_window=10_000_000)
    with pytest.raises(ModelFailed, match=r"overflow: the question has .* bytes, and a message has room for") as failed:
        await wide.models.ask(replace(ASKED, prompt="x" * bus.max_payload), budget=wide.pocket)
    assert ["overflow"] == [one.outcome for one in failed.value.attempts]
    assert [] == await facts(bus)


async def test_a_question_of_no_project_is_put_to_no_harness(bus: Bus) -> None:
    failed = None
    try:
        await asker(bus).models.ask(QUESTION, budget=None)
    except ModelFailed as error:
        failed = error
    assert failed is not None
    assert "provider_away" == failed.code


async def _has(bus: Bus, kind: type) -> bool:
    return any(isinstance(event, kind) for event in await facts(bus, PROJECT))


async def _puts(bus: Bus, count: int) -> bool:
    return count == sum(isinstance(event, QuestionPut) for event in await facts(bus, PROJECT))
