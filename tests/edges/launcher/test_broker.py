"""The broker's process: it is waited for, it is known from its first moment, and none is left on a store."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil
import pytest

from services.edges.launcher import broker as launcher
from services.edges.launcher import leftover
from services.edges.launcher.broker import STORE, Broker, max_store_bytes
from services.edges.launcher.leftover import CONFIG, FILE, end_leftover, note
from services.edges.launcher.run import LONGEST_LOG
from services.edges.launcher.supervisor import Installation
from services.kit import endpoint
from services.kit.bus import Unreachable
from services.settings import Settings
from tests.conftest import connect
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.hostile_names import EVERYTHING, USABLE
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SILENT = "#!/bin/sh\nexec sleep 3600 # "
"""A server that is busy with its store for an hour."""
STUBBORN = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); sys.stdin.read()"


@pytest.fixture
def silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory whose server never answers."""
    program = tmp_path / "silent"
    program.write_text(SILENT)
    program.chmod(0o700)
    monkeypatch.setattr(launcher, "binary", lambda: str(program))
    return tmp_path / "data"


@pytest.fixture
def other() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that does not end when it is asked to."""
    program = (sys.executable, "-c", STUBBORN)
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def children_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def children() -> set[int]:
    return {one.pid for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE}


def made(data: Path) -> Broker:
    return Broker(data, port=0, max_payload=MAX_PAYLOAD)


MIB = 1024 * 1024


@pytest.mark.parametrize(("free", "reserve"), [(300_000 * MIB, 256 * MIB), (800 * MIB, 200 * MIB), (0, 0)])
def test_a_store_may_take_what_is_free_and_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, reserve: int
) -> None:
    store = tmp_path / "jetstream"
    (store / "streams").mkdir(parents=True)
    (store / "streams" / "1.blk").write_bytes(b"x" * 5000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Free(free))
    assert 5000 + free - reserve == max_store_bytes(store)


class Free(NamedTuple):
    """A disk of which only this is known."""

    free: int


async def test_a_server_is_configured_with_how_much_it_may_store(tmp_path: Path) -> None:
    server = made(tmp_path)
    await server.start()
    bus = await connect(server)
    await bus.ensure()
    configured = json.loads((tmp_path / CONFIG).read_text())["jetstream"]["max_file_store"]
    await bus.close()
    server.stop()
    assert 0 < configured < shutil.disk_usage(tmp_path).total


@pytest.mark.parametrize("name", [EVERYTHING, *(pytest.param(one, marks=pytest.mark.soak) for one in USABLE)])
async def test_a_server_starts_in_a_directory_of_any_name(tmp_path: Path, name: str) -> None:
    server = made(tmp_path / name)
    await server.start()
    bus = await connect(server)
    await bus.ensure()
    await bus.close()
    server.stop()
    assert (tmp_path / name / STORE / "jetstream").is_dir()
    assert [tmp_path / name] == children_of(tmp_path)


async def test_a_log_that_is_long_is_put_aside_when_the_server_starts(tmp_path: Path) -> None:
    old, log = tmp_path / "nats.log.old", tmp_path / "nats.log"
    log.write_bytes(b"x" * (LONGEST_LOG + 1))
    broker = Broker(tmp_path, port=0, max_payload=MAX_PAYLOAD)
    await broker.start()
    broker.stop()
    assert LONGEST_LOG + 1 == old.stat().st_size
    assert 0 < log.stat().st_size < LONGEST_LOG


async def test_a_server_that_never_answers_is_ended_and_the_error_says_what_to_do(
    silent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = children()
    monkeypatch.setattr(launcher, "RECOVERY", 0.1)
    with pytest.raises(Unreachable, match="annals up"):
        async with Installation(Settings(data=silent), rooms=()).running():
            pass
    assert before == children()


async def test_a_start_that_is_broken_off_leaves_no_server(silent: Path) -> None:
    before = children()
    start = asyncio.create_task(made(silent).start())
    await until(lambda: children() - before)
    start.cancel()
    with suppress(asyncio.CancelledError):
        await start
    assert before == children()


async def test_a_server_that_is_busy_with_its_store_is_known_and_can_be_ended(silent: Path) -> None:
    before = children()
    start = asyncio.create_task(made(silent).start())
    await until((silent / FILE).exists)
    assert children() - before
    assert await asyncio.to_thread(end_leftover, silent)
    with pytest.raises(ConnectionError, match="before it answered"):
        await start
    assert before == children()
    assert not end_leftover(silent)


@pytest.mark.parametrize("is_of_earlier_release", [False, True])
async def test_a_server_is_found_behind_another_name_of_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_of_earlier_release: bool
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    first = made(Path("link"))
    await first.start()
    if is_of_earlier_release:
        (tmp_path / "real" / FILE).unlink()
    assert first.process is not None
    assert end_leftover((tmp_path / "real").resolve())
    first.stop()
    assert not psutil.pid_exists(first.process.pid)


def test_one_that_does_not_end_when_it_is_asked_to_is_killed(
    tmp_path: Path, other: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    note(tmp_path, other.pid)
    monkeypatch.setattr(leftover, "GRACE", 0.1)
    assert end_leftover(tmp_path)
    assert not psutil.pid_exists(other.pid)


@pytest.mark.parametrize("error", [psutil.NoSuchProcess(1), psutil.AccessDenied(1), psutil.ZombieProcess(1)])
def test_a_process_that_cannot_be_looked_at_is_not_ours(
    tmp_path: Path, other: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch, error: psutil.Error
) -> None:
    """As on macOS, where another user's process has the number of an earlier release's broker."""

    def refuse(_: psutil.Process) -> list[str]:
        raise error

    monkeypatch.setattr(psutil.Process, "cmdline", refuse)
    endpoint.write(tmp_path, endpoint.EndpointFile("nats://127.0.0.1:1", {}, other.pid))
    assert not end_leftover(tmp_path)
    assert other.poll() is None


def test_nobody_is_ended_who_only_has_the_number(tmp_path: Path, other: "subprocess.Popen[bytes]") -> None:
    note(tmp_path, os.getpid())
    noted = msgspec.json.decode((tmp_path / FILE).read_bytes())
    (tmp_path / FILE).write_bytes(msgspec.json.encode({**noted, "pid": other.pid}))
    assert not end_leftover(tmp_path)
    assert other.poll() is None


def test_a_server_that_may_not_be_ended_is_reported(
    tmp_path: Path, other: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(process: psutil.Process) -> None:
        raise psutil.AccessDenied(process.pid)

    note(tmp_path, other.pid)
    monkeypatch.setattr(psutil.Process, "terminate", refuse)
    with pytest.raises(Unreachable, match=f"pid {other.pid}.*end it"):
        end_leftover(tmp_path)
