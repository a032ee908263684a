"""A run that names what is unsteady, on suites that are made up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests import again
from tests.again import FAILED, NOISE, PROGRESS, UNSTEADY

PROJECT = Path(__file__).parents[1]
ONCE = """
import os, pathlib, signal, subprocess, sys, time

def first(name):
    seen = pathlib.Path(name)
    if seen.exists():
        return False
    seen.touch()
    return True
"""
"""Whether this is the first time, over all processes."""


class Suite:
    """A folder of tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, tests: str, most: int = 3) -> subprocess.CompletedProcess[str]:
        (self.folder / "test_made_up.py").write_text(ONCE + tests)
        command = [sys.executable, "-m", "tests.again", str(most), "-q", "-n1", "-p", "no:cacheprovider", "."]
        environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    @property
    def unsteady(self) -> list[str]:
        return (self.folder / UNSTEADY).read_text().splitlines()


def is_running(pid: int) -> bool:
    """Whether it runs: one that nobody has waited for is there, but has ended."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


ADOPTED = """
def test_its_process_dies_and_what_it_has_started_knows_nothing_of_the_round():
    if first("unknown"):
        left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env={}, start_new_session=True)
        pathlib.Path("unknown").write_text(str(left.pid))
        os.kill(os.getpid(), signal.SIGKILL)
def test_what_has_lost_its_parent_and_ends_is_gone():
    orphan = int(subprocess.check_output(["sh", "-c", "sleep 0.1 >/dev/null & echo $!"]))
    while pathlib.Path("/proc", str(orphan)).exists():
        time.sleep(0.01)
"""
"""What only Linux can, where a process can adopt what has lost its parent. Else whoever waits for its end would wait in
vain."""
HAS_ADOPTION = sys.platform == "linux"


def test_what_fails_among_others_and_passes_alone_is_named_and_let_through_and_nothing_is_left_running(
    suite: Suite,
) -> None:
    ended = suite.run(
        """
def test_steady(): pass
def test_unsteady(): assert not first("unsteady"), "the first time it fails"
def test_its_process_dies(): first("dies") and os.kill(os.getpid(), signal.SIGKILL)
def test_leaves_a_process_behind():
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    pathlib.Path("left").write_text(str(left.pid))
"""
        + ADOPTED * HAS_ADOPTION
    )
    assert 0 == ended.returncode, ended.stdout
    unsteady = {"test_unsteady", "test_its_process_dies"}
    unsteady |= {"test_its_process_dies_and_what_it_has_started_knows_nothing_of_the_round"} if HAS_ADOPTION else set()
    assert {f"test_made_up.py::{name}" for name in unsteady} == {*suite.unsteady}
    assert "test_unsteady: AssertionError: the first time it fails" in ended.stdout
    assert " s  test_made_up.py\n" in ended.stdout, "the time of a file is shown"
    assert ended.stdout.endswith(f"0 failed twice, {len(unsteady)} unsteady (at most 3 are let through)\n")
    assert "ending what a test left running" in ended.stdout
    for name in ("left", "unknown")[: 1 + HAS_ADOPTION]:
        assert not is_running(int((suite.folder / name).read_text()))


def test_what_fails_twice_fails_the_run(suite: Suite) -> None:
    ended = suite.run(
        """
import pytest

@pytest.fixture
def broken(): raise OSError("the disk is full")

def test_wrong(): assert 1 == 2
def test_its_world_is_broken(broken): pass
def test_unsteady(): assert not first("unsteady")
"""
    )
    assert 1 == ended.returncode
    assert ["test_made_up.py::test_unsteady"] == suite.unsteady
    assert "FAILED TWICE\n  test_made_up.py::test_wrong: assert 1 == 2" in ended.stdout
    assert "test_its_world_is_broken: OSError: the disk is full" in ended.stdout
    assert ended.stdout.endswith("2 failed twice, 1 unsteady (at most 3 are let through)\n")


def test_a_file_that_cannot_be_read_fails_the_run_also_where_all_that_was_seen_passes_at_last(suite: Suite) -> None:
    (suite.folder / "test_unreadable.py").write_text("import nothing_that_is_there")
    ended = suite.run('def test_unsteady(): assert not first("unsteady")')
    assert 0 != ended.returncode, ended.stdout
    assert "nothing_that_is_there" in ended.stdout


@pytest.mark.soak
def test_more_that_are_unsteady_than_are_let_through_fail_the_run(suite: Suite) -> None:
    tests = "".join(f"def test_{number}(): assert not first('{number}')\n" for number in range(2))
    ended = suite.run(tests, most=1)
    assert 1 == ended.returncode
    assert ended.stdout.endswith("0 failed twice, 2 unsteady (at most 1 are let through)\n")


@pytest.mark.soak
def test_more_failures_than_noise_are_not_run_again(suite: Suite) -> None:
    tests = "".join(f"def test_{number}(): assert not first('{number}')\n" for number in range(NOISE + 1))
    ended = suite.run(tests)
    assert 1 == ended.returncode
    assert f"{NOISE + 1} failed" in ended.stdout
    assert not (suite.folder / UNSTEADY).exists()


@pytest.mark.soak
def test_a_run_that_cannot_be_made_as_asked_says_so(suite: Suite) -> None:
    assert 5 == suite.run("").returncode
    assert 1 == suite.run("import nothing_of_this_name").returncode


@pytest.mark.parametrize("heeds", [True, False])
def test_a_round_that_stands_still_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, heeds: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(again, "POLL", 0.01)
    monkeypatch.setattr(again, "ENDING", 60.0 if heeds else 0.01)
    PROGRESS.parent.mkdir()
    PROGRESS.touch()
    os.utime(PROGRESS, (time.time() - again.SILENCE, time.time() - again.SILENCE))
    handled = "signal.SIG_DFL" if heeds else "signal.SIG_IGN"
    program = f"import signal; signal.signal(signal.SIGINT, {handled}); print('begun', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as standing:
        assert standing.stdout is not None
        assert standing.stdout.readline()
        assert FAILED == again._ended(standing)  # noqa: SLF001 - a whole round would stand still for as long as it may
    assert -(signal.SIGINT if heeds else signal.SIGKILL) == standing.returncode
    assert "this round is interrupted" in capsys.readouterr().out
