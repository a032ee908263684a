"""The processes of rooms: how they begin and end, and what becomes of them when what they are copies of falls."""

import asyncio
import errno
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from pydantic import SecretStr

from schemas.codec import encode
from schemas.inbox import Inbound, SessionSeen
from schemas.streams import LOG
from schemas.subjects import Address
from services.edges.launcher import fork_server
from services.edges.launcher.broker import Broker
from services.edges.launcher.fork_server import LOADED
from services.edges.launcher.room_process import ExecutedRooms, ForkedRooms, Processes, end
from services.kit.bus import Bus
from services.kit.rooms import ROOMS
from services.settings import Settings, environment
from services.settings.groups import Nats
from tests.helpers.broker_world import NOON
from tests.helpers.surroundings import surroundings
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

WAYS = pytest.mark.parametrize("way", [ForkedRooms, ExecutedRooms])


def on(broker: Broker | str, data: Path) -> dict[str, str]:
    """The environment of a room on this broker, or at an address where there is none."""
    if isinstance(broker, str):
        nats = Nats(url=broker, wait=0.2)
    else:
        endpoint = broker.endpoint
        nats = Nats(url=endpoint.url, user="room", password=SecretStr(endpoint.password))
    return {**surroundings(data / "home"), **environment(Settings(data=data, nats=nats))}


@asynccontextmanager
async def made(way: type[Processes]) -> AsyncIterator[Processes]:
    processes = way()
    try:
        yield processes
    finally:
        await processes.close()


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@WAYS
async def test_a_room_that_cannot_work_ends_with_a_status_and_prints_why_where_it_was_asked_to(
    way: type[ForkedRooms] | type[ExecutedRooms], nowhere: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "rooms.log").open("ab") as output:
        processes = way(output)
        room = await processes.begin("tagger", on(nowhere, tmp_path))
        assert 1 == await room.wait()
        room.kill()  # which is gone already
        await processes.close()
    assert nowhere in (tmp_path / "rooms.log").read_text()
    assert ("", "") == capfd.readouterr()


@WAYS
async def test_a_room_works_until_it_is_asked_to_end(
    way: type[Processes], broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    async with made(way) as processes:
        room, other = [await processes.begin(name, on(broker, tmp_path)) for name in ("tagger", "desk")]
        await until(lambda: _reads(bus, "tagger"))
        await end(room)
        assert 0 == await room.wait()
        other.kill()
        assert -signal.SIGKILL == await other.wait()


async def _reads(bus: Bus, room: str) -> bool:
    return await bus.lag("IN", room) is not None


async def test_a_room_has_the_surroundings_that_it_was_begun_with(
    broker: Broker, bus: Bus, nowhere: str, tmp_path: Path
) -> None:
    async with made(ForkedRooms) as processes:
        there = await processes.begin("tagger", on(nowhere, tmp_path))
        here = await processes.begin("tagger", on(broker, tmp_path))
        assert 1 == await there.wait()
        await until(lambda: _reads(bus, "tagger"))
        await end(here)


async def test_where_what_rooms_are_copies_of_falls_they_go_on_and_another_is_started_at_once(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    async with made(ForkedRooms) as processes:
        room, other = [await processes.begin(name, on(broker, tmp_path)) for name in ("tagger", "desk")]
        await until(lambda: _reads(bus, "tagger"))
        server = psutil.Process(room.pid).parent()
        assert server is not None
        assert 1 == server.num_threads()
        server.kill()
        await until(lambda: {one.pid for one in _servers()} - {server.pid, room.pid, other.pid})
        await bus.publish(Address("harbour", "s1").inbound("pi"), encode(SEEN), SEEN.id)
        await until(lambda: bus.messages(LOG.name))
        assert room.pid in _running()
        again = await processes.begin("desk", on(broker, tmp_path))
        assert psutil.Process(again.pid).parent() in _servers()
        other.kill()
        assert await other.wait() is None
        await end(room)
        assert await room.wait() is None
        assert not {room.pid, other.pid} & _running()
        await end(again)
        assert await again.wait() in (0, -signal.SIGTERM)


async def test_rooms_whose_fork_server_fell_end_with_all_others(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    async with made(ForkedRooms) as processes:
        room = await processes.begin("tagger", on(broker, tmp_path))
        await until(lambda: _reads(bus, "tagger"))
        server = psutil.Process(room.pid).parent()
        assert server is not None
        server.kill()
    assert room.pid not in _running()


SEEN = Inbound("m1", NOON, (SessionSeen(title="a session"),))


def _servers() -> list[psutil.Process]:
    """The fork servers of this process that run."""
    return [one for one in children() if fork_server.__name__ in _command(one)]


def _command(process: psutil.Process) -> list[str]:
    try:
        return [str(word) for word in process.cmdline()]
    except psutil.Error:
        return []


def _running() -> set[int]:
    return {one.pid for one in psutil.process_iter(["status"]) if one.info["status"] != psutil.STATUS_ZOMBIE}


async def test_one_that_cannot_load_the_rooms_is_reported(tmp_path: Path) -> None:
    async with made(ForkedRooms) as processes:
        with pytest.raises(ConnectionError, match="has ended"):
            await processes.begin("tagger", {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path)})


async def test_a_system_without_a_process_left_is_reported_and_its_files_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def refuse(*_: object, **_others: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    async with made(ForkedRooms) as processes:
        before = psutil.Process().num_fds()
        monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)
        errors = []
        for _ in range(3):
            with pytest.raises(BlockingIOError) as error:
                await processes.begin("tagger", surroundings(tmp_path))
            errors.append(error)  # what holds all that was in use then
        assert before == psutil.Process().num_fds(), errors


async def test_nothing_is_left_of_what_was_begun_and_not_waited_for(nowhere: str, tmp_path: Path) -> None:
    before = {one.pid for one in children()}
    async with made(ForkedRooms) as processes:
        begin = asyncio.create_task(processes.begin("tagger", on(nowhere, tmp_path)))
        await until(lambda: len(children()) > len(before))
        begin.cancel()
    assert before == {one.pid for one in children()}


def test_all_rooms_are_known_that_can_be_loaded_beforehand() -> None:
    assert {"embedder", "indexer", "searcher"} == {*ROOMS} - {*LOADED}
