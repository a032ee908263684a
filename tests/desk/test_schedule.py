"""What falls due is written down by the desks themselves, once however many they are, and whatever ends meanwhile."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from schemas.commands import MemoryExpire, MemoryWrite
from schemas.envelope import Actor
from schemas.events import Event, MemoryExpired, MemoryPaused, MemoryWritten, SessionOpened, StepOpened
from schemas.subjects import Address
from services.desk.books import Books
from services.desk.schedule import SLOT, Schedule, slot_of
from services.desk.worker import Desk
from services.domain.envelopes import envelopes
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus
from services.settings import MemoryLimits
from tests.desk.test_books import PROJECT, send
from tests.helpers.broker_world import NOON, connected, facts, kit_of, opened, quick_settings
from tests.helpers.memory_writers import folded
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

LATER = NOON + timedelta(days=31)
DUE = MemoryWrite(text="The login page is slow.", category="KNOWN_ISSUES")


async def times(bus: Bus) -> list[Event]:
    """What the log says of time."""
    return [event for event in await facts(bus, PROJECT) if isinstance(event, MemoryExpired | MemoryPaused)]


async def worked(bus: Bus, at: datetime, session: str) -> None:
    """A model call of a session at a moment."""
    address = Address(PROJECT.project, session)
    one = envelopes([StepOpened(step=f"{at}")], address, {session: at.day}, at=at, actor=Actor("harness"), cause="")
    await Appender(bus).append(one, {})


async def test_a_desk_brings_books_up_to_time_when_it_opens(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        answer = await send(bus, DUE)
    async with opened(Desk(), bus, quick_settings()):
        await until(lambda: times(bus))
    (event,) = await times(bus)
    assert isinstance(event, MemoryExpired)
    assert answer.text == f"Remembered as {event.memories[0]}."
    assert event.at == slot_of(event.at) <= datetime.now(UTC)


async def test_however_many_ask_in_a_slot_it_is_written_once(broker: Broker, bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        await send(bus, DUE)
    for days, session in ((0, "a"), (40, "b"), (41, "a"), (80, "b")):
        await worked(bus, NOON + timedelta(days=days), session)
    async with AsyncExitStack() as stack:
        schedules = []
        for _ in range(3):
            connection = await connected(broker)
            stack.push_async_callback(connection.close)
            kit = await stack.enter_async_context(kit_of("desk", connection, quick_settings()))
            schedules.append(Schedule(kit, Books(kit)))
        for day in (50, 50, 100):
            await asyncio.gather(*(one.ask(slot_of(NOON + timedelta(days=day))) for one in schedules))
    assert [(14, 40), (55, 80)] == [
        ((event.since - NOON).days, (event.until - NOON).days)
        for event in await times(bus)
        if isinstance(event, MemoryPaused)
    ]
    assert 1 == sum(isinstance(event, MemoryExpired) for event in await times(bus))
    assert 2 == len((await folded(bus)).pauses)


async def test_a_rest_is_seen_when_it_has_ended_after_the_last_look(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        await send(bus, replace(DUE, category="NAMING", text="Tables are plural, always."))
    async with kit_of("desk", bus, quick_settings()) as kit:
        schedule = Schedule(kit, Books(kit))
        await worked(bus, NOON, "a")
        await schedule.ask(slot_of(LATER))
        assert [] == await times(bus)
        await worked(bus, LATER, "a")
        await schedule.ask(slot_of(LATER) + SLOT)
    (pause,) = await times(bus)
    assert MemoryPaused(since=NOON + timedelta(days=14), until=LATER) == pause


async def test_a_project_that_cannot_be_read_keeps_no_other_from_it(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        await send(bus, DUE)
    for unreadable in ("=0", "~0"):
        await bus.client.jetstream().publish(f"log.0.{unreadable}._.{MemoryWritten.TYPE}", b"{}")
    async with kit_of("desk", bus, quick_settings()) as kit:
        schedule = Schedule(kit, Books(kit))
        await worked(bus, LATER, "a")
        await schedule.ask(slot_of(LATER))
    (event,) = await times(bus)
    assert isinstance(event, MemoryExpired)


async def test_a_person_may_ask_for_it(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        await send(bus, DUE)
        answer = await send(bus, MemoryExpire(LATER), "e")
        assert (True, "1 expired") == (answer.ok, answer.text[-10:-1])
        answer = await send(bus, MemoryExpire(datetime.now(UTC) + timedelta(days=1)), "f")
    assert (False, 0) == (answer.ok, answer.seq)
    assert "is still to come" in answer.text


async def test_where_memory_is_off_no_time_passes(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        await send(bus, DUE)
        before = await times(bus)
    async with opened(Desk(), bus, replace(quick_settings(), memory=MemoryLimits(enabled=False))):
        await Appender(bus).append(
            envelopes([SessionOpened(harness="h", mode="m")], PROJECT, {}, at=NOON, actor=Actor("room"), cause=""), {}
        )
    assert before == await times(bus)


def test_a_slot_begins_with_the_hour() -> None:
    assert NOON == slot_of(NOON) == slot_of(NOON + timedelta(minutes=59, seconds=59))
    assert NOON + SLOT == slot_of(NOON + SLOT)
