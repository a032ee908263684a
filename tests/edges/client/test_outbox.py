"""The outbox: messages arrive once and in order, whatever the broker and the harness go through."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from schemas.streams import IN
from services.edges.client.outbox import WINDOW, Outbox, Outgoing
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, TooLarge
from tests.helpers.broker_world import HARBOUR, connected, stored
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

SUBJECT = HARBOUR.inbound("pi")


def message(word: str) -> Outgoing:
    return Outgoing(SUBJECT, f"pi/s1/{word}", word.encode())


@asynccontextmanager
async def outbox(bus: Bus, spool: Path | None = None) -> AsyncIterator[Outbox]:
    box = Outbox(bus, spool)
    try:
        yield box
    finally:
        await box.close()


async def arrived(bus: Bus) -> list[str]:
    return [one.data.decode() for one in await stored(bus, IN.name)]


async def away(broker: Broker, bus: Bus) -> None:
    broker.stop()
    await until(lambda: not bus.connected)


async def back(broker: Broker, bus: Bus) -> None:
    await broker.start()
    await until(lambda: bus.connected)


async def test_letters_arrive_once_and_in_order(bus: Bus) -> None:
    words = [f"word {number}" for number in range(3 * WINDOW + 1)]
    async with outbox(bus) as box:
        for word in words:
            box.put(message(word))
        await box.flushed()
    assert words == await arrived(bus)


async def test_a_message_does_not_wait_for_the_confirmation_of_those_before(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that sent a window and waited for all of it reported at the pace of the slowest answer."""
    is_confirmed = asyncio.Event()
    publish = bus.publish

    async def slow(subject: str, data: bytes, message_id: str) -> int:
        position = await publish(subject, data, message_id)
        if data == b"slow":
            await is_confirmed.wait()
        return position

    monkeypatch.setattr(bus, "publish", slow)
    async with outbox(bus) as box:
        box.put(message("slow"))
        await until(lambda: _count(bus, 1))
        box.put(message("next"))
        await until(lambda: _count(bus, 2))
        is_confirmed.set()
        await box.flushed()
    assert ["slow", "next"] == await arrived(bus)


async def test_a_letter_put_twice_arrives_once(bus: Bus) -> None:
    async with outbox(bus) as box:
        box.put(message("word"))
        box.put(message("word"))
        await box.flushed()
    assert ["word"] == await arrived(bus)


@pytest.mark.own_broker
async def test_while_the_broker_is_away_letters_wait_on_disk(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    spool = tmp_path / "spool" / "letters"
    async with outbox(bus, spool) as box:
        box.put(message("before"))
        await box.flushed()
        await away(broker, bus)
        sizes = []
        for word in ("one", "two", "three"):
            box.put(message(word))
            sizes.append(len(spool.read_bytes().splitlines()))
        assert [1, 2, 3] == sizes
        await back(broker, bus)
        await box.flushed()
        assert ["before", "one", "two", "three"] == await arrived(bus)
        await until(lambda: spool.read_bytes() == b"")


@pytest.mark.own_broker
async def test_a_new_outbox_sends_what_the_one_before_could_not(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    spool = tmp_path / "letters"
    async with outbox(bus, spool) as box:
        await away(broker, bus)
        for word in ("one", "two"):
            box.put(message(word))
    await back(broker, bus)
    async with outbox(bus, spool) as box:
        box.put(message("three"))
        await box.flushed()
    assert ["one", "two", "three"] == await arrived(bus)
    assert b"" == spool.read_bytes()


@pytest.mark.own_broker
async def test_a_process_that_is_killed_leaves_its_letters_to_the_next(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    """The line that it was writing when it was killed counts for nothing; its harness has the event still."""
    spool = tmp_path / "letters"
    async with outbox(bus, spool) as box:
        await away(broker, bus)
        for word in ("one", "two"):
            box.put(message(word))
        killed = spool.read_bytes()
    spool.write_bytes(killed + killed.splitlines()[0][:20])
    await back(broker, bus)
    async with outbox(bus, spool) as box:
        await box.flushed()
    assert ["one", "two"] == await arrived(bus)


async def test_what_was_sent_and_not_confirmed_arrives_once(broker: Broker, tmp_path: Path, bus: Bus) -> None:
    """The connection breaks when the letters are out and no answer is in: the next outbox sends all of them again."""
    spool = tmp_path / "letters"
    first = await connected(broker)
    words = [f"word {number}" for number in range(10)]
    async with outbox(first, spool) as box:
        for word in words:
            box.put(message(word))
        await until(lambda: arrived(bus))
        await first.client.close()
    async with outbox(bus, spool) as box:
        for word in words:
            box.put(message(word))
        await box.flushed()
    assert words == await arrived(bus)


@pytest.mark.own_broker
async def test_letters_stay_in_order_over_a_restart_of_the_broker(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    words = [f"word {number}" for number in range(5 * WINDOW)]
    async with outbox(bus, tmp_path / "letters") as box:
        for word in words[: 3 * WINDOW]:
            box.put(message(word))
        await until(lambda: _count(bus, WINDOW))
        await away(broker, bus)
        for word in words[3 * WINDOW :]:
            box.put(message(word))
        await back(broker, bus)
        await box.flushed()
    assert words == await arrived(bus)


async def _count(bus: Bus, least: int) -> bool:
    return await bus.messages(IN.name) >= least


@pytest.mark.parametrize("beyond", [0, 1, 100_000])
async def test_a_letter_above_the_brokers_limit_is_refused_and_hurts_nobody(bus: Bus, beyond: int) -> None:
    """The broker hangs up for good on a message that is too large with its headers: it must never see one."""
    long = Outgoing(SUBJECT, "pi/s1/long", b"x" * (bus.max_payload + beyond))
    async with outbox(bus) as box:
        with pytest.raises(TooLarge, match=rf"pi/s1/long has {len(long.data)} bytes"):
            box.put(long)
        box.put(message("word"))
        await box.flushed()
    assert ["word"] == await arrived(bus)


async def test_the_largest_letter_that_is_taken_arrives(bus: Bus) -> None:
    room = len("NATS/1.0\r\nNats-Msg-Id: pi/s1/long\r\n\r\n")
    async with outbox(bus) as box:
        box.put(Outgoing(SUBJECT, "pi/s1/long", b"x" * (bus.max_payload - room)))
        with pytest.raises(TooLarge):
            box.put(Outgoing(SUBJECT, "pi/s1/long", b"x" * (bus.max_payload - room + 1)))
        await box.flushed()
    assert [bus.max_payload - room] == [len(word) for word in await arrived(bus)]


@pytest.mark.own_broker
async def test_a_spooled_letter_that_no_broker_takes_any_more_does_not_hold_up_the_others(
    broker: Broker, bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "letters"
    async with outbox(bus, spool) as box:
        await away(broker, bus)
        monkeypatch.setattr(Bus, "too_large", lambda *_: False)
        box.put(Outgoing(SUBJECT, "pi/s1/long", b"x" * bus.max_payload))
        box.put(message("word"))
        monkeypatch.undo()
    await back(broker, bus)
    async with outbox(bus, spool) as box:
        await box.flushed()
    assert ["word"] == await arrived(bus)
