"""The loop on a real broker: whatever breaks, each word is written once, and none is lost without a reason."""

import asyncio
import json
from collections.abc import Callable

import pytest

from schemas.events import SessionClosed, SessionRenamed
from schemas.streams import DEAD, IN
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, Delivery, Unreachable
from tests.helpers.broker_world import HARBOUR, connected, facts, quick_settings, stored
from tests.helpers.echo_room import ROOM, EchoRoom, at_work, publish
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

BEATS = 3
"""Signs of life in the time after which the broker would deliver a message again."""


async def written(bus: Bus, address: Address = HARBOUR) -> list[str]:
    """The words that both their facts are written of, in order; no fact may be there twice."""
    found = await facts(bus, address)
    begun = [event.title for event in found if isinstance(event, SessionRenamed)]
    ended = [event.reason for event in found if isinstance(event, SessionClosed)]
    assert len(set(begun)) == len(begun)
    assert len(set(ended)) == len(ended)
    return [word for word in begun if word in ended]


async def idle(room: EchoRoom) -> None:
    await until(room.loop.idle)


async def dead_letters(bus: Bus) -> list[tuple[str, str, str, str]]:
    """Word, reason, subject and sequence of each dead letter."""
    return [
        (
            dead.data.decode(errors="replace"),
            dead.headers["Annals-Reason"],
            dead.headers["Annals-Subject"],
            dead.headers["Annals-Sequence"],
        )
        for dead in await stored(bus, DEAD.name)
    ]


def gone(bus: Bus) -> Callable[[], object]:
    """Cut this connection as a crash does: nothing more is sent on it."""
    return bus.client.close


# Order and concurrency.


async def test_the_messages_of_a_session_are_worked_in_order(bus: Bus) -> None:
    words = [f"word {number}" for number in range(150)]
    await publish(bus, *words)
    async with at_work(bus, quick_settings()) as room:
        await idle(room)
    assert words == await written(bus)


async def test_sessions_are_worked_at_once(bus: Bus) -> None:
    """Each waits in the middle of its work until all the others are there."""
    addresses = [Address("harbour", f"s{number}") for number in range(8)]
    async with at_work(bus, quick_settings()) as room:
        gates = [room.gate(f"from {address.session}") for address in addresses]
        for address in addresses:
            await publish(bus, f"from {address.session}", address=address)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(entered.wait() for entered, _ in gates))
        for _, may_go in gates:
            may_go.set()
        await idle(room)
    assert [["from s0"], ["from s7"]] == [await written(bus, address) for address in (addresses[0], addresses[-1])]


async def test_a_session_that_hangs_does_not_hold_up_another(bus: Bus) -> None:
    quay = Address("harbour", "s2")
    async with at_work(bus, quick_settings()) as room:
        entered, may_go = room.gate("slow")
        await publish(bus, "slow", "after")
        await entered.wait()
        await publish(bus, "quick", address=quay)
        await until(lambda: written(bus, quay))
        assert [] == await written(bus)
        may_go.set()
        await idle(room)
    assert ["slow", "after"] == await written(bus)


# Crashes.


async def test_a_crash_between_append_and_acknowledgement_writes_each_fact_once(broker: Broker, bus: Bus) -> None:
    await publish(bus, "one", "two", "three")
    first = await connected(broker)
    settings = quick_settings()
    async with at_work(first, settings) as room:
        room.after_writing["one"] = gone(first)
        await until(lambda: first.client.is_closed)
    assert ["one", "two", "three"] == await written(bus)
    lag = await bus.lag(IN.name, ROOM)
    assert lag is not None
    assert 3 == lag.in_hand
    async with at_work(bus, settings) as room:
        await idle(room)
        assert ["one", "two", "three"] == [word for word, _ in room.attempts]
    assert ["one", "two", "three"] == await written(bus)


async def test_what_a_life_before_had_in_hand_comes_before_what_is_behind_it(broker: Broker, bus: Bus) -> None:
    """And at once, without the broker's waiting first."""
    first = await connected(broker)
    settings = quick_settings(ack_wait=30.0, grace=0.05)
    await publish(bus, "zero", "one", "two")
    async with at_work(first, settings) as room:
        entered, _ = room.gate("one")
        await entered.wait()
    await first.close()
    await publish(bus, "three")
    async with at_work(bus, settings) as room:
        async with asyncio.timeout(PATIENCE):
            await idle(room)
    assert ["zero", "one", "two", "three"] == await written(bus)


async def test_a_connection_cut_before_the_append_loses_nothing(broker: Broker, bus: Bus) -> None:
    await publish(bus, "one")
    first = await connected(broker)
    settings = quick_settings(ack_wait=0.5, grace=0.1)
    async with at_work(first, settings) as room:
        entered, may_go = room.gate("one")
        await entered.wait()
        await first.client.close()
        may_go.set()
    assert [] == await written(bus)
    async with at_work(bus, settings) as room:
        await idle(room)
    assert ["one"] == await written(bus)


async def test_two_replicas_write_each_fact_once(broker: Broker, bus: Bus) -> None:
    words = [f"word {number}" for number in range(120)]
    other = await connected(broker)
    try:
        async with (
            at_work(bus, quick_settings(max_in_hand=4)) as first,
            at_work(other, quick_settings(max_in_hand=4)) as second,
        ):
            await publish(bus, *words)
            await idle(first)
            await idle(second)
            assert first.read
            assert second.read
    finally:
        await other.close()
    assert sorted(words) == sorted(await written(bus))
    assert [] == await dead_letters(bus)


async def test_work_that_takes_longer_than_the_wait_for_its_acknowledgement_is_not_given_out_again(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat, beats = Delivery.in_progress, []

    async def counted(delivery: Delivery) -> None:
        await beat(delivery)
        beats.append(delivery)

    monkeypatch.setattr(Delivery, "in_progress", counted)
    async with at_work(bus, quick_settings(ack_wait=3.0)) as room:
        _, may_go = room.gate("slow")
        await publish(bus, "slow")
        await until(lambda: len(beats) > BEATS)
        may_go.set()
        await idle(room)
        assert [("slow", 1)] == room.attempts
    assert ["slow"] == await written(bus)


# What becomes of a message.


async def test_what_is_put_off_comes_again_after_its_delay(bus: Bus) -> None:
    await publish(bus, "later", "now")
    clock = asyncio.get_running_loop().time
    began = clock()
    async with at_work(bus, quick_settings()) as room:
        await idle(room)
        assert [("later", 1), ("now", 1), ("later", 2)] == room.attempts
    assert clock() - began >= 0.05
    assert ["now", "later"] == await written(bus)


async def test_what_is_refused_becomes_a_dead_letter_that_says_why_and_whence(bus: Bus) -> None:
    await publish(bus, "one", "refuse", "two")
    async with at_work(bus, quick_settings()) as room:
        await idle(room)
    assert ["one", "two"] == await written(bus)
    assert [("refuse", "this word is refused; say another", HARBOUR.inbound("pi"), "2")] == await dead_letters(bus)


async def test_what_cannot_be_read_becomes_a_dead_letter(bus: Bus) -> None:
    await publish(bus, "garbage", "good")
    async with at_work(bus, quick_settings()) as room:
        await idle(room)
    assert ["good"] == await written(bus)
    assert [("garbage", "this is garbage; say a word", HARBOUR.inbound("pi"), "1")] == await dead_letters(bus)


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("in.pi", "'in.pi' is not in.<harness>.<project>.<session>"),
        ("in.pi.harbour", "'in.pi.harbour' is not in.<harness>.<project>.<session>"),
        ("in.pi.harbour.s1.x", "'in.pi.harbour.s1.x' is not in.<harness>.<project>.<session>"),
        ("in.pi._.s1", "'in.pi._.s1' is not in.<harness>.<project>.<session>"),
        ("in.pi.har=bour.s1", "the token 'har=bour' is not how 'har=bour' is written; that is 'har=3Dbour'"),
    ],
)
async def test_a_subject_that_is_no_address_becomes_a_dead_letter(bus: Bus, subject: str, reason: str) -> None:
    await bus.publish(subject, b"word", "w1")
    await publish(bus, "good")
    async with at_work(bus, quick_settings()) as room:
        await idle(room)
    assert ["good"] == await written(bus)
    assert [("word", reason, subject, "1")] == await dead_letters(bus)


class Doomed(Bus):
    """A connection that breaks right after a dead letter was stored."""

    async def dead_letter(self, room: str, stream: str, message: Delivery, reason: str) -> None:
        await super().dead_letter(room, stream, message, reason)
        await self.client.close()


async def test_a_dead_letter_is_stored_once_although_its_message_comes_again(broker: Broker, bus: Bus) -> None:
    await publish(bus, "refuse")
    settings = quick_settings()
    for _ in range(2):
        connection = await connected(broker, kind=Doomed)
        async with at_work(connection, settings) as room:
            await connection.lost.wait()
            assert ["refuse"] == [word for word, _ in room.attempts]
    async with at_work(bus, settings) as room:
        await idle(room)
        assert ["refuse"] == [word for word, _ in room.attempts]
    assert 1 == len(await dead_letters(bus))


async def test_what_breaks_is_tried_again_with_growing_pauses_and_given_up_with_the_reason(bus: Bus) -> None:
    await publish(bus, "break")
    clock = asyncio.get_running_loop().time
    began = clock()
    async with at_work(bus, quick_settings(max_deliver=4, backoff=0.05)) as room:
        await idle(room)
        assert [("break", 1), ("break", 2), ("break", 3), ("break", 4)] == room.attempts
    assert clock() - began >= 0.05 + 0.1 + 0.2
    assert [("break", "failed 4 times: RuntimeError: it broke", HARBOUR.inbound("pi"), "1")] == await dead_letters(bus)


async def test_what_breaks_at_first_is_done_at_a_later_attempt(bus: Bus) -> None:
    await publish(bus, "break 2")
    async with at_work(bus, quick_settings(max_deliver=3)) as room:
        await idle(room)
    assert ["break 2"] == await written(bus)
    assert [] == await dead_letters(bus)


async def test_a_broken_message_does_not_hurt_its_neighbours(bus: Bus) -> None:
    await publish(bus, "one", "two", "break", "garbage", "three", "refuse", "four")
    async with at_work(bus, quick_settings(max_deliver=2)) as room:
        await idle(room)
        assert 0 == room.loop.in_hand
        assert {1} == {attempt for word, attempt in room.attempts if word != "break"}
    assert ["one", "two", "three", "four"] == await written(bus)
    assert ["break", "garbage", "refuse"] == sorted(word for word, *_ in await dead_letters(bus))


async def test_a_message_is_counted_once_whatever_becomes_of_it(bus: Bus) -> None:
    """Its credit comes back once, too: more would let too many in, fewer would stop the consumer."""
    async with at_work(bus, quick_settings(max_in_hand=2, max_deliver=2)) as room:
        for turn in range(10):
            await publish(bus, f"garbage{turn}", f"break {turn}", f"refuse {turn}", "garbage")
        await idle(room)
        assert 0 == room.loop.in_hand
        await publish(bus, "good")
        await idle(room)
    assert "good" == (await written(bus))[-1]


async def test_work_after_the_append_that_fails_is_done_again_and_the_facts_are_not(bus: Bus) -> None:
    failures = [RuntimeError("no luck"), RuntimeError("no luck")]

    def fail() -> None:
        if failures:
            raise failures.pop()

    await publish(bus, "one", "two", "three")
    async with at_work(bus, quick_settings()) as room:
        room.after_writing["two"] = fail
        await idle(room)
        assert 0 == room.loop.in_hand
        assert [("two", 2), ("two", 3)] == room.attempts[3:]
    assert ["one", "two", "three"] == await written(bus)
    assert [] == await dead_letters(bus)


async def test_what_cannot_be_worked_while_something_is_away_waits_longer_than_any_number_of_attempts(bus: Bus) -> None:
    away = [Unreachable("the bucket is away") for _ in range(7)]

    def fail() -> None:
        if away:
            raise away.pop()

    await publish(bus, "one")
    async with at_work(bus, quick_settings(max_deliver=2)) as room:
        room.after_writing["one"] = fail
        await idle(room)
        assert 8 == room.attempts[-1][1]
    assert ["one"] == await written(bus)
    assert [] == await dead_letters(bus)


async def test_while_something_is_away_nothing_overtakes_what_needs_it(bus: Bus) -> None:
    await publish(bus, "one", "two", "three")
    async with at_work(bus, quick_settings(max_deliver=2, backoff=0.01)) as room:
        room.away["two"] = 4
        await idle(room)
        assert ["one", *["two"] * 5, "three"] == [word for word, _ in room.attempts]
    assert ["one", "two", "three"] == await written(bus)
    assert [] == await dead_letters(bus)


async def test_a_dead_letter_at_the_brokers_limit_is_stored_as_far_as_it_fits(bus: Bus) -> None:
    headers = {"Nats-Msg-Id": "x"}
    size = bus.max_payload - len("NATS/1.0\r\nNats-Msg-Id: x\r\n\r\n")
    await bus.client.publish("in.pi.nowhere", b"x" * size, headers=headers)
    await bus.client.flush()
    async with at_work(bus, quick_settings()) as room:
        await idle(room)
        await publish(bus, "good")
        await idle(room)
    (dead,) = await stored(bus, DEAD.name)
    assert str(size) == dead.headers["Annals-Bytes"]
    assert size - 1000 < len(dead.data) < size
    assert ["good"] == await written(bus)


async def test_a_subject_that_is_not_utf_8_becomes_a_dead_letter(broker: Broker, bus: Bus) -> None:
    async with at_work(bus, quick_settings()) as room:
        await publish_bytes(broker, b"in.pi.harbour.\xff\xfe", b"word")
        await until(lambda: dead_letters(bus))
        await publish(bus, "good")
        await idle(room)
    assert ["good"] == await written(bus)
    ((_, reason, subject, _),) = await dead_letters(bus)
    assert r"in.pi.harbour.\xff\xfe" == subject
    assert r"\xff" in reason


async def publish_bytes(broker: Broker, subject: bytes, data: bytes) -> None:
    """Publish as a client that checks nothing."""
    endpoint = broker.endpoint_of("harness")
    reader, writer = await asyncio.open_connection("127.0.0.1", int(endpoint.url.rpartition(":")[2]))
    await reader.readline()
    options = {"verbose": False, "user": endpoint.user, "pass": endpoint.password}
    writer.write(b"CONNECT %b\r\n" % json.dumps(options).encode())
    writer.write(b"PUB %b %d\r\n%b\r\nPING\r\n" % (subject, len(data), data))
    await writer.drain()
    assert b"PONG\r\n" == await reader.readline()
    writer.close()
    await writer.wait_closed()


# The broker goes away, the room is closed.


@pytest.mark.own_broker
async def test_the_loop_goes_on_after_a_restart_of_the_broker(broker: Broker, bus: Bus) -> None:
    async with at_work(bus, quick_settings(ack_wait=1.0)) as room:
        await publish(bus, "before")
        await idle(room)
        entered, may_go = room.gate("during")
        await publish(bus, "during")
        await entered.wait()
        broker.stop()
        await until(lambda: not bus.connected)
        may_go.set()
        await broker.start()
        await until(lambda: bus.connected)
        await publish(bus, "after")
        await idle(room)
    assert ["before", "during", "after"] == await written(bus)
    assert [] == await dead_letters(bus)


async def test_a_consumer_that_was_deleted_is_made_again(bus: Bus) -> None:
    async with at_work(bus, quick_settings()) as room:
        await publish(bus, "before")
        await idle(room)
        await bus.js.delete_consumer(IN.name, ROOM)
        await publish(bus, "after")
        await until(lambda: has(bus, "after"))
        await idle(room)
    assert ["before", "after"] == await written(bus)


async def has(bus: Bus, word: str) -> bool:
    return word in await written(bus)


async def test_closing_finishes_what_is_in_hand(bus: Bus) -> None:
    async with at_work(bus, quick_settings()) as room:
        entered, may_go = room.gate("slow")
        await publish(bus, "slow", "next")
        await entered.wait()
        await until(lambda: room.loop.in_hand == 2)
        asyncio.get_running_loop().call_soon(may_go.set)
    assert ["slow", "next"] == await written(bus)
    lag = await bus.lag(IN.name, ROOM)
    assert (0, 0) == lag


async def test_what_the_grace_period_cuts_off_is_delivered_again(broker: Broker, bus: Bus) -> None:
    first = await connected(broker)
    settings = quick_settings(grace=0.05)
    async with at_work(first, settings) as room:
        entered, _ = room.gate("stuck")
        await publish(bus, "stuck")
        await entered.wait()
    await first.close()
    assert [] == await written(bus)
    async with at_work(bus, settings) as room:
        await idle(room)
        assert ["stuck"] == [word for word, _ in room.attempts]
    assert ["stuck"] == await written(bus)
