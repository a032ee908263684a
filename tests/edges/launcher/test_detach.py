"""An installation without a terminal: it comes, it is known, it goes; all of them real processes."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psutil
import pytest

from services.edges.launcher import detach
from services.edges.launcher.detach import down
from services.edges.launcher.run import FILE, LOG, Run, current, record, started_at
from services.kit.endpoint import read
from services.settings import Settings
from tests.helpers.annals_command import annals
from tests.helpers.hostile_names import EVERYTHING, UNUSABLE
from tests.helpers.surroundings import surroundings
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.house

RECORDS = """
import sys, pathlib
from services.edges.launcher.run import record

record(pathlib.Path(sys.argv[1]), "detached")
"""


STARTS = ("up", "up --detach", "responder", "setup opencode --yes", "service install")
"""All that would write into a data directory first."""


class Machine:
    """A data directory, and `annals` on it."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.environment = {**surroundings(data.with_name("home")), "ANNALS_DATA": str(data)}
        self.output = ""
        """What the command printed that has started an installation last."""

    async def annals(self, *words: str, here: Path | None = None, **variables: str) -> tuple[int, str]:
        ended = await asyncio.to_thread(annals, *words, environment={**self.environment, **variables}, folder=here)
        return ended.returncode, ended.stdout + ended.stderr

    async def started(self, *words: str, here: Path | None = None, **variables: str) -> Run:
        """Start an installation without a terminal; the one that runs then."""
        status, self.output = await self.annals("up", "--detach", *words, here=here, **variables)
        assert 0 == status, self.output
        assert self.run is not None
        return self.run

    def kill(self) -> None:
        """End the supervisor alone, as a crash does."""
        assert self.run is not None
        killed = psutil.Process(self.run.pid)
        killed.kill()
        killed.wait()
        assert self.run is None

    @property
    def run(self) -> Run | None:
        return current(self.data)


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    machine = Machine(tmp_path / EVERYTHING / "da ta")
    yield machine
    await machine.annals("down")


async def test_two_that_start_it_at_once_start_one_which_answers_is_reported_and_ends(
    machine: Machine, tmp_path: Path
) -> None:
    """With a home of any name, since the data is elsewhere."""
    home = tmp_path / "raw\udcff\n\\?"
    home.mkdir()
    machine.environment["HOME"] = str(home)
    both = await asyncio.gather(machine.annals("up", "--detach"), machine.annals("up", "--detach"))
    assert [0, 0] == [status for status, _ in both], both
    run = machine.run
    assert run is not None
    for _, output in both:
        assert f"pid {run.pid}" in output
        assert str(machine.data / LOG) in output
    assert 0o600 == (machine.data / LOG).stat().st_mode & 0o777
    process = psutil.Process(run.pid)
    assert os.getsid(0) != os.getsid(process.pid)
    parts = process.children(recursive=True)
    assert len(parts) >= 5

    again, output = await machine.annals("up", "--detach")
    assert (0, True) == (again, "already" in output)
    assert run == machine.run
    reported = json.loads((await machine.annals("status", "--json"))[1])["house"]
    assert (run.pid, "detached") == (reported["pid"], reported["keeper"])

    status, output = await machine.annals("down")
    assert 0 == status, output
    assert not process.is_running()
    assert not [part for part in parts if part.is_running()]
    assert machine.run is None
    assert (0, True) == ((await machine.annals("down"))[0], "no installation runs" in (await machine.annals("down"))[1])


@pytest.mark.parametrize(("start", "name"), [*((one, UNUSABLE[-1]) for one in STARTS), ("up", "what?")])
async def test_a_default_data_directory_that_cannot_be_stored_in_is_refused_at_once(
    machine: Machine, tmp_path: Path, start: str, name: str
) -> None:
    home = tmp_path / name
    home.mkdir()
    status, output = await machine.annals(*start.split(), HOME=str(home), ANNALS_DATA="")
    assert (1, True) == (status, "set ANNALS_DATA to a directory without it" in output), output
    assert "Traceback" not in output
    assert [] == list(home.iterdir())


async def test_one_is_not_changed_by_the_project_it_is_started_in_and_killed_leaves_a_broker_that_down_ends(
    machine: Machine, tmp_path: Path
) -> None:
    """Whose repository it is says nothing about what others want to have switched off."""
    file = tmp_path / "cloned" / ".annals" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[memory]\nenabled = false\n[history]\nenabled = false\n[model]\ndaily_usd = 0\n")
    run = await machine.started(here=file.parents[1])
    assert "" == run.project
    names = ("ANNALS_MEMORY__ENABLED", "ANNALS_HISTORY__ENABLED", "ANNALS_MODEL__DAILY_USD")
    assert {("true", "true", "5.0")} == variables_of_rooms(run, *names)

    written = read(machine.data)
    assert written is not None
    broker = psutil.Process(written.pid)
    machine.kill()
    assert broker.is_running()
    status, output = await machine.annals("down")
    assert (0, True) == (status, "the broker that a killed one left behind" in output), output
    assert not broker.is_running()


async def test_one_keeps_to_the_limits_of_the_project_that_it_was_started_in(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "shop" / ".annals" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[plan]\nprotected_tags = 40\n[nats]\nport = 1\n")
    first = await machine.started("--project-limits", here=file.parents[1], ANNALS_PLAN__THRESHOLD="200")
    assert "nats.port" in machine.output, "what does not hold is named"
    assert f"within the limits of {file}" in machine.output
    assert str(file) == first.project
    assert {("40", "85.0")} == variables_of_rooms(first, "ANNALS_PLAN__PROTECTED_TAGS", "ANNALS_PLAN__THRESHOLD")
    await assert_one_without_a_record_is_left_alone(machine)


@pytest.mark.soak
async def test_one_that_was_killed_is_started_again(machine: Machine) -> None:
    first = await machine.started()
    machine.kill()
    second = await machine.started()
    assert first.pid != second.pid


async def assert_one_without_a_record_is_left_alone(machine: Machine) -> None:
    run = machine.run
    (machine.data / FILE).rename(machine.data / "aside")
    status, output = await machine.annals("down")
    assert (1, True) == (status, "end it where it runs" in output), output
    (machine.data / "aside").rename(machine.data / FILE)
    assert run == machine.run


def variables_of_rooms(run: Run, *names: str) -> set[tuple[str, ...]]:
    """The values that the rooms of an installation have of these variables."""
    rooms = [one.environ() for one in psutil.Process(run.pid).children() if "services." in " ".join(one.cmdline())]
    return {tuple(one[name] for name in names) for one in rooms}


async def test_an_installation_that_cannot_start_says_why_and_where_its_log_is(machine: Machine, nowhere: str) -> None:
    away = {"ANNALS_NATS__URL": nowhere, "ANNALS_NATS__WAIT": "0.2"}
    status, output = await machine.annals("up", "--detach", **away)
    assert 1 == status
    assert str(machine.data / LOG) in output
    assert f"no broker answers at {nowhere}" in output
    assert machine.run is None


async def test_one_that_ends_while_its_answer_is_waited_for_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it was asked to end a moment ago, and its rooms are still writing."""
    asked = asyncio.Event()

    async def answers(_: Settings) -> bool:
        asked.set()
        return False

    monkeypatch.setattr(detach, "_answers", answers)
    monkeypatch.setattr(detach, "command", lambda: (sys.executable, "-c", "import sys; sys.exit(3)"))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as ending:  # noqa: ASYNC220 - at once
        run = Run(ending.pid, started_at(ending.pid), "terminal", datetime.now(UTC))
        (tmp_path / FILE).write_bytes(msgspec.json.encode(run))
        starting = asyncio.create_task(detach.detach(Settings(data=tmp_path), "detached", None))
        await asyncio.wait_for(asked.wait(), PATIENCE)
        ending.kill()
    with pytest.raises(detach.DetachFailure, match="ended with 3"):
        await asyncio.wait_for(starting, PATIENCE)


def test_down_makes_no_directory_where_none_is(tmp_path: Path) -> None:
    assert f"no installation runs in {tmp_path / 'none'}" == down(Settings(data=tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_down_ends_nobody_who_only_has_the_number_of_an_installation_that_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        record(tmp_path, "detached")
        run = current(tmp_path)
        assert run is not None
        (tmp_path / FILE).write_bytes(msgspec.json.encode(msgspec.structs.replace(run, pid=other.pid)))
        assert "no installation runs" in down(Settings(data=tmp_path))
        assert other.poll() is None
        assert not (tmp_path / FILE).exists()
        other.communicate(b"\n")


@pytest.mark.parametrize("left", [b"", b"{", b'{"pid": "x"}', b"\xff"])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, left: bytes) -> None:
    (tmp_path / FILE).write_bytes(left)
    assert current(tmp_path) is None


def test_a_process_that_has_ended_and_nobody_has_waited_for_is_no_installation(tmp_path: Path) -> None:
    program = [sys.executable, "-c", RECORDS, str(tmp_path)]
    with subprocess.Popen(program) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert current(tmp_path) is None
        assert (tmp_path / FILE).exists()
