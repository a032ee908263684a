"""The pull: messages come as long as there is room for them, through all that a broker goes through."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from nats.errors import NoRespondersError

from schemas.streams import IN
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, Delivery, Pull
from services.kit.bus import pull as module
from tests.helpers.broker_world import connected
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

DURABLE = "reader"


class Reader:
    """Takes what comes, and finishes it when a test asks for it."""

    def __init__(self, bus: Bus, credit: int) -> None:
        self.bus = bus
        self.credit = credit
        self.seen: list[int] = []
        self.unacknowledged: list[Delivery] = []
        self.most = 0
        self.pull: Pull | None = None

    def arrived(self, delivery: Delivery) -> None:
        self.seen.append(delivery.metadata.sequence.stream)
        self.unacknowledged.append(delivery)
        self.most = max(self.most, len(self.unacknowledged))

    async def finish(self, count: int) -> None:
        for _ in range(count):
            await self.unacknowledged.pop(0).ack()
        assert self.pull is not None
        self.pull.finished(count)

    async def finish_all(self, total: int) -> None:
        """Finish as it comes, until so many have come."""
        while len(self.seen) < total or self.unacknowledged:
            await until(lambda: self.unacknowledged)
            await self.finish(len(self.unacknowledged))

    async def make(self) -> None:
        await self.bus.consumer(IN.name, DURABLE, ack_wait=30, max_ack_pending=1000)


@asynccontextmanager
async def reading(
    bus: Bus, credit: int = 8, *, mends: bool = True, rewind: Callable[[], Awaitable[None]] | None = None
) -> AsyncIterator[Reader]:
    reader = Reader(bus, credit)
    await reader.make()
    reader.pull = Pull(
        bus,
        IN.name,
        DURABLE,
        credit=credit,
        deliver=reader.arrived,
        make=reader.make if mends else None,
        rewind=rewind,
    )
    await reader.pull.start()
    try:
        yield reader
    finally:
        await reader.pull.stop()


async def publish(bus: Bus, count: int, start: int = 1) -> None:
    await asyncio.gather(*(bus.publish("in.pi.p.s", b"x", f"m{number}") for number in range(start, start + count)))


async def delete_consumer(bus: Bus) -> None:
    """Delete it as soon as a request waits there."""
    await until(lambda: waits(bus))
    await bus.js.delete_consumer(IN.name, DURABLE)


async def waits(bus: Bus) -> bool:
    return bool((await bus.js.consumer_info(IN.name, DURABLE)).num_waiting)


async def settled(bus: Bus) -> None:
    """Everything that the broker was asked before is answered."""
    await bus.client.flush()
    await bus.lag(IN.name, DURABLE)
    await bus.client.flush()


async def test_messages_come_in_order_and_never_more_than_there_is_room_for(bus: Bus) -> None:
    await publish(bus, 100)
    async with reading(bus, credit=8) as reader:
        await reader.finish_all(100)
        assert list(range(1, 101)) == reader.seen
        assert 8 == reader.most


async def test_without_room_nothing_more_is_asked_for(bus: Bus) -> None:
    await publish(bus, 30)
    async with reading(bus, credit=8) as reader:
        await until(lambda: len(reader.seen) == 8)
        await settled(bus)
        assert 8 == len(reader.seen)
        await reader.finish(3)
        await settled(bus)
        assert 8 == len(reader.seen)
        await reader.finish(1)
        await until(lambda: len(reader.seen) == 12)
        await settled(bus)
        assert (12, 8) == (len(reader.seen), len(reader.unacknowledged))


async def test_credit_of_one_goes_on_for_ever(bus: Bus) -> None:
    await publish(bus, 5)
    async with reading(bus, credit=1) as reader:
        await reader.finish_all(5)
        assert (list(range(1, 6)), 1) == (reader.seen, reader.most)


async def test_beginning_anew_does_not_let_in_more_than_there_is_room_for(bus: Bus) -> None:
    await publish(bus, 30)
    async with reading(bus, credit=8) as reader:
        await until(lambda: len(reader.seen) == 8)
        assert reader.pull is not None
        for _ in range(3):
            await reader.pull.restart()
        await settled(bus)
        assert 8 == len(reader.unacknowledged)
        await reader.finish_all(30)
        assert (list(range(1, 31)), 8) == (reader.seen, reader.most)


@pytest.mark.own_broker
async def test_reading_goes_on_after_a_restart_of_the_broker(broker: Broker, bus: Bus) -> None:
    await publish(bus, 5)
    async with reading(bus) as reader:
        await reader.finish_all(5)
        broker.stop()
        await until(lambda: not bus.connected)
        await broker.start()
        await until(lambda: bus.connected)
        await publish(bus, 5, start=6)
        await reader.finish_all(10)
        assert list(range(1, 11)) == reader.seen
        assert reader.most <= 8


async def test_an_expired_request_is_made_again(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXPIRES", 0.2)
    monkeypatch.setattr(module, "HEARTBEAT", 0.1)
    async with reading(bus) as reader:
        requests = count_requests(bus)
        await until(lambda: len(requests) >= 3)
        assert {8} == set(requests)
        await publish(bus, 20)
        await reader.finish_all(20)
        assert 8 >= reader.most


def count_requests(bus: Bus) -> list[int]:
    """How many messages each pull from now on asks for."""
    batches: list[int] = []
    publish_as_before = bus.client.publish

    async def counted(subject: str, payload: bytes = b"", reply: str = "", **options: object) -> None:
        if ".MSG.NEXT." in subject:
            batches.append(int(payload.split(b'"batch": ')[1].split(b",")[0]))
        await publish_as_before(subject, payload, reply, **options)  # type: ignore[arg-type]

    bus.client.publish = counted  # type: ignore[method-assign, assignment]
    return batches


@pytest.mark.parametrize("unacknowledged", [0, 3])
async def test_a_consumer_that_was_deleted_is_made_again(bus: Bus, unacknowledged: int) -> None:
    await publish(bus, unacknowledged)
    async with reading(bus) as reader:
        await until(lambda: len(reader.unacknowledged) == unacknowledged)
        await delete_consumer(bus)
        await publish(bus, 20, start=unacknowledged + 1)
        await until(lambda: len(reader.unacknowledged) == 8)
        await settled(bus)
        assert 8 == len(reader.unacknowledged)
        await reader.finish_all(unacknowledged + 20 + unacknowledged)
        assert list(range(1, unacknowledged + 21)) == reader.seen[unacknowledged:]
        assert 8 == reader.most


async def test_a_consumer_that_stays_away_is_not_asked_for_without_end(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.05)
    async with reading(bus, mends=False) as reader:
        requests = count_requests(bus)
        await delete_consumer(bus)
        began = asyncio.get_running_loop().time()
        await until(lambda: len(requests) >= 5)
        assert asyncio.get_running_loop().time() - began >= 4 * 0.05
        await reader.make()
        await publish(bus, 3)
        await reader.finish_all(3)
        assert [1, 2, 3] == reader.seen


@pytest.mark.own_broker
async def test_a_reader_that_cannot_go_back_yet_tries_again(
    broker: Broker, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.05)
    failures = [NoRespondersError(), NoRespondersError()]
    position = 0

    async def rewind() -> None:
        if position and failures:
            raise failures.pop()
        await bus.rewind(IN.name, DURABLE, position + 1)

    await publish(bus, 5)
    async with reading(bus, rewind=rewind) as reader:
        await reader.finish_all(5)
        position = 2
        broker.stop()
        await until(lambda: not bus.connected)
        await broker.start()
        await reader.finish_all(8)
        assert [1, 2, 3, 4, 5, 3, 4, 5] == reader.seen
    assert [] == failures


async def test_silence_is_noticed_and_ended(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that lost our request, as after a change of leaders, says nothing at all."""
    monkeypatch.setattr(module, "HEARTBEAT", 0.1)
    monkeypatch.setattr(module, "SILENCE", 0.3)
    monkeypatch.setattr(module, "PAUSE", 0.05)
    async with reading(bus) as reader:
        assert reader.pull is not None
        subscription = reader.pull._subscription  # noqa: SLF001
        assert subscription is not None
        await bus.client._send_unsubscribe(subscription._id)  # noqa: SLF001 - the broker forgets it, we do not
        await publish(bus, 3)
        await reader.finish_all(3)
        assert {1, 2, 3} == set(reader.seen)


async def test_after_its_end_nothing_more_comes(broker: Broker, bus: Bus) -> None:
    other = await connected(broker)
    try:
        async with reading(other) as reader:
            pass
        await publish(bus, 3)
        await settled(other)
        assert [] == reader.seen
        lag = await bus.lag(IN.name, DURABLE)
        assert (3, 0) == lag
        assert [] == other.on_reconnect
    finally:
        await other.close()


async def test_a_message_counts_as_waiting_as_soon_as_it_is_confirmed(bus: Bus) -> None:
    """Else a room that works until it is idle might end before it. A new consumer is slowest to count."""
    for number in range(1, 41):
        async with reading(bus) as reader:
            await bus.publish("in.pi.p.s", b"x", f"m{number}")
            assert (0, 0) != await bus.lag(IN.name, DURABLE)
            await reader.finish_all(number)
        await bus.js.delete_consumer(IN.name, DURABLE)
