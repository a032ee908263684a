"""The whole plugin in one process, with several directories and no service: the notices of the person."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from schemas.codec import encode
from services.edges.launcher.broker import Broker
from services.edges.launcher.run import FILE as RECORD
from services.kit.bus import Bus
from services.responder.answers.client_manifest import MANIFEST
from tests.adapter.conftest import ROOT
from tests.helpers.waiting import PATIENCE

BUNDLE = ROOT / "deploy" / "opencode" / "dist" / "annals.mjs"
DRIVER = Path(__file__).with_name("process.mjs")


class Process:
    """One process of the harness."""

    def __init__(self, running: "subprocess.Popen[str]") -> None:
        self._running = running

    def open(self, directory: Path) -> None:
        """The harness begins in a directory."""
        assert [] == self._do("open", str(directory))

    def turn(self, directory: Path, session: str) -> list[list[str]]:
        """A turn of one step; the directory and the text of each notice of the person."""
        return self._do("turn", str(directory), session)

    def logged(self, text: str) -> None:
        """Wait until the adapter has noted this."""
        assert [] == self._do("logged", text)

    def written(self, path: Path, size: int) -> None:
        """Wait until this file has so many bytes."""
        assert [] == self._do("written", str(path), size)

    def _do(self, way: str, *given: object) -> list[list[str]]:
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        self._running.stdin.write(json.dumps({"way": way, "given": given}) + "\n")
        self._running.stdin.flush()
        notices: list[list[str]] = json.loads(self._running.stdout.readline())
        return notices


@contextmanager
def started(root: Path, found: dict[str, object] | None = None, **options: object) -> Iterator[Process]:
    """A process whose plugin finds this broker, or one that is gone."""
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    options_of_process = {
        "broker": str(root / "broker.json"),
        "state": str(root / "state"),
        "patience": 0.01,
        **options,
    }
    (root / "broker.json").write_text(json.dumps(found or {"url": "nats://127.0.0.1:1"}))
    command = [node, str(DRIVER), BUNDLE.as_uri(), json.dumps(options_of_process)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield Process(running)
        assert running.stdin is not None
        running.stdin.close()


def test_in_two_directories_the_person_is_notified_once(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        first, second = (tmp_path / name for name in ("first", "second"))
        notices = [*process.turn(first, "a"), *process.turn(second, "b"), *process.turn(first, "a")]
    ((place, notice),) = notices
    assert str(first) == place
    assert "OpenCode compacts by itself" in notice


@pytest.mark.parametrize("command", [["/there/is/no/such/program"], [""], []], ids=["absent", "empty", "none"])
def test_where_the_installation_cannot_be_started_the_person_is_notified_once(
    command: list[str], tmp_path: Path
) -> None:
    with started(tmp_path, house={"command": command}) as process:
        assert_notified_once(process, tmp_path)


def test_where_the_log_of_the_start_cannot_be_opened_the_person_is_notified_once(tmp_path: Path) -> None:
    (tmp_path / "state" / "launch.log").mkdir(parents=True)
    with started(tmp_path, house={"command": ["true"]}) as process:
        assert_notified_once(process, tmp_path)


@pytest.mark.parametrize("house", [False, {"command": ["true"]}], ids=["of somebody else", "of its own"])
def test_only_the_installation_that_was_named_is_connected_to(house: object, tmp_path: Path) -> None:
    """Another's may be at the usual address, and gets no report of these sessions."""
    with started(tmp_path, broker=str(tmp_path / "not yet written.json"), house=house) as process:
        process.open(tmp_path)
        process.logged("connected")
    assert "no installation has run here yet" in (tmp_path / "state" / "adapter.log").read_text()


def test_what_has_died_is_started_again_and_what_was_ended_is_not(tmp_path: Path) -> None:
    begun, data = tmp_path / "begun", tmp_path / "data"
    data.mkdir()
    house = {"command": ["sh", "-c", f"echo >> '{begun}'"], "data": str(data)}
    with started(tmp_path, house=house, patience=0) as process:
        process.open(tmp_path)
        process.written(begun, 1)
        for session in "abc":
            process.turn(tmp_path, session)
        (data / RECORD).write_text("{}")
        process.turn(tmp_path, "d")
        process.written(begun, 2)
    assert 2 == begun.stat().st_size


@pytest.mark.broker
@pytest.mark.own_broker
async def test_of_what_only_the_broker_is_left_is_started_again_when_nobody_answers(
    broker: Broker, tmp_path: Path
) -> None:
    begun, data = tmp_path / "begun", tmp_path / "data"
    data.mkdir()
    (data / RECORD).write_text("{}")
    house = {"command": ["sh", "-c", f"echo >> '{begun}'"], "data": str(data)}
    left = broker.endpoint_of("harness")
    found = {"url": left.url, "passwords": {"harness": left.password}}
    with started(tmp_path, found, house=house, patience=0, deadline_ms=60_000) as process:
        process.open(tmp_path)
        process.written(begun, 1)
        process.logged("Z connected")
        process.logged("the installation was started")
        for session in "abc":
            process.turn(tmp_path, session)
        process.written(begun, 2)
    assert 2 == begun.stat().st_size


@pytest.mark.broker
@pytest.mark.own_broker
async def test_a_guide_that_cannot_be_stored_is_used_all_the_same(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    async def guide(_subject: str, _question: bytes) -> bytes:
        return encode(MANIFEST)

    await bus.serve("ask.guide.*", "responder", guide)
    (tmp_path / "state" / "guide.json.draft").mkdir(parents=True)
    here = broker.endpoint_of("harness")
    found = {"url": here.url, "passwords": {"harness": here.password}}
    with started(tmp_path, found, house=False, patience=PATIENCE) as process:
        await asyncio.to_thread(process.open, tmp_path)
        await asyncio.to_thread(process.logged, "failed in storing the guide")
        await asyncio.to_thread(process.turn, tmp_path, "a")


def assert_notified_once(process: Process, directory: Path) -> None:
    """Not while the installation may be coming, and then in the first turn without it."""
    process.open(directory)
    process.logged("the installation was not started")
    notices = [process.turn(directory, "a"), process.turn(directory, "b"), process.turn(directory, "a")]
    assert [1, 0, 0] == [len(one) for one in notices]
