"""A room as the process that it is in production."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast
from urllib.request import urlopen

import pytest

from schemas.codec import encode
from schemas.events import Event, MessageListed, SessionOpened, SessionRenamed
from schemas.inbox import Inbound, SessionSeen
from schemas.room_health import RoomHealth, UnfoldedFact
from schemas.streams import IN, LOG
from schemas.subjects import Address
from services.edges.launcher.broker import HOST, Broker
from services.edges.room_health import healths
from services.kit.background import begin
from services.kit.bus import Appender, Bus, LogReader, Unreachable
from services.kit.endpoint import HealthAddress, read_address
from services.kit.run import RoomFailure, _until_stopped
from tests.helpers.broker_world import HARBOUR, NOON, connected, facts, kit_of, quick_settings, titles, wrapped
from tests.helpers.examples import soak
from tests.helpers.hanging_room import QUESTION
from tests.helpers.room_process import room
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

TITLE = HARBOUR.log(SessionRenamed.TYPE)


async def see(bus: Bus, count: int, start: int = 0) -> None:
    """So many sessions that a harness has seen."""
    for number in range(start, start + count):
        message = Inbound(f"m{number}", NOON, (SessionSeen(title=f"session {number}"),))
        await bus.publish(Address("harbour", f"s{number}").inbound("pi"), encode(message), message.id)


async def opened(bus: Bus) -> list[str]:
    return sorted(event.title for event in await facts(bus) if isinstance(event, SessionOpened))


async def get(port: object, page: str) -> str:
    def read() -> str:
        with urlopen(f"http://127.0.0.1:{port}{page}", timeout=PATIENCE) as reply:
            return str(reply.read().decode())

    return await asyncio.to_thread(read)


async def test_until_idle_works_all_that_waits_and_ends_well(bus: Bus, tmp_path: Path) -> None:
    await see(bus, 20)
    async with room("tagger", tmp_path, "--until-idle") as process:
        assert 0 == await process.ends()
    assert sorted(f"session {number}" for number in range(20)) == await opened(bus)
    assert (0, 0) == await bus.lag(IN.name, "tagger")
    assert [] == process.plain


async def test_a_room_that_is_asked_to_stop_ends_well_with_its_work_done(bus: Bus, tmp_path: Path) -> None:
    async with room("tagger", tmp_path, ANNALS_LOOP__GRACE="600") as process:  # it does not wait until that is over
        await process.logs("open")
        await see(bus, 300)
        process.process.send_signal(signal.SIGTERM)
        assert 0 == await process.ends()
    lag = await bus.lag(IN.name, "tagger")
    assert lag is not None
    assert 300 - lag.waiting == len(await opened(bus))
    assert [] == process.plain
    assert ["info"] * len(process.lines) == [line["level"] for line in process.lines]
    async with room("tagger", tmp_path, "--until-idle") as process:
        assert 0 == await process.ends()
    assert 300 == len(await opened(bus))


@pytest.mark.usefixtures("bus")
async def test_a_room_whose_supervisor_has_ended_before_it_was_there_ends(tmp_path: Path) -> None:
    """Such as one that is killed while its rooms are loaded."""
    supervisor = await asyncio.create_subprocess_exec("true")
    await supervisor.wait()
    async with room("tagger", tmp_path, "--with-parent", str(supervisor.pid)) as process:
        assert 0 == await process.ends()


@pytest.mark.usefixtures("bus")
async def test_a_room_ends_with_its_supervisor_though_it_is_no_child_of_it(tmp_path: Path) -> None:
    """As the copies of a fork server are, which may fall before."""
    supervisor = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)
    async with room("tagger", tmp_path, "--with-parent", str(supervisor.pid)) as process:
        port = (await process.logs("open"))["port"]
        assert HealthAddress(process.process.pid, HOST, cast("int", port)) == read_address(
            tmp_path, "tagger", process.process.pid
        )
        supervisor.kill()
        assert 0 == await process.ends()
    await supervisor.wait()


async def test_a_room_that_is_killed_loses_nothing_and_writes_nothing_twice(bus: Bus, tmp_path: Path) -> None:
    async with room("tagger", tmp_path, ANNALS_LOOP__ACK_WAIT="1") as process:
        await process.logs("open")
        await see(bus, 200)
        await until(lambda: bus.messages("LOG"))
        process.process.kill()
        assert -signal.SIGKILL == await process.ends()
    async with room("tagger", tmp_path, "--until-idle", ANNALS_LOOP__ACK_WAIT="1") as process:
        assert 0 == await process.ends()
    assert sorted(f"session {number}" for number in range(200)) == await opened(bus)


async def test_health_and_metrics_answer(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    async with room("tagger", tmp_path) as process:
        port = (await process.logs("open"))["port"]
        await see(bus, 3)
        await until(lambda: opened(bus))
        health = json.loads(await get(port, "/healthz"))
        assert ("tagger", True, True) == (health["room"], health["ok"], health["connected"])
        await until(lambda: _counts(port, 'annals_outcomes_total{outcome="done",room="tagger"} 3.0'))
        assert 'annals_events_appended_total{room="tagger",type="session.opened"} 3.0' in await get(port, "/metrics")
        broker.stop()
        await until(lambda: _is_ill(port))
        process.process.send_signal(signal.SIGTERM)
        assert 0 == await process.ends()


async def test_the_health_of_a_room_names_the_facts_that_it_could_not_fold(bus: Bus, tmp_path: Path) -> None:
    listed = MessageListed(messages=["m", "n"], ordinals=[1])
    await Appender(bus).append(wrapped([listed], address=Address("harbour", "s0")), {})
    async with room("tagger", tmp_path) as process:
        port = (await process.logs("open"))["port"]
        assert {"count": 0, "newest": []} == json.loads(await get(port, "/healthz"))["unfolded"]
        await see(bus, 1)
        await until(lambda: opened(bus))
        health = json.loads(await get(port, "/healthz"))
        assert (True, {"count": 1, "newest": [[1, MessageListed.TYPE]]}) == (health["ok"], health["unfolded"])
        answered = await healths(bus, ("tagger", "desk"), PATIENCE)
        newest = (UnfoldedFact(1, MessageListed.TYPE),)
        assert {"tagger": RoomHealth("tagger", ok=True, unfolded=1, newest_unfolded=newest)} == answered
        process.process.send_signal(signal.SIGTERM)
        assert 0 == await process.ends()


async def _counts(port: object, line: str) -> bool:
    return line in await get(port, "/metrics")


async def _is_ill(port: object) -> bool:
    try:
        await get(port, "/healthz")
    except OSError as error:
        return "503" in str(error)
    return False


@pytest.mark.soak
async def test_a_room_that_hangs_is_not_well_and_ends_with_where_it_hung(bus: Bus, tmp_path: Path) -> None:
    settings = {"module": "tests.helpers.hanging_room", "ANNALS_LOOP__HUNG_AFTER": "9"}
    async with room("hanging", tmp_path, **settings) as process:
        port = (await process.logs("open"))["port"]
        assert not await _is_ill(port)
        await bus.client.publish(QUESTION, b"")
        await until(lambda: _is_ill(port))
        assert await process.ends() > 0
    assert "in hang" in "".join(process.plain)


async def test_an_unreachable_broker_is_one_sentence_and_a_bad_end(nowhere: str, tmp_path: Path) -> None:
    url = nowhere.replace("//", "//ada:secret@")
    async with room("tagger", tmp_path, ANNALS_NATS__URL=url, ANNALS_NATS__WAIT="0.2") as process:
        assert 1 == await process.ends()
    ((line,), plain) = process.lines, process.plain
    assert [] == plain
    assert f"no broker answers at {nowhere}" in str(line["event"])
    assert "start one with `annals up`" in str(line["event"])


@pytest.mark.parametrize("password", ["", "wrong"])
async def test_a_wrong_password_is_one_sentence_and_a_bad_end(broker: Broker, tmp_path: Path, password: str) -> None:
    settings = {"ANNALS_NATS__URL": broker.url, "ANNALS_NATS__PASSWORD": password}
    async with room("desk", tmp_path, **settings) as process:
        assert 1 == await process.ends()
    ((line,), plain) = process.lines, process.plain
    assert [] == plain
    assert "set ANNALS_NATS__PASSWORD to what it expects" in str(line["event"])


async def test_a_room_that_lacks_a_permission_says_so_and_ends_badly(broker: Broker, tmp_path: Path) -> None:
    """A harness's user is not allowed what a room does."""
    endpoint = broker.endpoint_of("harness")
    settings = {
        "ANNALS_NATS__URL": endpoint.url,
        "ANNALS_NATS__USER": endpoint.user,
        "ANNALS_NATS__PASSWORD": endpoint.password,
    }
    async with room("tagger", tmp_path, **settings) as process:
        assert 1 == await process.ends()
    assert "set ANNALS_NATS__USER=room" in str(process.lines[-1]["event"])
    assert [] == process.plain


async def test_a_connection_that_is_over_for_good_ends_the_room(bus: Bus) -> None:
    """The broker hangs up on a message above its limit, and the client does not come back from that."""
    async with kit_of("desk", bus, quick_settings()) as kit:
        ending = asyncio.create_task(_until_stopped(asyncio.Event(), kit))
        await bus.client.publish("in.pi.p.s", b"x" * bus.max_payload, headers={"Nats-Msg-Id": "long"})
        with pytest.raises(Unreachable, match="the broker ended the connection"):
            await asyncio.wait_for(ending, PATIENCE)


@pytest.mark.own_broker
@pytest.mark.parametrize("is_lost", [False, True], ids=["there", "lost"])
async def test_a_broker_that_comes_back_with_another_log_ends_the_room(
    broker: Broker, bus: Bus, tmp_path: Path, *, is_lost: bool
) -> None:
    await bus.ensure()
    back = asyncio.Event()

    async def is_back() -> None:
        back.set()

    bus.on_reconnect.append(is_back)
    async with kit_of("desk", bus, quick_settings()) as kit:
        ending = asyncio.create_task(_until_stopped(asyncio.Event(), kit))
        broker.stop()
        if is_lost:
            shutil.rmtree(tmp_path / "jetstream")
        await broker.start()
        await asyncio.wait({ending, asyncio.ensure_future(back.wait())}, return_when=asyncio.FIRST_COMPLETED)
        assert (is_lost, not is_lost) == (bus.lost.is_set(), back.is_set())
        if is_lost:
            with pytest.raises(Unreachable, match="or has another log"):
                await ending
        ending.cancel()


Histories = tuple[Sequence[Event], Sequence[Event]]
BEGUN = titles(3)
AGAIN = SessionRenamed(title="again")
OTHERS: dict[str, Histories] = {
    "a copy": (titles(4, 3), ()),
    "a copy that ends at the last of both": (titles(1, 3), ()),
    "a copy that grew beyond": (titles(2, 3), titles(9, 50)),
    "a copy that grew as far": (titles(4, 3), titles(4, 50)),
    "a copy in which the same was decided again": (titles(4, 3), titles(4, 3)),
    "a copy in which only the newest is the same": ((*titles(3, 3), AGAIN), (*titles(3, 50), AGAIN)),
}
"""The records of a log behind its copy, and what the copy has grown since.

Who has only written does not know when that was stored: of what was decided again its guards report it.
"""
EXAMPLES = {
    ("a copy that ends at the last of both", False),
    ("a copy in which the same was decided again", True),
    ("a copy in which only the newest is the same", False),
}
"""One that is shorter, one that differs in its times alone, and one that differs in its middle."""


@pytest.mark.own_broker
@pytest.mark.parametrize(
    ("kind", "has_read"),
    [
        pytest.param(kind, has_read, marks=soak(unless=(kind, has_read) in EXAMPLES))
        for kind in OTHERS
        for has_read in (True, False)
        if has_read or "decided again" not in kind
    ],
)
async def test_a_broker_that_comes_back_with_a_copy_of_its_log_ends_who_knew_more(
    broker: Broker, bus: Bus, tmp_path: Path, kind: str, *, has_read: bool
) -> None:
    store, before, other = (tmp_path / name for name in ("jetstream", "before", "other"))
    lost, grown = OTHERS[kind]

    async def appended(events: Sequence[Event], behind: int) -> None:
        if events:
            await Appender(bus).append(wrapped(events, {TITLE: behind}), {TITLE: behind})

    async def exchanged(copy: Path, brought: Path | None = None) -> None:
        """Stop the broker, keep a copy of what it has, and start it with another one."""
        broker.stop()
        await until(lambda: not bus.connected)
        shutil.copytree(store, copy, dirs_exist_ok=True)
        if brought is not None:
            shutil.rmtree(store)
            shutil.copytree(brought, store)
        await broker.start()
        await until(lambda: bus.connected)

    await appended(BEGUN, 0)
    await exchanged(before)
    await appended(grown, len(BEGUN))
    await exchanged(other, before)

    knowing = await connected(broker)  # the other connection has seen both, as no room does
    await knowing.ensure()
    bus, knowing = knowing, bus
    await knowing.close()
    await appended(lost, len(BEGUN))
    if has_read:
        assert len(BEGUN) + len(lost) == len([one async for one in LogReader(bus).after(0, "log.>")])
    await exchanged(tmp_path / "lost")
    assert not bus.lost.is_set()
    await exchanged(tmp_path / "lost", other)
    await until(bus.lost.is_set)
    await bus.close()


@pytest.mark.own_broker
async def test_who_knew_nothing_of_what_is_lost_goes_on(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    await bus.ensure()
    back = asyncio.Event()

    async def is_back() -> None:
        back.set()

    bus.on_reconnect.append(is_back)
    broker.stop()
    shutil.copytree(tmp_path / "jetstream", tmp_path / "copy")
    await broker.start()
    await asyncio.wait_for(back.wait(), PATIENCE)
    back.clear()
    other = await connected(broker)
    await Appender(other).append(wrapped(titles(3)), {})
    await other.close()
    broker.stop()
    shutil.rmtree(tmp_path / "jetstream")
    shutil.copytree(tmp_path / "copy", tmp_path / "jetstream")
    await broker.start()
    await asyncio.wait_for(back.wait(), PATIENCE)
    assert not bus.lost.is_set()


@pytest.mark.own_broker
async def test_a_consumer_that_is_ahead_of_the_log_goes_on_with_what_comes(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    """As where a copy of the streams was brought back without that of their readers."""
    await Appender(bus).append(wrapped(titles(2)), {})
    broker.stop()
    (messages,) = (tmp_path / "jetstream").rglob("LOG/msgs")
    shutil.copytree(messages, tmp_path / "copy")
    await broker.start()
    await until(lambda: bus.connected)
    await Appender(bus).append(wrapped(titles(3, 2), {TITLE: 2}), {TITLE: 2})
    await bus.consumer(LOG.name, "ahead", ack_wait=30, max_ack_pending=10)
    for message in await (await bus.js.pull_subscribe_bind("ahead", LOG.name)).fetch(5, timeout=PATIENCE):
        await message.ack_sync()
    broker.stop()
    shutil.rmtree(messages)
    shutil.copytree(tmp_path / "copy", messages)
    await broker.start()
    again = await connected(broker)
    await Appender(again).append(wrapped(titles(1, 9), {TITLE: 2}), {TITLE: 2})
    (came,) = await (await again.js.pull_subscribe_bind("ahead", LOG.name)).fetch(1, timeout=PATIENCE)
    assert 3 == came.metadata.sequence.stream
    await again.close()


async def test_one_who_asks_ends_the_room(bus: Bus) -> None:
    stop = asyncio.Event()
    async with kit_of("desk", bus, quick_settings()) as kit:
        ending = asyncio.create_task(_until_stopped(stop, kit))
        stop.set()
        await asyncio.wait_for(ending, PATIENCE)


async def breaking() -> None:
    raise ValueError("an odd row")


async def resting() -> None:
    await asyncio.Event().wait()


async def done() -> None:
    """All that was to do."""


async def test_a_part_that_fails_ends_the_room(bus: Bus) -> None:
    async with kit_of("desk", bus, quick_settings()) as kit:
        ending = asyncio.create_task(_until_stopped(asyncio.Event(), kit))
        begin(kit, breaking())
        with pytest.raises(RoomFailure, match="the line before says why"):
            await asyncio.wait_for(ending, PATIENCE)


async def test_a_part_that_is_done_or_cut_off_at_the_end_is_no_failure(bus: Bus) -> None:
    async with kit_of("desk", bus, quick_settings()) as kit:
        begin(kit, done())
        begin(kit, resting())
        await asyncio.sleep(0)
    assert not kit.failed.is_set()


async def test_a_broker_that_was_left_behind_is_ended_and_its_port_stays(tmp_path: Path) -> None:
    left = Broker(tmp_path, port=0, max_payload=1024 * 1024)
    await left.start()
    assert left.process is not None
    again = Broker(tmp_path, port=0, max_payload=1024 * 1024)
    await again.start()
    again.stop()
    assert left.url == again.url
    assert left.process.poll() is not None


def test_a_room_that_ends_at_once_says_why_and_nothing_else(nowhere: str, tmp_path: Path) -> None:
    """As a process of its own: libraries complain when the interpreter ends."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ANNALS_DATA": str(tmp_path / "data"),
        "ANNALS_NATS__URL": nowhere,
        "ANNALS_NATS__WAIT": "0.1",
    }
    program = [sys.executable, "-m", "services.edges.cli", "responder"]
    found = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    lines = (found.stdout + found.stderr).splitlines()
    assert (1, [True]) == (found.returncode, ["no broker answers" in one for one in lines]), lines
