"""A room that hangs is noticed by whether it answers at all, and is ended by its supervisor."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from services.edges.launcher import supervisor
from services.edges.launcher.broker import HOST
from services.edges.launcher.supervisor import until_hung
from services.kit.endpoint import HealthAddress, read_address, write_address
from services.settings import Http
from tests.conftest import InstallationFactory
from tests.helpers.waiting import PATIENCE, until

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PID = 41


@asynccontextmanager
async def page(data: Path, answer: Answer) -> AsyncIterator[None]:
    """Where a room serves its health page."""
    async with await asyncio.start_server(answer, HOST, 0) as server:
        write_address(data, "tagger", HealthAddress(PID, HOST, server.sockets[0].getsockname()[1]))
        yield


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOOK", 0.001)


async def test_a_room_that_takes_a_request_and_does_not_answer_hangs(tmp_path: Path) -> None:
    over = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    async with page(tmp_path, silent):
        await asyncio.wait_for(until_hung(tmp_path, "tagger", PID, 0.05), PATIENCE)
        over.set()


@pytest.mark.parametrize("status", ["200 OK", "503 Service Unavailable"])
async def test_a_room_that_answers_does_not_hang_whatever_it_answers(tmp_path: Path, status: str) -> None:
    asked: list[bytes] = []

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.write(f"HTTP/1.0 {status}\r\n\r\n".encode())
        writer.close()

    async with page(tmp_path, answering):
        watching = asyncio.create_task(until_hung(tmp_path, "tagger", PID, PATIENCE))
        await until(lambda: len(asked) > 3)
        assert not watching.done()
        watching.cancel()
    assert {b"GET /healthz HTTP/1.0\r\n"} == {*asked}


@pytest.mark.parametrize("address", [HealthAddress(PID, HOST, 1), HealthAddress(42, HOST, 1), None])
async def test_a_room_that_has_ended_or_is_not_open_yet_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: HealthAddress | None
) -> None:
    looks: list[HealthAddress | None] = []

    def counted(data: Path, room: str, pid: int) -> HealthAddress | None:
        looks.append(read_address(data, room, pid))
        return looks[-1]

    if address is not None:
        write_address(tmp_path, "tagger", address)
    monkeypatch.setattr(supervisor, "read_address", counted)
    watching = asyncio.create_task(until_hung(tmp_path, "tagger", PID, PATIENCE))
    await until(lambda: len(looks) > 3)
    assert not watching.done()
    watching.cancel()
    assert {address if address and address.pid == PID else None} == {*looks}


@pytest.mark.house
@pytest.mark.broker
async def test_a_room_that_was_stopped_is_ended_and_started_anew(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    async with installation(tmp_path, ("tagger",), http=Http(unanswered_after=2.0)) as running:
        await until((tmp_path / "health" / "tagger.json").exists)
        stopped = psutil.Process(running.status["tagger"].pid)
        stopped.send_signal(signal.SIGSTOP)
        await until(lambda: running.status["tagger"].pid != stopped.pid)
        assert -signal.SIGKILL == running.status["tagger"].last_exit
        assert not stopped.is_running()
