"""`annals health`: a room that answers, one that hangs, and what is no room."""

import asyncio
import signal
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from services.edges import room_health_page
from services.edges.cli import main
from services.edges.launcher.broker import Broker, free_port
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.annals_command import annals
from tests.helpers.broker_world import connected
from tests.helpers.room_process import Process, room
from tests.helpers.surroundings import surroundings

pytestmark = pytest.mark.broker

PATIENCE = "0.2"
"""Seconds, of `ANNALS_HTTP__UNANSWERED_AFTER`."""


@asynccontextmanager
async def tagger(data: Path, port: int) -> AsyncIterator[Process]:
    """A room that serves its health page at this port."""
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        await bus.close()
        async with room("tagger", data, ANNALS_HTTP__PORT=str(port)) as process:
            await process.logs("open")
            yield process
    finally:
        server.stop()


async def asked(port: int, home: Path, *options: str) -> "CompletedProcess[str]":
    environment = {**surroundings(home), "ANNALS_HTTP__UNANSWERED_AFTER": PATIENCE}
    return await asyncio.to_thread(annals, "health", "--port", str(port), *options, environment=environment)


@pytest.mark.own_broker
async def test_a_room_that_hangs_is_ended_where_that_is_asked_for_and_one_that_answers_is_not(tmp_path: Path) -> None:
    async with tagger(tmp_path / "data", port := free_port()) as process:
        well = await asked(port, tmp_path, "--end")
        assert (0, "") == (well.returncode, well.stderr)

        process.process.send_signal(signal.SIGSTOP)
        named = await asked(port, tmp_path)
        assert (1, True) == (named.returncode, "takes requests and does not answer them" in named.stderr)
        assert process.process.returncode is None

        ended = await asked(port, tmp_path, "--end")
        assert (1, True) == (ended.returncode, f"process {process.process.pid} was ended" in ended.stderr)
        assert -signal.SIGKILL == await process.ends()


def unfinished_page(server: socket.socket, rest: threading.Event, status: str) -> None:
    """Answer one request with the beginning of a page, and with nothing more as long as it is waited for."""
    connection, _ = server.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(f"HTTP/1.0 {status}\r\nContent-Length: 100\r\n\r\n{{".encode())
        rest.wait()


@pytest.mark.parametrize("status", ["200 OK", "503 Service Unavailable"])
def test_a_page_that_does_not_come_to_its_end_is_no_answer(status: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        rest = threading.Event()
        answering = threading.Thread(target=unfinished_page, args=(server, rest, status))
        answering.start()
        try:
            with pytest.raises(room_health_page.Unanswered):
                room_health_page.health_page(server.getsockname()[1], 0.2)
        finally:
            rest.set()
            answering.join()


def test_what_is_no_room_is_never_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(room_health_page.health_page, "__defaults__", (0.05,))
    monkeypatch.setenv("ANNALS_HTTP__UNANSWERED_AFTER", "0.05")
    monkeypatch.setenv("HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as silent:  # of this process, which takes requests and answers none
        assert 1 == main(["health", "--port", str(silent.getsockname()[1]), "--end"])
        assert "see its log" in capsys.readouterr().err
    assert 1 == main(["health", "--port", str(free_port()), "--end"])
    assert "no room answers at port" in capsys.readouterr().err
