"""The clock on a real broker: what falls due wakes its address at its moment, once, whatever is started again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from schemas.events import Event, SessionRenamed
from schemas.streams import DEAD
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.kit import clock as module
from services.kit.bus import Appender, Bus
from services.kit.clock import Clock
from services.settings import Settings
from tests.helpers.broker_world import HARBOUR, connected, impatient_settings, kit_of, quick_settings, stored, wrapped
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

ROOM = "cook"
SOON = timedelta(milliseconds=300)


def moment(event: Event) -> datetime | None:
    """The sessions of these tests are called after the moment at which they fall due, or `never`."""
    assert isinstance(event, SessionRenamed)
    return None if event.title == "never" else datetime.fromisoformat(event.title)


class Kitchen:
    """It notes who was woken, and when; `wake` may be replaced."""

    def __init__(self) -> None:
        self.woken: list[tuple[Address, datetime]] = []
        self.set = timedelta(0)
        """How far its clock is ahead of the true one."""

    def now(self) -> datetime:
        return datetime.now(UTC) + self.set

    def remaining(self, event: Event, now: datetime) -> timedelta | None:
        at = moment(event)
        return at - now if at else None

    async def wake(self, address: Address) -> None:
        self.woken.append((address, self.now()))

    @asynccontextmanager
    async def open(self, bus: Bus, settings: Settings | None = None) -> AsyncIterator[Clock]:
        async with kit_of(ROOM, bus, settings or quick_settings()) as kit:
            clock = Clock(kit, [SessionRenamed], self.remaining, self.wake, now=self.now)
            await clock.open()
            yield clock


async def due_at(bus: Bus, at: datetime | None, address: Address = HARBOUR, last: int = 0) -> int:
    event = SessionRenamed(title=at.isoformat() if at else "never")
    expected = {address.log(SessionRenamed.TYPE): last}
    (seq,) = await Appender(bus).append(wrapped([event], expected, address), expected)
    return seq


def from_now(pause: timedelta = SOON) -> datetime:
    return datetime.now(UTC) + pause


async def test_an_address_is_woken_at_its_moment_and_by_one_process(broker: Broker, bus: Bus) -> None:
    kitchen, other = Kitchen(), await connected(broker)
    addresses = [Address("harbour", f"s{number}") for number in range(20)]
    async with kitchen.open(bus) as one, kitchen.open(other) as two:
        moments = {address: from_now() for address in addresses}
        for address, at in moments.items():
            await due_at(bus, at, address)
        await until(lambda: len(kitchen.woken) == len(addresses))
        await until(one.idle)
        await until(two.idle)
    await other.close()
    assert set(addresses) == {address for address, _ in kitchen.woken}
    assert len(addresses) == len(kitchen.woken)
    assert [] == [address for address, at in kitchen.woken if at < moments[address]]


async def test_an_event_without_a_moment_wakes_nobody(bus: Bus) -> None:
    kitchen = Kitchen()
    async with kitchen.open(bus) as clock:
        await due_at(bus, None)
        await until(clock.idle)
    assert [] == kitchen.woken


async def test_to_wait_is_to_be_idle(bus: Bus) -> None:
    kitchen = Kitchen()
    async with kitchen.open(bus) as clock:
        await due_at(bus, from_now(timedelta(hours=1)))
        await until(lambda: delivered(bus))
        await until(clock.idle)
    assert [] == kitchen.woken


async def delivered(bus: Bus) -> bool:
    lag = await bus.lag("LOG", f"{ROOM}_clock")
    return lag is not None and lag.in_hand == 1


@pytest.mark.own_broker
async def test_a_broker_that_is_killed_while_an_event_waits_forgets_nothing(broker: Broker, bus: Bus) -> None:
    kitchen = Kitchen()
    async with kitchen.open(bus, impatient_settings()):
        await due_at(bus, from_now(timedelta(seconds=1)))
        await until(lambda: delivered(bus))
        assert broker.process is not None
        broker.process.kill()
        broker.process.wait()
        await broker.start()
        await until(lambda: kitchen.woken)
    assert 1 == len(kitchen.woken)


async def test_a_process_that_is_killed_while_it_wakes_leaves_it_to_the_next(broker: Broker, bus: Bus) -> None:
    other = await connected(broker)
    dying, kitchen = Kitchen(), Kitchen()
    entered = asyncio.Event()

    async def hanging(_: Address) -> None:
        entered.set()
        await asyncio.Event().wait()

    dying.wake = hanging  # type: ignore[method-assign]
    async with dying.open(other, impatient_settings()):
        await due_at(bus, from_now(timedelta(0)))
        await entered.wait()
    await other.close()
    async with kitchen.open(bus, impatient_settings()):
        await until(lambda: kitchen.woken)
    assert [HARBOUR] == [address for address, _ in kitchen.woken]


async def test_what_fell_due_while_nobody_ran_wakes_once_and_only_by_the_newest_event(bus: Bus) -> None:
    last = 0
    for _ in range(3):
        last = await due_at(bus, from_now(timedelta(days=-1)), last=last)
    kitchen = Kitchen()
    async with kitchen.open(bus) as clock:
        await until(lambda: kitchen.woken)
        await until(clock.idle)
    assert 1 == len(kitchen.woken)


@pytest.mark.parametrize("step", [timedelta(hours=2), timedelta(hours=-2)])
async def test_a_clock_that_is_set_is_noticed(bus: Bus, monkeypatch: pytest.MonkeyPatch, step: timedelta) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", timedelta(milliseconds=50))
    kitchen = Kitchen()
    async with kitchen.open(bus):
        await due_at(bus, from_now(timedelta(hours=1)))
        await until(lambda: delivered(bus))
        assert [] == kitchen.woken
        kitchen.set = step
        if step < timedelta(0):
            await until(lambda: put_off(bus, 3))
            assert [] == kitchen.woken
            kitchen.set = timedelta(hours=1)
        await until(lambda: kitchen.woken)
    assert 1 == len(kitchen.woken)


async def put_off(bus: Bus, times: int) -> bool:
    """Whether the event was delivered so often, in spite of a clock that was set back."""
    info = await bus.js.consumer_info("LOG", f"{ROOM}_clock")
    assert info.delivered is not None
    return info.delivered.consumer_seq > times


async def test_only_failures_are_counted_and_not_how_often_an_event_was_put_off(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", timedelta(milliseconds=50))
    kitchen = Kitchen()
    woken = breaking(kitchen, 2)
    async with kitchen.open(bus) as clock:
        await due_at(bus, from_now())
        await until(lambda: kitchen.woken)
        await until(clock.idle)
    assert 3 == len(woken)
    assert [] == await stored(bus, DEAD.name)


async def test_what_fails_each_time_ends_as_a_dead_letter(bus: Bus) -> None:
    kitchen = Kitchen()
    woken = breaking(kitchen, 100)
    async with kitchen.open(bus):
        await due_at(bus, from_now())
        await until(lambda: stored(bus, DEAD.name))
    assert 3 == len(woken)


def breaking(kitchen: Kitchen, times: int) -> list[Address]:
    """Let it break so many times when it is woken; the addresses that it was woken for."""
    woken: list[Address] = []

    async def broken(address: Address) -> None:
        woken.append(address)
        if len(woken) <= times:
            raise RuntimeError("the pot boiled over")
        await Kitchen.wake(kitchen, address)

    kitchen.wake = broken  # type: ignore[method-assign]
    return woken
