"""States in memory: at the head of the log, whoever wrote to it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from schemas.envelope import Envelope
from schemas.events import Event, SessionIdled, SessionRenamed
from schemas.subjects import Address
from services.kit.bus import Appender, Bus, Conflict, LogReader, Recorded
from services.kit.bus.log import READ_BATCH
from services.kit.cache import Entry, Sessions
from tests.broker.world import HARBOUR, facts, titles, wrapped

pytestmark = pytest.mark.broker

Told = tuple[Event, ...]
NOTHING: Told = ()


def evolve(told: Told, event: Event, _: Envelope) -> Told:
    return (*told, event)


def sessions(bus: Bus, capacity: int = 8) -> Sessions[Told]:
    return Sessions(LogReader(bus), evolve, NOTHING, capacity)


async def append(bus: Bus, entry: Entry[Told], events: list[Event]) -> None:
    """Decide in this process: append, and enter what was appended."""
    made = wrapped(events, entry.subjects, entry.address)
    entry.take(made, await Appender(bus).append(made, entry.subjects), (*entry.state, *events))


async def test_a_session_is_loaded_to_the_head_of_the_log(bus: Bus) -> None:
    events = titles(READ_BATCH + 5)
    await Appender(bus).append(wrapped(events), {})
    await Appender(bus).append(wrapped(titles(3), {}, Address("harbour", "s2")), {})
    entry = await sessions(bus).get(HARBOUR)
    assert tuple(events) == entry.state
    assert len(events) == entry.seq
    assert {HARBOUR.log(SessionRenamed.TYPE): len(events)} == entry.subjects


async def test_catching_up_reads_only_what_is_new(bus: Bus) -> None:
    held = sessions(bus)
    await Appender(bus).append(wrapped(titles(2)), {})
    entry = await held.get(HARBOUR)
    await Appender(bus).append(wrapped(titles(2, start=2), {HARBOUR.log(SessionRenamed.TYPE): 2}), entry.subjects)
    assert tuple(titles(2)) == entry.state
    await held.catch_up(entry)
    assert tuple(titles(4)) == entry.state
    assert entry is await held.get(HARBOUR)


async def test_of_two_writers_with_one_pen_the_loser_reloads_and_decides_again(bus: Bus) -> None:
    winner, loser = sessions(bus), sessions(bus)
    first, second = await winner.get(HARBOUR), await loser.get(HARBOUR)
    await append(bus, first, [SessionRenamed(title="first")])
    with pytest.raises(Conflict):
        await append(bus, second, [SessionRenamed(title="second")])
    await loser.reload(second)
    assert (SessionRenamed(title="first"),) == second.state
    await append(bus, second, [SessionRenamed(title="second")])
    assert [SessionRenamed(title="first"), SessionRenamed(title="second")] == await facts(bus)


async def test_own_facts_are_not_applied_twice(bus: Bus) -> None:
    held = sessions(bus)
    entry = await held.get(HARBOUR)
    await append(bus, entry, titles(3))
    await held.catch_up(entry)
    assert tuple(titles(3)) == entry.state
    assert (3, set()) == (entry.seq, entry.own)


async def test_facts_of_other_pens_between_own_ones_are_not_lost(bus: Bus) -> None:
    held = sessions(bus)
    entry = await held.get(HARBOUR)
    await append(bus, entry, titles(1))
    await Appender(bus).append(wrapped([SessionIdled()]), {})
    await append(bus, entry, titles(1, start=1))
    assert {1, 3} == entry.own
    await held.catch_up(entry)
    assert (*titles(2), SessionIdled()) == entry.state
    assert {HARBOUR.log(SessionRenamed.TYPE): 3, HARBOUR.log(SessionIdled.TYPE): 2} == entry.subjects
    assert (3, set()) == (entry.seq, entry.own)


async def test_the_session_used_longest_ago_is_forgotten(bus: Bus) -> None:
    held = sessions(bus, capacity=2)
    first, second, third = (Address("harbour", f"s{number}") for number in range(3))
    for address in (first, second, first, third):
        await held.get(address)
    assert 2 == len(held)
    assert held.held(second) is None
    assert held.held(first) is not None


class Gate(LogReader):
    """A reader that waits before each session until it is let through."""

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus)
        self.open: dict[str, asyncio.Event] = {}
        self.reading = asyncio.Semaphore(0)

    async def after(self, seq: int, subject_filter: str) -> AsyncIterator[Recorded]:
        self.reading.release()
        await self.open.setdefault(subject_filter, asyncio.Event()).wait()
        async for recorded in super().after(seq, subject_filter):
            yield recorded


async def test_a_session_that_is_being_loaded_is_not_forgotten(bus: Bus) -> None:
    reader = Gate(bus)
    held = Sessions(reader, evolve, NOTHING, capacity=1)
    await Appender(bus).append(wrapped(titles(2)), {})
    other = Address("harbour", "s2")
    loads = []
    for address in (HARBOUR, other):
        loads.append(asyncio.create_task(held.get(address)))
        await asyncio.wait_for(reader.reading.acquire(), 5)
    again = asyncio.create_task(held.get(HARBOUR))
    for gate in reader.open.values():
        gate.set()
    first, second = await asyncio.gather(*loads)
    assert first is await again
    assert (tuple(titles(2)), ()) == (first.state, second.state)


async def test_one_session_asked_for_twice_at_once_is_loaded_once(bus: Bus) -> None:
    reader = Gate(bus)
    held = Sessions(reader, evolve, NOTHING, capacity=8)
    both = [asyncio.create_task(held.get(HARBOUR)) for _ in range(2)]
    await asyncio.wait_for(reader.reading.acquire(), 5)
    reader.open[HARBOUR.log_filter].set()
    first, second = await asyncio.gather(*both)
    assert first is second
    assert reader.reading.locked()


async def test_a_load_that_fails_leaves_nothing_behind(bus: Bus) -> None:
    class Broken(LogReader):
        async def after(self, seq: int, subject_filter: str) -> AsyncIterator[Recorded]:
            async for recorded in super().after(seq, subject_filter):
                yield recorded
            raise ConnectionError

    held = Sessions(Broken(bus), evolve, NOTHING, capacity=8)
    with pytest.raises(ConnectionError):
        await held.get(HARBOUR)
    assert held.held(HARBOUR) is None
