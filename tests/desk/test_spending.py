"""A project's budget over a real broker: rooms reserve and settle, and two desks never grant more than there is."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import msgspec
import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage, HistoryOrder, HistoryRebuild, MemoryPropose, SpendReserve
from schemas.envelope import Actor, Envelope
from schemas.events import (
    CompartmentSealed,
    HistoryOrdered,
    MemoryReinforced,
    MemoryWritten,
    SpendRefused,
    SpendReserved,
    SpendSettled,
)
from schemas.spending_asks import SpendingAsk, SpentBudget, SpentBudgets
from schemas.subjects import Address, ask
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, Unreachable
from services.kit.model import BudgetExhausted
from services.kit.spending import Spending
from services.settings import Model, Settings
from tests.helpers.broker_world import HARBOUR, connected, facts, kit_of, opened, quick_settings, wrapped
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

PROJECT = Address(HARBOUR.project)
ROOM = Actor("room", "historian")
BUDGET = 1000


def settings() -> Settings:
    return replace(quick_settings(), model=Model(daily_tokens=BUDGET, daily_usd=1.0))


@pytest.fixture
async def spending(bus: Bus) -> AsyncIterator[Spending]:
    """The budget of a project with 1,000 tokens and 1 USD a day, at an open desk."""
    async with opened(Desk(), bus, settings()):
        yield Spending(bus, PROJECT.project, "historian")


async def order(bus: Bus, command: Command, name: str, address: Address = PROJECT) -> Answer:
    message = CommandMessage(name, datetime.now(UTC), ROOM, msgspec.Raw(encode(command)))
    return msgspec.json.decode(await bus.request(address.command(command.TYPE), encode(message), PATIENCE), type=Answer)


async def test_a_call_is_reserved_and_settled_in_the_projects_own_log(bus: Bus, spending: Spending) -> None:
    budget = spending.budget("history", "s1")
    name = await budget.reserve(400, 0.3)
    await budget.settle(name, 150, 0.1)

    reserved, settled = await facts(bus, PROJECT)
    assert isinstance(reserved, SpendReserved)
    assert (name, "history", 400, 0.3, "s1") == (
        reserved.reservation,
        reserved.purpose,
        reserved.tokens,
        reserved.usd,
        reserved.origin,
    )
    assert SpendSettled(reservation=name, day=reserved.day, tokens=150, usd=0.1) == settled
    await spending.reserve("r2", "history", 850, 0.9)


async def test_what_the_budget_does_not_hold_is_refused_once_and_for_all(bus: Bus, spending: Spending) -> None:
    await spending.reserve("r1", "history", 900, 0.0)
    with pytest.raises(BudgetExhausted, match=r"100 tokens and 1\.00 USD are left"):
        await spending.reserve("r2", "history", 101, 0.0)
    await spending.settle("r1", 0, 0.0)
    with pytest.raises(BudgetExhausted, match=r"100 tokens and 1\.00 USD are left"):
        await spending.reserve("r2", "history", 101, 0.0)

    assert 1 == len([event for event in await facts(bus, PROJECT) if isinstance(event, SpendRefused)])


async def test_a_reservation_repeated_is_one(bus: Bus, spending: Spending) -> None:
    await asyncio.gather(*(spending.reserve("r1", "history", 900, 0.0) for _ in range(8)))
    await asyncio.gather(*(spending.settle("r1", 10, 0.0) for _ in range(8)))
    assert [SpendReserved, SpendSettled] == [type(event) for event in await facts(bus, PROJECT)]


async def test_without_a_desk_nothing_is_granted_and_a_settlement_is_given_up_aloud(bus: Bus) -> None:
    spending = Spending(bus, PROJECT.project, "historian", patience=0.05)
    with pytest.raises(Unreachable, match="nobody serves do"):
        await spending.budget("history").reserve(1, 0.0)
    with capture_logs() as answer:
        await spending.settle("r1", 1, 0.0)
    assert ["a call counts as much as was reserved for it"] == [line["event"] for line in answer]


async def test_what_the_desk_could_not_decide_is_no_refusal(spending: Spending) -> None:
    with pytest.raises(Unreachable, match="the desk did not decide on a reservation: Nothing was reserved: -1 tokens"):
        await spending.reserve("r1", "history", -1, 0.0)


@pytest.mark.usefixtures("spending")
@pytest.mark.parametrize("round_", range(2))
async def test_two_desks_never_grant_more_than_there_is(broker: Broker, round_: int) -> None:
    other, asker = await connected(broker), await connected(broker)
    many = Spending(asker, PROJECT.project, "historian")
    granted: list[int] = []

    async def spend(number: int) -> None:
        tokens = 40 + number % 7 + round_
        try:
            await many.reserve(f"r{number}", "history", tokens, 0.01)
        except BudgetExhausted:
            return
        granted.append(tokens)

    try:
        async with opened(Desk(), other, settings()):
            await asyncio.gather(*(spend(number) for number in range(60)))
            events = await facts(asker, PROJECT)
    finally:
        await other.close()
        await asker.close()
    reserved = [event for event in events if isinstance(event, SpendReserved)]
    assert sorted(granted) == sorted(event.tokens for event in reserved)
    assert BUDGET - 47 - round_ < sum(granted) <= BUDGET
    assert 60 == len(reserved) + len([event for event in events if isinstance(event, SpendRefused)])


def installation_settings() -> Settings:
    model = Model(daily_tokens=BUDGET, daily_usd=1.0, installation_daily_tokens=BUDGET, installation_monthly_usd=0.9)
    return replace(quick_settings(), model=model)


async def test_all_projects_together_have_a_limit_that_a_settlement_gives_back_to(bus: Bus) -> None:
    first, second = Spending(bus, "harbour", "historian"), Spending(bus, "quay", "dreamer")
    async with opened(Desk(), bus, installation_settings()):
        await first.reserve("r1", "history", 600, 0.1)
        with pytest.raises(BudgetExhausted, match=r"the installation's budget of \S+ 400 tokens"):
            await second.reserve("r2", "history", 500, 0.0)
        await first.settle("r1", 200, 0.1)
        await second.reserve("r3", "history", 500, 0.0)
        with pytest.raises(BudgetExhausted, match=r"the installation's budget of \d+-\d+ .* 0\.80 USD are left"):
            await second.reserve("r4", "history", 1, 0.81)
    async with opened(Desk(), bus, installation_settings()):  # a desk that is started anew knows all of it
        with pytest.raises(BudgetExhausted, match=r"the installation's budget of \S+ 300 tokens"):
            await Spending(bus, "pier", "historian").reserve("r5", "history", 301, 0.0)
        answer = await bus.request(ask(SpendingAsk.NAME, "quay"), encode(SpendingAsk("quay")), PATIENCE)
    day = datetime.now(UTC).date().isoformat()
    assert msgspec.json.decode(answer, type=SpentBudgets).budgets == (
        SpentBudget("project", day, 500, 0.0, BUDGET, 1.0),
        SpentBudget("project", day[:7], 500, 0.0),
        SpentBudget("installation", day, 700, 0.1, BUDGET),
        SpentBudget("installation", day[:7], 700, 0.1, most_usd=0.9),
    )


async def granted_of(bus: Bus, desks: int, broker: Broker) -> Sequence[int]:
    """Ask these desks at once for far more than there is, for three projects; what was granted."""
    async with AsyncExitStack() as stack:
        for _ in range(desks):
            connection = await connected(broker)
            stack.push_async_callback(connection.close)
            await stack.enter_async_context(opened(Desk(), connection, installation_settings()))
        granted: list[int] = []

        async def spend(number: int) -> None:
            tokens = 40 + number % 7
            spending = Spending(bus, ("harbour", "quay", "pier")[number % 3], "historian")
            try:
                await spending.reserve(f"r{number}", "history", tokens, 0.0)
            except BudgetExhausted:
                return
            granted.append(tokens)

        await asyncio.gather(*(spend(number) for number in range(90)))
    return granted


async def test_one_desk_never_grants_more_than_all_projects_may_spend(broker: Broker, bus: Bus) -> None:
    assert BUDGET - 47 < sum(await granted_of(bus, 1, broker)) <= BUDGET


async def test_each_further_desk_exceeds_what_all_projects_may_spend_by_one_call_at_most(
    broker: Broker, bus: Bus
) -> None:
    assert BUDGET - 47 < sum(await granted_of(bus, 3, broker)) <= BUDGET + 2 * 46


@pytest.mark.usefixtures("spending")
async def test_two_desks_propose_the_same_memory_once(broker: Broker, bus: Bus) -> None:
    other, asker = await connected(broker), await connected(broker)
    commands = [
        MemoryPropose(category="NAMING", text="Always call a boat she.", session=f"s{number}") for number in range(12)
    ]
    try:
        async with opened(Desk(), other, settings()):
            answers = await asyncio.gather(*(order(asker, one, f"w{one.session}") for one in commands))
    finally:
        await other.close()
        await asker.close()
    assert {True} == {answer.ok for answer in answers}
    events = await facts(bus, PROJECT)
    assert [1, 11] == [sum(isinstance(event, kind) for event in events) for kind in (MemoryWritten, MemoryReinforced)]
    assert {one.session for one in commands} == {
        event.origin for event in events if isinstance(event, MemoryWritten | MemoryReinforced)
    }


class Barred(Appender):
    """An appender whose first append waits until another's first append is decided as well."""

    def __init__(self, bus: Bus, barrier: asyncio.Barrier) -> None:
        super().__init__(bus)
        self._barrier = barrier
        self._is_first = True

    async def append(self, envelopes: Sequence[Envelope], expected: Mapping[str, int]) -> list[int]:
        if self._is_first:
            self._is_first = False
            await self._barrier.wait()
        return await super().append(envelopes, expected)


async def test_of_two_desks_that_decide_at_once_one_grants_and_the_other_learns_of_it(broker: Broker, bus: Bus) -> None:
    """One would write that a reservation is granted and the other, with less to spend, that it is refused."""
    barrier = asyncio.Barrier(2)
    async with AsyncExitStack() as stack:
        for budget in (BUDGET, 0):
            connection = await connected(broker)
            stack.push_async_callback(connection.close)
            limits = replace(quick_settings(), model=Model(daily_tokens=budget, daily_usd=1.0))
            kit = await stack.enter_async_context(kit_of("desk", connection, limits))
            await Desk().open(replace(kit, appender=Barred(connection, barrier)))
        command = SpendReserve(reservation="r", purpose="history", tokens=10)
        answers = await asyncio.gather(*(order(bus, command, f"w{number}") for number in range(16)))
    written = await facts(bus, PROJECT)
    assert 1 == len(written)
    assert {isinstance(written[0], SpendReserved)} == {answer.ok for answer in answers}
    assert {1} == {answer.seq for answer in answers}


@pytest.mark.usefixtures("spending")
async def test_an_order_stands_in_the_log_of_its_session(bus: Bus) -> None:
    sealed = CompartmentSealed("c1", "r1", 0, 3, 9, "m3", "m9")
    await Appender(bus).append(wrapped([sealed]), {})
    assert (await order(bus, HistoryOrder(), "w1", HARBOUR)).ok
    assert (await order(bus, HistoryRebuild("3-9"), "w2", HARBOUR)).ok
    assert not (await order(bus, HistoryRebuild("9-3"), "w3", HARBOUR)).ok
    ordered = [HistoryOrdered(order="wrapup"), HistoryOrdered(order="rebuild", first=3, last=9)]
    assert [sealed, *ordered] == await facts(bus, HARBOUR)


@pytest.mark.usefixtures("spending")
async def test_a_command_at_the_wrong_place_is_answered_with_the_right_one(bus: Bus) -> None:
    misplaced = await order(bus, SpendReserve(reservation="r", purpose="p", tokens=1), "w1", HARBOUR)
    assert (False, 0) == (misplaced.ok, misplaced.seq)
    assert "send it to do.harbour._.spend.reserve" in misplaced.text
    assert "history.order is about one session" in (await order(bus, HistoryOrder(), "w2")).text
    assert [] == await facts(bus)
