"""A decision covers all that it was folded from: on a real broker, by writers that race, with one event or many."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest

from schemas.codec import encode
from schemas.envelope import Actor, Envelope
from schemas.events import (
    DocumentCaptured,
    Event,
    MemoryProposed,
    MemoryReinforced,
    SessionIdled,
    SessionRenamed,
    SpendReserved,
)
from schemas.subjects import Address
from services.domain.draft import Draft
from services.domain.guards import ALL, WRITTEN
from services.edges.launcher.broker import Broker
from services.kit.aggregate import Aggregate
from services.kit.bus import Appender, Bus, Conflict
from services.kit.bus.append import PREDECESSOR
from tests.helpers.broker_world import HARBOUR, NOON, connected, facts, kit_of, quick_settings, titles, wrapped
from tests.helpers.examples import examples

pytestmark = pytest.mark.broker

PROJECT = Address("harbour")
ROOM = Actor("room", "test")
COUNTED = (MemoryProposed, MemoryReinforced, SpendReserved)
RENAMED, IDLED = (HARBOUR.log(event.TYPE) for event in (SessionRenamed, SessionIdled))


def count(counted: int, event: Event, _: Envelope) -> int:
    """How many facts of three types in two nouns there are."""
    return counted + isinstance(event, COUNTED)


def numbered(kind: int, before: int) -> Event:
    """A fact that names how many were there when it was decided."""
    match kind % 3:
        case 0:
            return MemoryProposed(memory="m", category="NAMING", text=str(before))
        case 1:
            return MemoryReinforced(memory="m", origin=str(before))
        case _:
            return SpendReserved(reservation=str(before), day="", purpose="", tokens=0, usd=0.0)


def number(event: Event) -> int:
    match event:
        case MemoryProposed(text=before) | MemoryReinforced(origin=before) | SpendReserved(reservation=before):
            return int(before)
        case _:
            raise TypeError(event)


async def counter(stack: AsyncExitStack, broker: Broker, *, catches_up: bool, bus: Bus | None = None) -> Aggregate[int]:
    """A process with a connection of its own, unless it shares one."""
    if bus is None:
        bus = await connected(broker)
        stack.push_async_callback(bus.close)
    kit = await stack.enter_async_context(kit_of("desk", bus, quick_settings()))
    return Aggregate.of(kit, count, 0, guard=ALL, catches_up=catches_up, once=True)


async def write(aggregate: Aggregate[int], kind: int, cause: str) -> None:
    async def decide(draft: Draft[int]) -> None:
        draft.record(numbered(kind, draft.state))

    await aggregate.handle(PROJECT, decide, cause=cause, at=NOON, actor=ROOM, again=lambda _: None)


@pytest.mark.parametrize("catches_up", [True, False])
async def test_a_decision_of_one_event_covers_every_noun_that_it_was_folded_from(
    broker: Broker,
    bus: Bus,
    catches_up: bool,  # noqa: FBT001
) -> None:
    """Many writers at two processes, each with one event, while another room writes to the same address."""
    writers = examples(100)

    async def captured(aggregate: Aggregate[int], name: str) -> None:
        async def decide(draft: Draft[int]) -> None:
            draft.record(DocumentCaptured(path=f"{name}.md", digest="d", bytes=1))

        await aggregate.handle(PROJECT, decide, cause=f"d{name}", at=NOON, actor=ROOM)

    async with AsyncExitStack() as stack:
        desks = [await counter(stack, broker, catches_up=catches_up) for _ in range(2)]
        other = await counter(stack, broker, catches_up=False)
        together = [write(desks[one % 2], one, f"w{one}") for one in range(writers)]
        await asyncio.gather(*together, *(captured(other, f"a{one}") for one in range(writers)))
        for one in range(writers):  # one by one as well: nothing waits, so that nothing is decided together
            apart = [write(desk, one + n, f"{n}/{one}") for n, desk in enumerate(desks)]
            await asyncio.gather(*apart, captured(other, f"b{one}"))
        states = [await desk.newest(PROJECT) for desk in desks]
    written = await facts(bus)
    counted = [number(event) for event in written if isinstance(event, COUNTED)]
    assert list(range(3 * writers)) == counted
    assert [3 * writers] * 2 == states
    assert 2 * writers == sum(isinstance(event, DocumentCaptured) for event in written)


async def test_two_aggregates_of_one_process_do_not_pass_each_other_in_one_batch(bus: Bus) -> None:
    """What waits while the broker is busy goes out together, and a batch does not see what it writes itself."""
    async with AsyncExitStack() as stack:
        kit = await stack.enter_async_context(kit_of("desk", bus, quick_settings()))
        both = [Aggregate.of(kit, count, 0, guard=ALL, catches_up=True, once=True) for _ in range(2)]
        await asyncio.gather(*(write(both[one % 2], one, f"w{one}") for one in range(60)))
    assert list(range(60)) == [number(event) for event in await facts(bus)]


async def test_who_decides_on_memory_names_what_it_is_folded_from(bus: Bus) -> None:
    async with kit_of("desk", bus, quick_settings()) as kit:
        with pytest.raises(ValueError, match="names what its states are folded from"):
            Aggregate.of(kit, count, 0, guard=WRITTEN, catches_up=False)


# Of one append.


async def test_of_two_appends_that_expect_the_same_one_is_written(bus: Bus) -> None:
    appender = Appender(bus)
    expected = {f"{HARBOUR.log_prefix}.session.*": 0}
    before = asyncio.create_task(appender.append(wrapped(titles(1), address=Address("harbour", "s2")), {}))
    results = await asyncio.gather(
        appender.append(wrapped([SessionRenamed(title="a")]), expected),
        appender.append(wrapped([SessionIdled()]), expected),
        return_exceptions=True,
    )
    await before
    assert isinstance(results[1], Conflict)
    assert [SessionRenamed(title="a")] == await facts(bus, HARBOUR)


class Interrupted(Appender):
    """An appender of a decision behind whose first event another writer comes in between."""

    def __init__(self, bus: Bus, rival: Envelope, subject: str) -> None:
        super().__init__(bus)
        self._bus = bus
        self._rival = rival
        self._subject = subject
        self._begun = asyncio.Event()
        self._turn = asyncio.Lock()
        self._is_in = False

    async def _request(self, message: Any, headers: dict[str, str]) -> Any:  # noqa: ANN401 - as they are there
        if PREDECESSOR in headers:
            await self._begun.wait()
            async with self._turn:
                if not self._is_in:
                    await self._bus.publish(self._subject, encode(self._rival), self._rival.id)
                    self._is_in = True
        reply = await super()._request(message, headers)
        self._begun.set()
        return reply


async def append_with(bus: Bus, rival: Address, expected: Mapping[str, int]) -> list[int]:
    """Append three events, with a title of a rival's between the first and the second."""
    title = SessionRenamed(title="rival")
    (other,) = wrapped([title], address=rival)
    appender = Interrupted(bus, other, rival.log(title.TYPE))
    return await appender.append(
        wrapped([SessionRenamed(title="a"), SessionIdled(), SessionRenamed(title="b")]), expected
    )


EXPECTED = pytest.mark.parametrize(
    "expected",
    [{HARBOUR.log_filter: 0}, {f"{HARBOUR.log_prefix}.session.*": 0}, {RENAMED: 0, IDLED: 0}],
    ids=["address", "noun", "types"],
)


@EXPECTED
async def test_a_decision_that_another_address_interrupts_is_written_wholly(
    bus: Bus, expected: Mapping[str, int]
) -> None:
    assert [1, 3, 4] == await append_with(bus, Address("harbour", "s2"), expected)


@EXPECTED
async def test_what_is_left_of_a_decision_is_stale_where_a_rival_came_in_between(
    bus: Bus, expected: Mapping[str, int]
) -> None:
    with pytest.raises(Conflict):
        await append_with(bus, HARBOUR, expected)
    assert [SessionRenamed(title="a"), SessionRenamed(title="rival")] == await facts(bus)


async def test_more_expectations_than_events_are_refused(bus: Bus) -> None:
    with pytest.raises(ValueError, match="1 events carry one expectation each"):
        await Appender(bus).append(wrapped([SessionIdled()]), {RENAMED: 0, IDLED: 0})
    assert [] == await facts(bus)
