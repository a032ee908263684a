"""States in memory: at the head of the log, whoever wrote to it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from schemas.codec import decode_event
from schemas.envelope import Envelope
from schemas.events import Event, SessionIdled, SessionRenamed
from schemas.subjects import Address
from services.domain.record import Record
from services.kit.bus import Appender, Bus, Conflict, LogReader
from services.kit.bus.log import READ_BATCH
from services.kit.cache import AppendedDecision, Entry, Sessions
from tests.helpers.broker_world import HARBOUR, facts, titles, wrapped
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

Known = tuple[Event, ...]
NOTHING: Known = ()


def evolve(known: Known, event: Event, _: Envelope) -> Known:
    return (*known, event)


def sessions(bus: Bus, capacity: int = 8) -> Sessions[Known]:
    return Sessions(LogReader(bus), evolve, NOTHING, capacity)


async def append(bus: Bus, entry: Entry[Known], events: list[Event]) -> None:
    """Decide in this process: append, and enter what was appended."""
    base = entry.base()
    made = wrapped(events, base.subjects, base.address)
    subjects = {base.address.log(event.TYPE) for event in events}
    seqs = await Appender(bus).append(made, {one: base.subjects.get(one, 0) for one in subjects})
    entry.take(evolve, AppendedDecision(base, made, events, (*base.state, *events)), seqs)


async def test_a_session_is_loaded_to_the_head_of_the_log(bus: Bus) -> None:
    events = titles(READ_BATCH + 5)
    await Appender(bus).append(wrapped(events), {})
    await Appender(bus).append(wrapped(titles(3), {}, Address("harbour", "s2")), {})
    entry = await sessions(bus).get(HARBOUR)
    assert tuple(events) == entry.state
    assert len(events) == entry.seq
    assert {HARBOUR.log(SessionRenamed.TYPE): len(events)} == entry.subjects


async def test_catching_up_reads_only_what_is_new(bus: Bus) -> None:
    cache = sessions(bus)
    await Appender(bus).append(wrapped(titles(2)), {})
    entry = await cache.get(HARBOUR)
    await Appender(bus).append(wrapped(titles(2, start=2), {HARBOUR.log(SessionRenamed.TYPE): 2}), entry.subjects)
    assert tuple(titles(2)) == entry.state
    await cache.catch_up(entry)
    assert tuple(titles(4)) == entry.state
    assert entry is await cache.get(HARBOUR)


async def test_of_two_writers_of_one_type_the_loser_reloads_and_decides_again(bus: Bus) -> None:
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
    cache = sessions(bus)
    entry = await cache.get(HARBOUR)
    await append(bus, entry, titles(3))
    await cache.catch_up(entry)
    assert tuple(titles(3)) == entry.state
    assert 3 == entry.seq


async def test_a_fact_that_is_fed_while_a_decision_is_appended_is_not_lost_and_none_counts_twice(bus: Bus) -> None:
    """The reader of the log may be faster than the confirmation of what was appended."""
    entry = await sessions(bus).get(HARBOUR)
    base = entry.base()
    await Appender(bus).append(wrapped([SessionIdled()]), {})
    made = wrapped(titles(2), base.subjects)
    seqs = await Appender(bus).append(made, base.subjects)
    async for recorded in LogReader(bus).after(0, HARBOUR.log_filter):
        if recorded.envelope.seq < 3:
            entry.feed(evolve, recorded.envelope, decode_event(recorded.envelope))
    entry.take(evolve, AppendedDecision(base, made, titles(2), (*base.state, *titles(2))), seqs)
    assert (SessionIdled(), *titles(2)) == entry.state


async def test_facts_of_other_writers_between_own_ones_are_not_lost(bus: Bus) -> None:
    cache = sessions(bus)
    entry = await cache.get(HARBOUR)
    await append(bus, entry, titles(1))
    await Appender(bus).append(wrapped([SessionIdled()]), {})
    await append(bus, entry, titles(1, start=1))
    assert 0 == entry.seq
    await cache.catch_up(entry)
    assert (*titles(2), SessionIdled()) == entry.state
    assert {HARBOUR.log(SessionRenamed.TYPE): 3, HARBOUR.log(SessionIdled.TYPE): 2} == entry.subjects
    assert 3 == entry.seq


async def test_a_fact_that_breaks_the_fold_is_passed_over_and_its_position_counts(bus: Bus) -> None:
    def breaking(known: Known, event: Event, _: Envelope) -> Known:
        if event == SessionRenamed(title="title 1"):
            raise ValueError("nobody can fold this")
        return (*known, event)

    await Appender(bus).append(wrapped(titles(3)), {})
    entry = await Sessions(LogReader(bus), breaking, NOTHING, 8).get(HARBOUR)
    assert (titles(3)[0], titles(3)[2]) == entry.state
    assert (3, {HARBOUR.log(SessionRenamed.TYPE): 3}) == (entry.seq, entry.subjects)


async def test_the_session_used_longest_ago_is_forgotten(bus: Bus) -> None:
    cache = sessions(bus, capacity=2)
    first, second, third = (Address("harbour", f"s{number}") for number in range(3))
    for address in (first, second, first, third):
        await cache.get(address)
    assert 2 == len(cache)
    assert cache.peek(second) is None
    assert cache.peek(first) is not None


class Gate(LogReader):
    """A reader that waits before each session until it is let through."""

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus)
        self.open: dict[str, asyncio.Event] = {}
        self.reading = asyncio.Semaphore(0)

    async def after(self, seq: int, subject_filter: str) -> AsyncIterator[Record]:
        self.reading.release()
        await self.open.setdefault(subject_filter, asyncio.Event()).wait()
        async for recorded in super().after(seq, subject_filter):
            yield recorded


async def test_a_session_that_is_being_loaded_is_not_forgotten(bus: Bus) -> None:
    reader = Gate(bus)
    cache = Sessions(reader, evolve, NOTHING, capacity=1)
    await Appender(bus).append(wrapped(titles(2)), {})
    other = Address("harbour", "s2")
    loads = []
    for address in (HARBOUR, other):
        loads.append(asyncio.create_task(cache.get(address)))
        await asyncio.wait_for(reader.reading.acquire(), PATIENCE)
    again = asyncio.create_task(cache.get(HARBOUR))
    for gate in reader.open.values():
        gate.set()
    first, second = await asyncio.gather(*loads)
    assert first is await again
    assert (tuple(titles(2)), ()) == (first.state, second.state)


async def test_one_session_asked_for_twice_at_once_is_loaded_once(bus: Bus) -> None:
    reader = Gate(bus)
    cache = Sessions(reader, evolve, NOTHING, capacity=8)
    both = [asyncio.create_task(cache.get(HARBOUR)) for _ in range(2)]
    await asyncio.wait_for(reader.reading.acquire(), PATIENCE)
    reader.open[HARBOUR.log_filter].set()
    first, second = await asyncio.gather(*both)
    assert first is second
    assert reader.reading.locked()


async def test_a_load_that_fails_leaves_nothing_behind(bus: Bus) -> None:
    class Broken(LogReader):
        async def after(self, seq: int, subject_filter: str) -> AsyncIterator[Record]:
            async for recorded in super().after(seq, subject_filter):
                yield recorded
            raise ConnectionError

    cache = Sessions(Broken(bus), evolve, NOTHING, capacity=8)
    with pytest.raises(ConnectionError):
        await cache.get(HARBOUR)
    assert cache.peek(HARBOUR) is None
