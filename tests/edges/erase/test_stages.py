"""An erasure is cut off at each stage, and within the long ones: begun again, it ends as if nothing had been."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.codec import decode_envelope
from schemas.events import ErasureOrdered, SessionRenamed
from schemas.streams import BODIES, DEAD, IN, LOG
from services.domain.erasure.scope import ERASED
from services.domain.erasure.secret import MASK
from services.edges.launcher.broker import Broker
from services.edges.launcher.leftover import end_leftover
from services.kit.bus import Appender, Bodies, Bus, Unreachable
from services.kit.bus.rewriting import RewrittenBodies
from services.kit.duck import Duck
from tests.helpers import erasing
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import HARBOUR, Stored, connected, stored, wrapped
from tests.helpers.erasing import STAGES, cut_off
from tests.helpers.waiting import PATIENCE

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

WORD = 'kestrel/"77"'
FACTS, MARKED, SETTLED = 450, range(0, 450, 9), 300


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    end_leftover(place)


async def planted(data: Path) -> list[tuple[int, str, bytes]]:
    """A stopped store of streams, bodies and views in which the word stands; what the log holds."""
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        reference = await Bodies(bus, BODIES).put(f"{'long ' * 40_000}{WORD}")
        titles = [f"{WORD} {number}" if number in MARKED else f"title {number}" for number in range(FACTS - 1)]
        events = [SessionRenamed(title=title) for title in (*titles, reference)]
        for start in range(0, FACTS, 150):
            await Appender(bus).append(wrapped(events[start : start + 150]), {})
        await bus.publish(HARBOUR.inbound("opencode"), json.dumps({"text": WORD}).encode(), "1")
        await bus.js.publish("dead.tagger", WORD.encode(), headers={"Annals-Reason": WORD})
        for stream, seq in ((IN.name, 1), (LOG.name, SETTLED)):
            await bus.consumer(stream, "reader", ack_wait=30, max_ack_pending=10)
            await bus.rewind(stream, "reader", seq + 1)
        await has_read_the_newest(bus, "clock")
        log = [(one.seq, one.subject, one.data) for one in await stored(bus, LOG.name)]
        await bus.close()
    finally:
        server.stop()
    (data / "views").mkdir()
    duck = Duck(data / "views" / "views-1.duckdb", memory_limit="100MB")
    await duck.write(lambda db: db.execute("create table messages as select ? as text", [f"so {WORD}"]) and None)
    await duck.close()
    return log


async def has_read_the_newest(bus: Bus, name: str) -> None:
    """A consumer that began with the newest fact of each subject, as that of a clock does, and has read it."""
    await bus.consumer(LOG.name, name, ack_wait=30, max_ack_pending=-1, filters=["log.>"], newest=True)
    subscription = await bus.js.pull_subscribe_bind(name, LOG.name)
    (message,) = await subscription.fetch(1, timeout=PATIENCE)
    await message.ack_sync()
    await subscription.unsubscribe()


def erase(data: Path, *arguments: str, secret: str = WORD) -> "subprocess.CompletedProcess[str]":
    return erasing.erase(data, "secret", *arguments, word=secret)


def is_order(fact: Stored) -> bool:
    """Whether it is what an erasure ends the log with, for plugins that it does not reach."""
    return fact.subject.endswith(ErasureOrdered.TYPE)


async def assert_erased(data: Path, before: list[tuple[int, str, bytes]]) -> None:
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        log = [(one.seq, one.subject, one.data) for one in await stored(bus, LOG.name) if not is_order(one)]
        assert SETTLED == await bus.settled(LOG.name, "reader")
        await has_read_the_newest(bus, "clock")  # which it gets again: to be woken twice changes nothing
        assert (0, 0) == (await bus.messages(IN.name), await bus.messages(DEAD.name))
        reference = json.loads(log[-1][2])["data"]["title"]
        assert (await Bodies(bus, BODIES).get(reference)).endswith(f"long {MASK}")
        await bus.close()
    finally:
        server.stop()
    escaped = json.dumps(WORD)[1:-1].encode()
    assert log[:-1] == [(seq, subject, fact.replace(escaped, MASK.encode())) for seq, subject, fact in before[:-1]]


async def test_a_secret_is_found_in_a_dry_run_and_then_erased(data: Path) -> None:
    before = await planted(data)
    dry_run = erase(data)
    assert 0 == dry_run.returncode, dry_run.stderr
    for line in (
        f"log        {len(MARKED)} facts at 1 addresses: {len(MARKED)} of session",
        "IN         1 messages",
        "DEAD       1 messages",
        "bodies     1 long bodies",
        "views      1 rows",
    ):
        assert line in dry_run.stdout
    done = erase(data, "--yes")
    assert 0 == done.returncode, done.stdout + done.stderr
    await assert_erased(data, before)


async def test_what_is_no_text_is_refused_before_anything_is_changed(data: Path) -> None:
    await planted(data)
    views = {path: path.read_bytes() for path in (data / "views").iterdir()}
    for secret, words in (
        ("recorded", "a word that the log itself is written with"),
        ("2026-03-07", "a part of what facts are made of"),
        ("title 10\udcff", "not text in UTF-8"),
        ("[masked:e", "takes the place of secrets"),
        (" " * 9, "nothing but blanks"),
    ):
        refused = erase(data, "--yes", secret=secret)
        assert 1 == refused.returncode, refused.stdout
        assert re.search(words, refused.stderr), refused.stderr
        assert "Traceback" not in refused.stderr
    assert views == {path: path.read_bytes() for path in (data / "views").iterdir()}


async def test_what_no_room_has_worked_is_not_deleted(data: Path) -> None:
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    for is_erased in (False, True):
        if is_erased:
            refused = erase(data, "--yes")
            assert 1 == refused.returncode
            assert "1 messages of harnesses hold it that no room has worked yet" in refused.stderr
        await server.start()
        try:
            bus = await connected(server)
            await bus.ensure()
            if not is_erased:
                await bus.publish(HARBOUR.inbound("opencode"), WORD.encode(), "1")
            assert 1 == await bus.messages(IN.name)
            await bus.close()
        finally:
            server.stop()


async def test_an_erasure_that_was_cut_off_without_a_log_is_ended_by_another(data: Path) -> None:
    await assert_it_is_ended(data, 7)


async def assert_it_is_ended(data: Path, stages: int) -> None:
    before = await planted(data)
    cut_off(data, ("secret", WORD), stages)
    assert ("cut off" in erase(data).stderr) == (stages in {6, 7})
    done = erase(data, "--yes")
    assert 0 == done.returncode, done.stdout + done.stderr
    await assert_erased(data, before)


@pytest.mark.soak
@pytest.mark.parametrize("stages", range(STAGES))
async def test_so_is_one_that_was_cut_off_before_any_stage(data: Path, stages: int) -> None:
    await assert_it_is_ended(data, stages)


@pytest.mark.parametrize("stages", [pytest.param(one, marks=pytest.mark.soak) for one in range(STAGES - 1)] + [8])
async def test_so_is_the_erasure_of_a_session(data: Path, stages: int) -> None:
    before = await planted(data)
    cut_off(data, ("session", "s1"), stages)
    done = erasing.erase(data, "session", "s1", "--yes")
    assert 0 == done.returncode, done.stdout + done.stderr
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        log = await stored(bus, LOG.name)
        assert is_order(log[-1])
        facts = [(one.seq, one.subject, decode_envelope(one.data).v) for one in log if not is_order(one)]
        assert [(seq, subject, ERASED) for seq, subject, _ in before] == facts
        assert SETTLED == await bus.settled(LOG.name, "reader")
        assert (0, []) == (await bus.messages(IN.name), await RewrittenBodies(bus, BODIES).names())
        await bus.close()
    finally:
        server.stop()


@pytest.mark.parametrize("stage", [pytest.param(5, marks=pytest.mark.soak), 7])
async def test_no_room_starts_on_a_log_that_is_half_written(data: Path, stage: int) -> None:
    before = await planted(data)
    cut_off(data, ("secret", WORD), stage, writes=300)
    end_leftover(data)
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        with pytest.raises(Unreachable, match="annals erase"):
            await bus.ensure()
        await bus.close()
    finally:
        server.stop()
    done = erase(data, "--yes")
    assert 0 == done.returncode, done.stdout + done.stderr
    await assert_erased(data, before)
