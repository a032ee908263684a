"""Where sessions name commits, over a real broker."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from schemas.events import CommitMentioned, PartRecorded
from services.commit_indexer.worker import CommitIndexer
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from tests.commit_indexer.test_worker import settings
from tests.helpers.broker_world import HARBOUR, connected, facts, kit_of, opened, quick_settings, wrapped
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


async def recorded(bus: Bus, *texts: str, digest: str = "") -> None:
    async with kit_of("test", bus, quick_settings()) as kit:
        parts = [
            PartRecorded(message=f"m{at}", part=f"p{at}", kind="text", text=text, digest=digest)
            for at, text in enumerate(texts)
        ]
        await kit.appender.append(wrapped(parts, {HARBOUR.log("none.recorded"): 0}), {})


async def named(bus: Bus) -> list[tuple[str, list[str]]]:
    found = await facts(bus, HARBOUR)
    return [(one.part, one.hashes) for one in found if isinstance(one, CommitMentioned)]


@pytest.fixture
async def room(bus: Bus, tmp_path: Path) -> AsyncIterator[CommitIndexer]:
    worker = CommitIndexer()
    async with opened(worker, bus, settings(tmp_path)):
        yield worker


async def test_a_message_that_names_a_commit_is_recorded_once(bus: Bus, room: CommitIndexer) -> None:
    await recorded(bus, "It came with commit 1f6589e", "Nothing here")
    await until(room.idle)
    await recorded(bus, "It came with commit 1f6589e", "Or commit 9c07bf9", digest="again")
    await until(room.idle)
    assert [("p0", ["1f6589e"]), ("p1", ["9c07bf9"])] == await named(bus)
    await recorded(bus, "It came with another one", digest="third")
    await until(room.idle)
    assert ("p0", []) == (await named(bus))[-1]


async def test_two_rooms_that_begin_anew_record_nothing_twice(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    texts = [f"Look at commit {number:06x}a1" for number in range(1, 200)]
    other = await connected(broker)
    rooms = [CommitIndexer(), CommitIndexer()]
    async with opened(rooms[0], bus, settings(tmp_path)), opened(rooms[1], other, settings(tmp_path)):
        await recorded(bus, *texts)
        await until(rooms[0].idle)
        await until(rooms[1].idle)
    await other.close()
    assert 199 == len(await named(bus))
    await bus.js.delete_consumer("LOG", CommitIndexer.NAME)
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
    assert 199 == len(await named(bus))
