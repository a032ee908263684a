"""The supervisor under a system that has no room left, and how it and commands that borrow it end."""

import asyncio
import errno
import os
import signal
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import psutil
import pytest

from services.edges.launcher import supervisor
from services.edges.launcher.leftover import FILE, ProcessNote
from services.edges.launcher.supervisor import LAST_PORT, Installation
from services.settings import Http, Settings
from tests.helpers.surroundings import hear_signals, surroundings
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

FULL = OSError(errno.ENOSPC, "No space left on device")


class Brief:
    """A room that ends at once, until there were some of it."""

    pid = 1

    def __init__(self, number: int) -> None:
        self._ended = asyncio.Event()
        if number < ENOUGH:
            self._ended.set()

    async def wait(self) -> int:
        await self._ended.wait()
        return 1

    def terminate(self) -> None:
        self._ended.set()

    kill = terminate


ENOUGH = 2


class Begun:
    """Rooms that are none. `errors`: what becomes of the first attempts to begin one."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.environments: dict[str, Mapping[str, str]] = {}
        self.count = 0

    async def begin(self, room: str, environment: Mapping[str, str]) -> Brief:
        if self.errors:
            raise self.errors.pop(0)
        self.environments[room] = environment
        self.count += 1
        return Brief(self.count)

    async def close(self) -> None:
        pass


@asynccontextmanager
async def running(data: Path, begun: Begun, *rooms: str, port: int = 0) -> AsyncIterator[Installation]:
    settings = Settings(data=data, http=Http(port=port))
    async with Installation(settings, rooms or ("tagger",), begun_by=begun).running() as installation:
        yield installation


async def test_a_room_is_begun_again_though_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise FULL

    monkeypatch.setattr(supervisor, "write_status", refuse)
    begun = Begun()
    async with running(tmp_path, begun):
        await until(lambda: begun.count == ENOUGH)


@pytest.mark.parametrize("error", [BlockingIOError(errno.EAGAIN, "no process"), OSError(errno.EMFILE, "no file"), FULL])
async def test_a_room_that_cannot_be_begun_is_tried_again(tmp_path: Path, error: OSError) -> None:
    begun = Begun(error, error)
    async with running(tmp_path, begun):
        await until(lambda: begun.count == ENOUGH)


async def test_a_broker_that_cannot_be_started_again_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, Begun()) as installation:
        broker = installation.broker
        assert broker is not None
        start, errors = broker.start, [FULL, ConnectionError("nats-server ended before it answered")]

        async def tried() -> None:
            if errors:
                raise errors.pop()
            await start()

        monkeypatch.setattr(broker, "start", tried)
        first = broker.process
        assert first is not None
        first.kill()
        await until(lambda: broker.process is not first and not errors)


async def test_where_who_keeps_a_room_running_fails_all_of_it_ends(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="nobody thought of this"):
        async with running(tmp_path, Begun(LookupError("nobody thought of this"))) as installation:
            await installation.fails()
    assert installation.broker is not None
    assert installation.broker.process is not None
    assert installation.broker.process.poll() is not None


@pytest.mark.parametrize(
    ("port", "expected"),
    [(0, ["0", "0", "0"]), (9200, ["9200", "9201", "9202"]), (LAST_PORT - 1, ["65534", "65535", "0"])],
)
async def test_each_room_has_a_port_of_its_own(tmp_path: Path, port: int, expected: list[str]) -> None:
    begun, rooms = Begun(), ("desk", "historian", "tagger")
    async with running(tmp_path, begun, *rooms, port=port):
        await until(lambda: len(begun.environments) == len(rooms))
    assert expected == [begun.environments[room]["ANNALS_HTTP__PORT"] for room in rooms]


@pytest.mark.parametrize("is_open_before", [False, True])
async def test_only_its_owner_can_read_the_files(tmp_path: Path, *, is_open_before: bool) -> None:
    data = tmp_path / "data"
    if is_open_before:
        data.mkdir()
        data.chmod(0o755)
    async with running(data, Begun()):
        assert 0o700 == data.stat().st_mode & 0o777


class Command:
    """`annals` with a few words, in a process of its own."""

    def __init__(self, home: Path) -> None:
        self.data = home / "data"
        self.temporary = home / "temporary"
        self.temporary.mkdir()
        self._environment = {
            **surroundings(home / "home"),
            "ANNALS_DATA": str(self.data),
            "TMPDIR": str(self.temporary),
        }

    async def __call__(self, *words: str, before: str = "") -> asyncio.subprocess.Process:
        program = (sys.executable, "-m", "services.edges.cli", *words)
        return await asyncio.create_subprocess_exec(
            *([before] if before else []), *program, env=self._environment, stdin=DEVNULL, stdout=DEVNULL,
            preexec_fn=hear_signals,
        )  # fmt: skip


def broker_in(data: Path) -> psutil.Process:
    """The broker that was noted there."""
    return psutil.Process(msgspec.json.decode((data / FILE).read_bytes(), type=ProcessNote).pid)


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.mark.house
async def test_a_terminal_that_is_closed_ends_all_of_the_installation_at_any_moment(command: Command) -> None:
    """Here while its broker starts."""
    process = await command("up")
    await until((command.data / FILE).exists)
    broker = broker_in(command.data)
    process.send_signal(signal.SIGHUP)
    assert 0 == await asyncio.wait_for(process.wait(), PATIENCE)
    assert not broker.is_running()
    assert not (command.data / "house.json").exists()


@pytest.mark.house
async def test_one_that_is_to_outlive_its_terminal_does_and_nobody_else_can_read_what_it_writes(
    command: Command,
) -> None:
    process = await command("up", before="nohup")
    await until((command.data / FILE).exists)
    process.send_signal(signal.SIGHUP)
    await until(lambda: [*command.data.glob("views/*.duckdb")])
    process.send_signal(signal.SIGTERM)
    assert 0 == await asyncio.wait_for(process.wait(), PATIENCE)
    assert [] == [one for one in psutil.process_iter() if _works_on(one, command.data)]
    assert [] == [path for path in (command.data, *command.data.rglob("*")) if path.stat().st_mode & 0o077]


def _works_on(process: psutil.Process, data: Path) -> bool:
    try:
        return process.environ().get("ANNALS_DATA") == str(data) and process.pid != os.getpid()
    except psutil.Error:
        return False


@pytest.mark.house
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_an_installation_that_was_borrowed_ends_with_the_command(
    command: Command, number: signal.Signals
) -> None:
    process = await command("demo")
    await until(lambda: [*command.temporary.glob(f"annals-*/{FILE}")])
    broker = broker_in(next(command.temporary.glob("annals-*")))
    process.send_signal(number)
    assert 128 + number == await asyncio.wait_for(process.wait(), PATIENCE)
    assert not broker.is_running()
    assert [] == [*command.temporary.glob("annals-*")]
