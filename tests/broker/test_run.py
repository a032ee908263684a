"""A room as the process that it is in production."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from schemas.codec import encode
from schemas.events import SessionOpened
from schemas.inbox import Inbound, SessionSeen
from schemas.streams import IN
from schemas.subjects import Address
from services.kit.bus import Bus, Unreachable
from services.kit.run import _until_stopped
from services.launcher.broker import Broker, free_port
from tests.broker.waiting import until
from tests.broker.world import NOON, facts

pytestmark = pytest.mark.broker

SECONDS = 20


class Process:
    """One room's process, and the lines that it writes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[dict[str, object]] = []
        self.plain: list[str] = []
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            try:
                self.lines.append(json.loads(line))
            except json.JSONDecodeError:
                self.plain.append(line.decode())

    async def says(self, event: str) -> dict[str, object]:
        await until(lambda: self.said(event))
        return self.said(event)[0]

    def said(self, event: str) -> list[dict[str, object]]:
        return [line for line in self.lines if line["event"] == event]

    async def ends(self) -> int:
        async with asyncio.timeout(SECONDS):
            await self.reading
            return await self.process.wait()


@asynccontextmanager
async def room(name: str, data: Path, *arguments: str, **settings: str) -> AsyncIterator[Process]:
    environment = {"ANNALS_DATA": str(data), "ANNALS_LOGS__FORMAT": "json", "PYTHONWARNINGS": "error::ResourceWarning"}
    started = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"services.{name}",
        *arguments,
        stderr=asyncio.subprocess.PIPE,
        env=environment | settings,
        cwd=Path(__file__).parents[2],
    )
    process = Process(started)
    try:
        yield process
    finally:
        if started.returncode is None:
            started.kill()
        await process.ends()


async def see(bus: Bus, count: int, start: int = 0) -> None:
    """So many sessions that a harness has seen."""
    for number in range(start, start + count):
        message = Inbound(f"m{number}", NOON, (SessionSeen(title=f"session {number}"),))
        await bus.publish(Address("harbour", f"s{number}").inbound("pi"), encode(message), message.id)


async def opened(bus: Bus) -> list[str]:
    return sorted(event.title for event in await facts(bus) if isinstance(event, SessionOpened))


async def get(port: object, page: str) -> str:
    def read() -> str:
        with urlopen(f"http://127.0.0.1:{port}{page}", timeout=5) as reply:
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
    async with room("tagger", tmp_path) as process:
        await process.says("open")
        await see(bus, 300)
        clock = asyncio.get_running_loop().time
        asked = clock()
        process.process.send_signal(signal.SIGTERM)
        assert 0 == await process.ends()
        assert clock() - asked < 5
    lag = await bus.lag(IN.name, "tagger")
    assert lag is not None
    assert 300 - lag.waiting == len(await opened(bus))
    assert [] == process.plain
    assert ["info"] * len(process.lines) == [line["level"] for line in process.lines]
    async with room("tagger", tmp_path, "--until-idle") as process:
        assert 0 == await process.ends()
    assert 300 == len(await opened(bus))


async def test_a_room_that_is_killed_loses_nothing_and_writes_nothing_twice(bus: Bus, tmp_path: Path) -> None:
    async with room("tagger", tmp_path, ANNALS_LOOP__ACK_WAIT="1") as process:
        await process.says("open")
        await see(bus, 200)
        await until(lambda: bus.messages("LOG"))
        process.process.kill()
        assert -signal.SIGKILL == await process.ends()
    async with room("tagger", tmp_path, "--until-idle", ANNALS_LOOP__ACK_WAIT="1") as process:
        assert 0 == await process.ends()
    assert sorted(f"session {number}" for number in range(200)) == await opened(bus)


async def test_health_and_metrics_answer(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    async with room("tagger", tmp_path) as process:
        port = (await process.says("open"))["port"]
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


async def _counts(port: object, line: str) -> bool:
    return line in await get(port, "/metrics")


async def _is_ill(port: object) -> bool:
    try:
        await get(port, "/healthz")
    except OSError as error:
        return "503" in str(error)
    return False


async def test_an_unreachable_broker_is_one_sentence_and_a_bad_end(tmp_path: Path) -> None:
    url = f"nats://ada:secret@127.0.0.1:{free_port()}"
    async with room("tagger", tmp_path, ANNALS_NATS__URL=url) as process:
        assert 1 == await process.ends()
    ((line,), plain) = process.lines, process.plain
    assert [] == plain
    assert f"no broker answers at {url.replace('ada:secret@', '')}" in str(line["event"])
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
    assert process.said("the broker refuses")
    assert [] == process.plain


async def test_a_connection_that_is_over_for_good_ends_the_room(bus: Bus) -> None:
    """The broker hangs up on a message above its limit, and the client does not come back from that."""
    ending = asyncio.create_task(_until_stopped(asyncio.Event(), bus))
    await bus.client.publish("in.pi.p.s", b"x" * bus.max_payload, headers={"Nats-Msg-Id": "long"})
    with pytest.raises(Unreachable, match="the broker hung up"):
        await asyncio.wait_for(ending, 10)


async def test_one_who_asks_ends_the_room(bus: Bus) -> None:
    stop = asyncio.Event()
    ending = asyncio.create_task(_until_stopped(stop, bus))
    stop.set()
    await asyncio.wait_for(ending, 10)


async def test_a_broker_that_was_left_behind_is_ended_and_its_port_is_kept(tmp_path: Path) -> None:
    left = Broker(tmp_path, port=0, max_payload=1024 * 1024)
    await left.start()
    assert left.process is not None
    again = Broker(tmp_path, port=0, max_payload=1024 * 1024)
    await again.start()
    again.stop()
    assert left.url == again.url
    assert left.process.poll() is not None
