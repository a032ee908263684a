"""A log of which the disk has changed a bit: it is found, and nothing is confirmed that would be lost with it."""

import asyncio
import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.codec import encode
from schemas.events import SessionRenamed
from schemas.streams import LOG
from services.edges.launcher.broker import Broker
from services.indexer.worker import Indexer
from services.kit.bus import Appender, Bus, LogReader, Unreachable
from services.kit.bus.holes import given_up, newest_unreadable, spoken, unreadable
from services.settings import Embed, Settings
from tests.helpers.broker_world import HARBOUR, connected, facts, opened, titles, wrapped
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]
TITLES = 40


async def damaged(broker: Broker, bus: Bus, data: Path) -> Bus:
    """A connection to the same broker, with one bit of its newest block flipped while it was down."""
    assert () == await unreadable(bus)
    await Appender(bus).append(wrapped(titles(TITLES)), {})
    broker.stop()
    flip(data)
    await broker.start()
    return await connected(broker)


def flip(data: Path) -> None:
    """Change a letter of one fact in the newest block."""
    block = max(data.rglob("streams/LOG/msgs/*.blk"), key=lambda path: int(path.stem))
    content = bytearray(block.read_bytes())
    content[content.index(b"title 20")] ^= 4
    block.write_bytes(content)


async def test_nothing_is_confirmed_where_the_newest_facts_cannot_be_read(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    after = await damaged(broker, bus, tmp_path)
    (lost,) = await unreadable(after)
    assert (lost,) == await unreadable(after, newest_only=True)
    appender = Appender(after)
    for number in range(2):
        with pytest.raises(Unreachable, match=f"position {lost} *.*end the installation, make a copy"):
            await appender.append(wrapped(titles(1, TITLES + number)), {})
    assert f"position {lost}" in appender.failure
    assert TITLES - 1 == len(await facts(after))
    await after.close()


async def test_what_the_broker_has_given_up_keeps_nobody_from_writing(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    """As where something was written into such a store before it was killed, and cut it."""
    after = await damaged(broker, bus, tmp_path)
    await after.js.publish(HARBOUR.log(SessionRenamed.TYPE), encode(wrapped(titles(1, TITLES))[0]))
    assert broker.process is not None
    broker.process.kill()
    broker.process.wait()
    await after.close()
    await broker.start()
    again = await connected(broker)
    assert () == await unreadable(again)
    assert len(await facts(again)) < TITLES
    await Appender(again).append(wrapped(titles(1, TITLES)), {})
    await again.close()


async def test_a_hole_in_the_log_is_reported_by_a_room(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    after = await damaged(broker, bus, tmp_path)
    (lost,) = await unreadable(after)
    async with opened(indexer := Indexer(), after, Settings(data=tmp_path / "data", embed=Embed(provider="off"))):
        await until(lambda: not indexer.health()["ok"])
        (failure,) = indexer.health()["failures"]  # type: ignore[misc] # a list of texts
    assert f"the log has a hole, position {lost} cannot be read" in failure
    await after.close()


async def test_a_room_that_hangs_with_the_file_stops_nobody_from_reading(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    known = tmp_path / "newest-block"
    after = await damaged(broker, bus, tmp_path)
    (lost,) = await unreadable(after)
    with known.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert (lost,) == await asyncio.wait_for(newest_unreadable(after, known, locked=0.2), PATIENCE)
    await after.close()


def without_the_first(blocks: list[Path]) -> None:
    blocks[0].unlink()


def without_one_in_the_middle(blocks: list[Path]) -> None:
    blocks[1].unlink()


def with_zeros_in_the_middle(blocks: list[Path]) -> None:
    content = bytearray(blocks[1].read_bytes())
    content[4096:8192] = bytes(4096)
    blocks[1].write_bytes(content)
    blocks[1].with_name("index.db").unlink()  # or the broker looks at this block when it is read


def with_a_cut_end(blocks: list[Path]) -> None:
    os.truncate(blocks[-1], blocks[-1].stat().st_size - 100)


@pytest.mark.parametrize(
    "damage", [without_the_first, without_one_in_the_middle, with_zeros_in_the_middle, with_a_cut_end]
)
async def test_facts_that_the_broker_has_given_up_are_reported_by_a_room(
    broker: Broker, bus: Bus, tmp_path: Path, damage: Callable[[list[Path]], None]
) -> None:
    long = "crane " * 30_000
    for number in range(110):
        await Appender(bus).append(wrapped([SessionRenamed(title=f"{number} {long}")]), {})
    await bus.close()
    broker.stop()
    blocks = sorted(tmp_path.rglob("streams/LOG/msgs/*.blk"), key=lambda path: int(path.stem))  # noqa: ASYNC240
    assert len(blocks) >= 3
    damage(blocks)
    await broker.start()
    after = await connected(broker)
    there = {record.envelope.seq async for record in LogReader(after).after(0, "log.>")}
    gone = [seq for seq in range(1, 111) if seq not in there]
    assert gone
    assert tuple(gone) == await given_up(after)
    async with opened(indexer := Indexer(), after, Settings(data=tmp_path / "data", embed=Embed(provider="off"))):
        await until(lambda: not indexer.health()["ok"])
        reported = str(indexer.health()["failures"])
    assert f"facts of the log are lost, {spoken(tuple(gone))}" in reported
    assert "put back" in reported
    await after.close()


async def test_a_broker_that_refuses_to_say_how_long_the_log_is_has_not_shown_it_to_be_whole(tmp_path: Path) -> None:
    without_streams = Broker(tmp_path / "new", port=0, max_payload=Settings().nats.max_payload)
    await without_streams.start()
    bus = await connected(without_streams)
    with pytest.raises(Unreachable, match="could not be read back: stream not found"):
        await unreadable(bus)
    await bus.close()
    without_streams.stop()


async def test_the_newest_block_is_read_once_for_many_appends(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Bus] = []

    async def counted(one: Bus, *, newest_only: bool) -> tuple[int, ...]:
        looks.append(one)
        return await unreadable(one, newest_only=newest_only)

    monkeypatch.setattr("services.kit.bus.holes.unreadable", counted)
    appender = Appender(bus)
    await asyncio.gather(*(appender.append(wrapped(titles(1, number)), {}) for number in range(5)))
    assert [bus] == looks


async def test_of_several_rooms_one_reads_the_newest_block_in_the_life_of_a_broker(
    broker: Broker, bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Bus] = []

    async def counted(one: Bus, *, newest_only: bool) -> tuple[int, ...]:
        looks.append(one)
        return await unreadable(one, newest_only=newest_only)

    monkeypatch.setattr("services.kit.bus.holes.unreadable", counted)
    known = tmp_path / "health" / "read_back"
    await asyncio.gather(*(Appender(bus, known).append(wrapped(titles(1, number)), {}) for number in range(3)))
    assert [bus] == looks
    broker.stop()
    await broker.start()
    again = await connected(broker)
    await asyncio.gather(*(Appender(again, known).append(wrapped(titles(1, number)), {}) for number in (3, 4)))
    assert [bus, again] == looks
    await again.close()


async def test_a_file_that_cannot_be_written_has_each_room_read_for_itself(bus: Bus, tmp_path: Path) -> None:
    (tmp_path / "health").write_text("no folder")
    await Appender(bus, tmp_path / "health" / "read_back").append(wrapped(titles(1)), {})
    assert titles(1) == await facts(bus)


async def test_a_connection_is_closed_without_an_error_where_its_broker_is_gone(broker: Broker, bus: Bus) -> None:
    broker.stop()
    await until(lambda: not bus.connected)
    await bus.client.publish("do.x", b"what is buffered")
    await bus.close()


async def test_a_reader_whose_position_is_spoilt_is_reported_with_what_to_do_and_then_made_anew(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    await Appender(bus).append(wrapped(titles(3)), {})
    await bus.consumer(LOG.name, "reader", ack_wait=30, max_ack_pending=10)
    await bus.rewind(LOG.name, "reader", 3)
    await bus.close()
    broker.stop()
    (folder,) = tmp_path.rglob("streams/LOG/obs/reader")  # noqa: ASYNC240 - it takes no time
    (folder / "o.dat").write_bytes(bytes(range(7, 67)))
    for is_deleted in (False, True):
        if is_deleted:
            shutil.rmtree(folder)
        await broker.start()
        again = await connected(broker)
        if is_deleted:
            await again.consumer(LOG.name, "reader", ack_wait=30, max_ack_pending=10)
        else:
            with pytest.raises(Unreachable, match="delete the folder streams/LOG/obs/reader"):
                await again.consumer(LOG.name, "reader", ack_wait=30, max_ack_pending=10)
        await again.close()
        broker.stop()
