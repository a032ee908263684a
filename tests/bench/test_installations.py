"""How far a room is, read from what it acknowledges."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from schemas.streams import LOG
from schemas.subjects import Address
from services.kit.bus import Appender, Bus, Delivery, Pull
from tests.bench.indexing import wrapped
from tests.bench.installations import Acknowledgements
from tests.helpers.indexed_sessions import message

pytestmark = pytest.mark.broker


@asynccontextmanager
async def reader(bus: Bus, durable: str, *, ack_all: bool) -> "AsyncIterator[asyncio.Queue[Delivery]]":
    """What a reader of the log is given. It acknowledges nothing by itself."""
    given: asyncio.Queue[Delivery] = asyncio.Queue()
    await bus.consumer(LOG.name, durable, ack_wait=300, max_ack_pending=100, ack_all=ack_all)
    pull = Pull(bus, LOG.name, durable, credit=100, deliver=given.put_nowait)
    await pull.start()
    try:
        yield given
    finally:
        await pull.stop()


async def test_a_position_is_reached_when_it_is_acknowledged_and_nobody_is_asked(bus: Bus) -> None:
    async with reader(bus, "committing", ack_all=True) as given:
        seen = await Acknowledgements.of(bus, LOG.name, "committing")
        seqs = await Appender(bus).append(wrapped(message("m1", "a") + message("m2", "b"), Address("p", "s")), {})
        deliveries = [await given.get() for _ in seqs]
        waiting = asyncio.create_task(seen.through(seqs[-1]))
        await deliveries[-1].in_progress()
        await deliveries[0].ack()
        await seen.count(1)
        assert not waiting.done()
        await deliveries[-1].ack()
        await waiting
    assert [seqs[0], seqs[-1]] == [position for _, position in seen.moments]


async def test_positions_that_are_acknowledged_one_by_one_are_counted_once_each(bus: Bus) -> None:
    async with reader(bus, "working", ack_all=False) as given:
        seen = await Acknowledgements.of(bus, LOG.name, "working")
        seqs = await Appender(bus).append(wrapped(message("m1", "a") + message("m2", "b"), Address("p", "s")), {})
        waiting = asyncio.create_task(seen.count(len(seqs)))
        for delivery in reversed([await given.get() for _ in seqs]):
            assert not waiting.done()
            await delivery.ack()
        await waiting
    assert {*seqs} == {position for _, position in seen.moments}
