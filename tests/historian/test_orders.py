"""An order to judge history anew, with a model over HTTP: what is asked, what is mended, and what ends it."""

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Callable

import pytest

from schemas.commands import HistoryRescore
from schemas.events import (
    CompartmentRescored,
    CompartmentSealed,
    HistoryAdvanced,
    HistoryFailed,
    HistoryOrdered,
    HistoryReplaced,
    HistoryRequested,
    SpendRefused,
    SpendReserved,
    SpendSettled,
)
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.historian.core.importance import SEEDS
from services.historian.worker import Historian
from services.kit.bus import Appender, Bus
from services.kit.commands import send
from tests.harness.provider import Provider as Server
from tests.harness.provider import Reply, Request, Script, overflow
from tests.helpers.broker_world import HARBOUR, PERSON, connected, facts, opened, wrapped
from tests.helpers.compressed_sessions import (
    Session,
    append,
    ended,
    hasty,
    history,
    of,
    reported_session,
    sampled,
    settings,
)
from tests.helpers.model_server import GARBAGE, at_once, failures, historian, of_model, outcomes
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

KNOWN = {seed.title: seed.importance for seed in SEEDS}
PARTS = 45
BATCHES = 3


@pytest.fixture(autouse=True)
async def session(bus: Bus) -> AsyncIterator[Session]:
    async with reported_session(bus) as made:
        await made.turns(3)
        await made.step(10_000)
        yield made


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once(monkeypatch)


async def with_parts(bus: Bus, count: int = PARTS) -> None:
    """History of so many compartments, all as important as the rules say by default."""
    await append(bus, *(part(number) for number in range(1, count + 1)))


def part(number: int) -> CompartmentSealed:
    return CompartmentSealed(
        compartment=f"c{number}",
        run="0.1.0",
        generation=0,
        first=number,
        last=number,
        first_message=f"m{number}",
        last_message=f"m{number}",
        title=f"Part {number}",
        episode=["bug"],
        p1=f"I mended file_{number}.py.",
        p2="never shown",
    )


def items(request: Request) -> dict[str, str]:
    """Handle -> title."""
    lines = [line for line in request.texts[-1].splitlines() if line.startswith('{"handle"')]
    return {item["handle"]: item["title"] for item in map(json.loads, lines)}


def scored(request: Request, *, off: int = 0) -> Reply:
    """What a judge says: even parts are worth more than before, odd ones as much. `off`: how far the examples are."""
    scores = [
        {"handle": handle, "importance": worth(title, off), "reason": title} for handle, title in items(request).items()
    ]
    return Reply(text=json.dumps({"scores": scores}))


def worth(title: str, off: int) -> int:
    if title in KNOWN:
        return min(100, KNOWN[title] + off)
    return 50 if int(title.split()[1]) % 2 else 70


async def order(bus: Bus) -> None:
    answer = await send(bus, HARBOUR, HistoryRescore(), name="judge", actor=PERSON)
    assert answer.ok
    assert "ANNALS_MODEL__CHAIN" in answer.text


async def judged(bus: Bus) -> list[str]:
    made = [event for event in await of(bus, HistoryAdvanced) if isinstance(event, HistoryAdvanced)]
    return [name for event in made for name in event.judged]


async def reason(bus: Bus) -> str:
    (failed,) = await of(bus, HistoryFailed)
    assert isinstance(failed, HistoryFailed)
    return failed.detail


async def test_all_parts_are_judged_once_and_nothing_else_changes(bus: Bus) -> None:
    await with_parts(bus)
    before = await history(bus)
    async with historian(bus, default=scored) as server:
        await order(bus)
        await until(lambda: ended(bus))
        shown = [items(request) for request in server.requests]
        assert not any("never shown" in request.texts[-1] for request in server.requests)
    assert BATCHES == len(shown)
    assert all(KNOWN.keys() <= set(one.values()) for one in shown)
    assert sorted(f"c{n}" for n in range(1, PARTS + 1)) == sorted(await judged(bus))
    after = await history(bus)
    assert (before.sealed, before.generation) == (after.sealed, after.generation)
    assert [50 if n % 2 else 70 for n in range(1, PARTS + 1)] == [after.importance(one) for one in after.sealed]
    rescored = await of(bus, CompartmentRescored)
    assert PARTS // 2 == len(rescored)
    assert CompartmentRescored("c2", 70, "Part 2") in rescored
    assert [] == await of(bus, HistoryReplaced, HistoryFailed)
    assert [("summary", "ok")] * BATCHES == await outcomes(bus)
    money = [type(event) for event in await facts(bus) if isinstance(event, SpendReserved | SpendSettled)]
    assert [SpendReserved, SpendSettled] * BATCHES == money


async def test_a_handle_that_is_missing_is_asked_for_once_more(bus: Bus) -> None:
    def without_one(request: Request) -> Reply:
        given = json.loads(scored(request).text)
        return Reply(text=json.dumps({"scores": given["scores"][1:]}))

    await with_parts(bus, 5)
    async with historian(bus, without_one, default=scored) as server:
        await order(bus)
        await until(lambda: ended(bus))
        assert "There is no score for i1; score each of i1 to i8." in server.requests[1].texts[-1]
    assert [("summary", "invalid"), ("repair", "ok")] == await outcomes(bus)
    assert {"c1", "c2", "c3", "c4", "c5"} == set(await judged(bus))


@pytest.mark.parametrize("wrong", [GARBAGE, functools.partial(scored, off=30)], ids=["garbage", "another scale"])
async def test_a_judge_that_cannot_be_trusted_changes_nothing(
    bus: Bus, wrong: Reply | Callable[[Request], Reply]
) -> None:
    await with_parts(bus, 5)
    async with historian(bus, default=wrong):
        await order(bus)
        await until(lambda: ended(bus))
    assert [("invalid_output", 0)] == await failures(bus)
    assert [("summary", "invalid"), ("repair", "invalid")] == await outcomes(bus)
    assert [] == await of(bus, CompartmentRescored)


async def test_without_a_model_an_order_is_refused_and_one_from_before_fails(bus: Bus, session: Session) -> None:
    await with_parts(bus, 2)
    async with opened(Desk(), bus, settings()), opened(Historian(), bus, settings()):
        answer = await send(bus, HARBOUR, HistoryRescore(), name="judge", actor=PERSON)
        assert (False, True) == (answer.ok, "name one in ANNALS_MODEL__CHAIN" in answer.text)
        await Appender(bus).append(wrapped([HistoryOrdered(order="rescore")]), {})
        await until(lambda: ended(bus))
        assert [("no_model", 0)] == await failures(bus)
        assert "name one in ANNALS_MODEL__CHAIN" in await reason(bus)
        await session.turns(11)
        await session.step(85_000)
        await until(lambda: ended(bus, 2))
    assert (await history(bus)).last > 2


async def test_without_history_an_order_is_refused_and_one_from_before_fails(bus: Bus) -> None:
    async with historian(bus, default=scored) as server:
        answer = await send(bus, HARBOUR, HistoryRescore(), name="judge", actor=PERSON)
        assert (False, True) == (answer.ok, "no compressed history yet" in answer.text)
        await Appender(bus).append(wrapped([HistoryOrdered(order="rescore")]), {})
        await until(lambda: ended(bus))
        assert [] == list(server.requests)
    assert [("no_eligible", 0)] == await failures(bus)


async def test_where_the_budget_is_exhausted_nobody_is_asked(bus: Bus) -> None:
    await with_parts(bus, 5)
    async with historian(bus, default=scored, daily_tokens=10) as server:
        await order(bus)
        await until(lambda: ended(bus))
        assert [] == list(server.requests)
    assert [("budget_exhausted", 0)] == await failures(bus)
    assert 1 == sum(isinstance(event, SpendRefused) for event in await facts(bus))
    assert [] == await of(bus, CompartmentRescored)


async def test_what_is_too_long_at_once_is_asked_for_in_halves(bus: Bus) -> None:
    await with_parts(bus, 20)
    async with historian(bus, Reply(refusal=overflow("openai")), default=scored) as server:
        await order(bus)
        await until(lambda: ended(bus))
        assert [23, 13, 13] == [len(items(request)) for request in server.requests]
    assert ["overflow", "ok", "ok"] == [outcome for _, outcome in await outcomes(bus)]
    assert 20 == len(set(await judged(bus))) == len(await judged(bus))
    assert [] == await failures(bus)


async def test_where_room_is_short_history_is_compressed_first(bus: Bus, session: Session) -> None:
    await session.turns(11)
    await session.step(10_000)
    await with_parts(bus, 25)
    slow = asyncio.Event()

    def waiting_reply(request: Request) -> Reply:
        return Reply(text=scored(request).text, hold=slow)

    async with historian(bus, waiting_reply, default=scored) as server:
        await order(bus)
        await server.received(1)
        await session.turns(11)
        await session.step(85_000)
        await until(lambda: sampled(bus, 85_000))
        slow.set()
        await until(lambda: ended(bus))
    assert [("aborted", 0)] == await failures(bus)
    assert "room is short" in await reason(bus)
    assert 0 < len(await judged(bus)) < 25


async def test_what_was_cut_off_goes_on_with_the_same_question(broker: Broker, bus: Bus) -> None:
    await with_parts(bus)
    script = Script(default=scored)
    script.add(scored, lambda request: Reply(text=scored(request).text, hold=asyncio.Event()), lane="compaction")
    script.add(*[scored] * 5, lane="compaction")
    async with Server(script) as server:
        chosen = of_model(server.url)
        async with opened(Desk(), bus, chosen):
            other = await connected(broker)
            async with opened(Historian(), other, hasty(chosen)):
                await order(bus)
                await server.received(2)
            await other.close()
            async with opened(Historian(), bus, hasty(chosen)):
                await until(lambda: ended(bus))
        prompts = [request.texts[-1] for request in server.requests]
    assert BATCHES + 1 == len(prompts)
    assert prompts[1] == prompts[2]
    assert len({prompts[0], prompts[1], prompts[3]}) == BATCHES
    assert PARTS == len(set(await judged(bus))) == len(await judged(bus))
    assert 1 == len(await of(bus, HistoryRequested))
    await asyncio.sleep(0)  # the connections that were closed say goodbye in a turn of their own
