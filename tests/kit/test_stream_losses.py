"""What the disk loses of input, dead letters and long bodies is noticed, and reported for a week with its number."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from schemas.streams import BODIES, DEAD, IN, INBOUND_BODIES, Bucket
from schemas.subjects import dead
from services.edges.connect.doctor import acknowledge
from services.edges.connect.installation import InstallationState, Running, Timed, judge
from services.edges.launcher.broker import Broker
from services.edges.room_health import healths
from services.kit.bus import Bodies, Bus
from services.kit.bus.stream_state import StreamState
from services.kit.stream_losses import REPORTED_FOR, StreamLosses, StreamNote, compare, sentence
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import HARBOUR, NOON, connected, kit_of, quick_settings
from tests.helpers.room_process import room
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

LETTER = b"x" * 900_000
LETTERS = 20
"""Of three blocks of the broker."""


async def input_of_harnesses(bus: Bus) -> None:
    for number in range(LETTERS):
        await bus.publish(HARBOUR.inbound("opencode"), LETTER, str(number))


async def dead_letters(bus: Bus) -> None:
    for _ in range(LETTERS):
        await bus.js.publish(dead("tagger"), LETTER)


def bodies(bucket: Bucket) -> Callable[[Bus], Awaitable[None]]:
    async def fill(bus: Bus) -> None:
        for number in range(3):
            await Bodies(bus, bucket).put(f"{number} {'x' * 7_000_000}")

    return fill


STREAMS = {
    IN.name: (input_of_harnesses, "messages of the stream IN are lost"),
    DEAD.name: (dead_letters, "dead letters of the stream DEAD are lost"),
    f"OBJ_{INBOUND_BODIES.name}": (bodies(INBOUND_BODIES), "pieces of the bucket inbound are lost"),
    f"OBJ_{BODIES.name}": (bodies(BODIES), "pieces of the bucket bodies are lost"),
}
each_stream = pytest.mark.parametrize("stream", STREAMS)


@asynccontextmanager
async def watching(bus: Bus, data: Path) -> AsyncIterator[StreamLosses]:
    """A room that has looked at the streams once."""
    async with kit_of("tagger", bus, quick_settings(data)) as kit:
        losses = StreamLosses(kit)
        await losses.look()
        yield losses


def blocks(store: Path, stream: str) -> list[Path]:
    return sorted(store.rglob(f"streams/{stream}/msgs/*.blk"), key=lambda path: int(path.stem))


async def position_of(bus: Bus, stream: str) -> tuple[int, int]:
    state = (await bus.js.stream_info(stream)).state
    return state.messages, state.last_seq


@each_stream
@pytest.mark.parametrize("block", [0, 1, -1])
async def test_what_the_broker_misses_when_it_begins_is_reported_over_further_starts(
    broker: Broker, bus: Bus, tmp_path: Path, stream: str, block: int
) -> None:
    fill, words = STREAMS[stream]
    await fill(bus)
    there, _ = await position_of(bus, stream)
    await bus.close()
    broker.stop()
    found = blocks(tmp_path, stream)
    assert len(found) > 2
    found[block].unlink()
    for start in range(2):
        await broker.start()
        again = await connected(broker)
        left, _ = await position_of(again, stream)
        assert left < there
        async with watching(again, tmp_path / "data") as losses:
            (failure,) = losses.failures
        assert f"{there - left:,} {words}" in failure, start
        assert "docs/operating.md" in failure
        await again.close()
        broker.stop()
    await broker.start()


@each_stream
async def test_what_a_killed_broker_has_lost_of_its_end_is_reported_while_rooms_run(
    broker: Broker, bus: Bus, tmp_path: Path, stream: str
) -> None:
    """Such a broker counts these positions no more, and gives them to what comes next."""
    fill, words = STREAMS[stream]
    await fill(bus)
    _, end = await position_of(bus, stream)
    async with watching(bus, tmp_path / "data") as losses:
        losses.begin()
        assert [] == [*losses.failures]
        assert broker.process is not None
        broker.process.kill()
        broker.process.wait()
        last = blocks(tmp_path, stream)[-1]
        last.unlink()
        last.with_name("index.db").unlink(missing_ok=True)
        await broker.start()
        await until(lambda: losses.failures)
        _, now = await position_of(bus, stream)
        assert [True] == [f"{end - now:,} {words}" in one for one in losses.failures]


async def test_what_was_deleted_or_has_expired_is_not_lost(tmp_path: Path) -> None:
    server = Broker(tmp_path / "store", port=0, max_payload=MAX_PAYLOAD, is_alone=True)
    await server.start()
    bus = await connected(server)
    await bus.ensure()
    for number in range(6):
        await bus.publish(HARBOUR.inbound("opencode"), b"x", str(number))
        await bus.js.publish(dead("tagger"), b"x")
    reference = await Bodies(bus, BODIES).put("a body")
    async with watching(bus, tmp_path / "data"):
        pass
    for stream in (IN.name, DEAD.name):
        for seq in (2, 6):
            await bus.js.delete_msg(stream, seq)
        await bus.js.purge_stream(stream, keep=1)
    await (await bus.js.object_store(BODIES.name)).delete(reference)
    await bus.close()
    server.stop()
    await server.start()
    again = await connected(server)
    async with watching(again, tmp_path / "data") as losses:
        assert [] == [*losses.failures]
    await again.close()
    server.stop()


@pytest.mark.house
async def test_the_tagger_reports_it_to_status_and_doctor(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    await dead_letters(bus)
    await bus.close()
    broker.stop()
    blocks(tmp_path, DEAD.name)[1].unlink()
    await broker.start()
    again = await connected(broker)
    async with room("tagger", tmp_path) as process:
        await process.logs("open")

        async def is_reported() -> bool:
            health = (await healths(again, ["tagger"], PATIENCE)).get("tagger")
            return health is not None and not health.ok

        await until(is_reported)
        found = (await healths(again, ["tagger"], PATIENCE))["tagger"]
        (failure,) = found.failures
        assert "dead letters of the stream DEAD are lost" in failure
        running = Running("tagger", "running", health=found, is_asked=True)
        findings = judge(InstallationState("nats://127.0.0.1", Timed("connected"), rooms=(running,)))
        (finding,) = (one for one in findings if one.what == "room tagger")
        assert ("FAIL", True) == (finding.level, "of the stream DEAD are lost" in finding.finding)
    await again.close()


def state(end: int, *, created: str = "monday", server: str = "one", lost: int = 0) -> StreamState:
    return StreamState(created, server, end, end, lost)


def test_what_one_broker_has_lost_counts_once() -> None:
    first = compare(None, state(9, lost=3), NOON)
    again = compare(first, state(12, lost=3), NOON + timedelta(hours=1))
    assert (3, NOON) == (again.lost, again.at)
    third = compare(again, state(20, server="two", lost=2), later := NOON + timedelta(hours=2))
    assert (5, later) == (third.lost, third.at)


def test_a_stream_that_was_made_anew_has_lost_all_that_the_old_one_had() -> None:
    assert 9 == compare(compare(None, state(9), NOON), state(1, created="tuesday"), NOON).lost


def test_a_loss_is_reported_until_a_person_acknowledges_it_and_a_later_one_again() -> None:
    lost, hour = compare(None, state(9, lost=3), NOON), timedelta(hours=1)
    before = compare(lost, state(9, lost=3), NOON + hour, NOON - hour)
    assert (3, NOON) == (before.lost, before.at)
    after = compare(before, state(9, lost=3), NOON + hour, NOON + hour)
    assert "" == sentence(IN.name, after)
    again = compare(after, state(5), NOON + 2 * hour, NOON + hour)
    assert (4, NOON + 2 * hour) == (again.lost, again.at)


async def test_a_room_reports_no_more_what_was_acknowledged_in_its_data_directory(
    broker: Broker, bus: Bus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = quick_settings(tmp_path / "data")
    assert 1 == acknowledge(settings)
    assert "no loss is noted in" in capsys.readouterr().err
    await dead_letters(bus)
    await bus.close()
    broker.stop()
    blocks(tmp_path, DEAD.name)[1].unlink()
    await broker.start()
    again = await connected(broker)
    async with watching(again, tmp_path / "data") as losses:
        assert 1 == len(losses.failures)
        assert 0 == acknowledge(settings)
        assert "dead letters of the stream DEAD are lost" in capsys.readouterr().out
        await losses.look()
        assert [] == [*losses.failures]
    async with watching(again, tmp_path / "data") as losses:
        assert [] == [*losses.failures]
    await again.close()


def test_a_loss_is_reported_for_a_week() -> None:
    lost = compare(None, state(9, lost=3), NOON)
    assert "3 messages of the stream IN are lost, as was noticed at 2026-03-07 12:00 UTC" in sentence(IN.name, lost)
    week = compare(lost, state(9, lost=3), NOON + REPORTED_FOR)
    assert sentence(IN.name, week)
    after = compare(week, state(9, lost=3), NOON + REPORTED_FOR + timedelta(seconds=1))
    assert "" == sentence(IN.name, after)
    assert StreamNote(state(9, lost=3)) == after


async def test_a_note_that_cannot_be_read_is_made_anew(bus: Bus, tmp_path: Path) -> None:
    (tmp_path / "data" / "health").mkdir(parents=True)
    (tmp_path / "data" / "health" / "streams.json").write_text('{"IN": 3')
    async with watching(bus, tmp_path / "data") as losses:
        assert [] == [*losses.failures]
