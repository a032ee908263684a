"""History that a model writes which a person already has: the historian, the desk, and a harness that answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from schemas.events import (
    CompartmentSealed,
    HistoryAttempted,
    HistoryFailed,
    QuestionAnswered,
    QuestionPut,
    QuestionWithdrawn,
    SpendReserved,
    SpendSettled,
)
from schemas.question_asks import OfferedQuestion
from schemas.question_commands import QuestionAnswer
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.historian.worker import Historian
from services.kit.bus import Bus
from services.settings import Model
from tests.helpers.answering_harness import answering_harness
from tests.helpers.broker_world import connected, facts, opened
from tests.helpers.compressed_sessions import Session, ended, hasty, of, reported_session, settings
from tests.helpers.model_server import at_once, failures, outcomes, summed_up
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


@pytest.fixture
async def session(bus: Bus) -> AsyncIterator[Session]:
    async with reported_session(bus) as made:
        yield made


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once(monkeypatch)


def summing_up(offered: OfferedQuestion) -> QuestionAnswer:
    """A good summary of what was asked, and what it has cost."""
    text = summed_up(SimpleNamespace(texts=[offered.prompt])).text  # type: ignore[arg-type]
    return QuestionAnswer(offered.question, "", text, model="pi/tiny", tokens_in=900, tokens_out=100, usd=0.01)


@asynccontextmanager
async def historian(bus: Bus, wait: float = 60.0) -> AsyncIterator[None]:
    chosen = replace(settings(), model=Model(chain=("harness/small",), harness_wait=wait))
    async with opened(Desk(), bus, chosen), opened(Historian(), bus, chosen):
        yield


async def test_a_harness_writes_history_and_it_is_entered_what_that_cost(
    broker: Broker, bus: Bus, session: Session
) -> None:
    await session.turns(11)
    await session.step(45_000)
    async with answering_harness(broker, summing_up), historian(bus):
        await until(lambda: ended(bus))
    (sealed,) = await of(bus, CompartmentSealed)
    assert isinstance(sealed, CompartmentSealed)
    assert ("harness/pi/tiny", "Reading from 1 to 20") == (sealed.source, sealed.title)
    assert [("summary", "ok")] == await outcomes(bus)
    (attempt,) = await of(bus, HistoryAttempted)
    assert isinstance(attempt, HistoryAttempted)
    assert (900, 100, 0.01) == (attempt.tokens_in, attempt.tokens_out, attempt.usd)
    events = await facts(bus)
    (reserved,) = [event for event in events if isinstance(event, SpendReserved)]
    (settled,) = [event for event in events if isinstance(event, SpendSettled)]
    assert ("historian", "s1", 1000, 0.01) == (reserved.purpose, reserved.origin, settled.tokens, settled.usd)
    (answered,) = [event for event in events if isinstance(event, QuestionAnswered)]
    assert "s1" == answered.origin


async def test_where_no_harness_answers_the_job_waits_and_then_the_rules_write(bus: Bus, session: Session) -> None:
    await session.turns(11)
    await session.step(45_000)
    async with historian(bus, wait=0.05):
        await until(lambda: ended(bus))
        assert [("provider_away", 1)] == await failures(bus)
        await session.step(95_000)
        await until(lambda: has_sealed(bus))
    (sealed, *_) = await of(bus, CompartmentSealed)
    assert isinstance(sealed, CompartmentSealed)
    assert "rules" == sealed.source
    asked = [event for event in await facts(bus) if isinstance(event, QuestionPut | QuestionWithdrawn)]
    assert len(asked) >= 4
    assert {False} == {isinstance(event, HistoryFailed) and event.code != "provider_away" for event in await facts(bus)}


async def has_sealed(bus: Bus) -> bool:
    return bool(await of(bus, CompartmentSealed))


async def test_a_historian_that_is_started_again_uses_the_answer_that_was_paid_for(
    broker: Broker, bus: Bus, session: Session
) -> None:
    await session.turns(11)
    await session.step(45_000)
    chosen = hasty(replace(settings(), model=Model(chain=("harness/small",), harness_wait=60.0)))
    async with opened(Desk(), bus, chosen):
        other = await connected(broker)
        async with opened(Historian(), other, chosen):
            await until(lambda: has_put(bus))
            await other.client.close()  # as a kill does, before it can report anything
        async with answering_harness(broker, summing_up) as harness:
            await until(lambda: has_answer(bus))
            async with opened(Historian(), bus, chosen):
                await until(lambda: ended(bus))
            assert 1 == len(harness.offered)
    (sealed,) = await of(bus, CompartmentSealed)
    assert isinstance(sealed, CompartmentSealed)
    assert "harness/pi/tiny" == sealed.source
    events = await facts(bus)
    assert 1 == sum(isinstance(event, QuestionPut) for event in events)
    assert [0] == [event.tokens for event in events if isinstance(event, SpendSettled)]


async def has_put(bus: Bus) -> bool:
    return any(isinstance(event, QuestionPut) for event in await facts(bus))


async def has_answer(bus: Bus) -> bool:
    return any(isinstance(event, QuestionAnswered) for event in await facts(bus))
