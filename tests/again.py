"""A run of tests that names what is unsteady: what was not seen to pass is run once more, alone, before the run ends.

    python -m tests.again MOST PYTEST_ARGUMENTS...

A test that fails among others and passes alone is named, in the closing lines and in `.bench/unsteady.txt`. One that
fails twice, or more than MOST that are unsteady, fail the run.
"""

import ctypes
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

import msgspec
import psutil
import pytest

FOLDER = Path(".bench")
RESULTS = FOLDER / "not_passed.json"
UNSTEADY = FOLDER / "unsteady.txt"
NAMES = FOLDER / "names.txt"
PROGRESS = FOLDER / "progress"
"""A file that is touched whenever a test ends."""
ROUND = "TESTS_ROUND"
"""The environment variable by which processes know each other that one round of tests has started."""
PASSED, FAILED = 0, 1
"""Pytest's exit codes of runs; all others mean that it could not run as it was asked."""
BURYING = 0.01
"""Seconds between two looks for what has ended."""
SILENCE = float(os.environ.get("TESTS_SILENCE", "900"))
"""Seconds without an end of any test after which a round is ended: the runner waits for a process that fell."""
NOISE = 20
"""More failures than this are no noise: nothing is run again."""
POLL = 5.0
ENDING = 60.0
"""Seconds in which a process has ended that is interrupted or killed."""
LINE = 200
"""Characters that are shown of a reason."""
SLOWEST = 40
"""Files of tests of which the time is shown."""

ADOPTS = 36
"""Linux's PR_SET_CHILD_SUBREAPER: a process that is given, in init's place, what loses its parent below it."""

Reasons = Mapping[str, str]
"""Tests that were not seen to pass, and why."""


class Keeper:
    """Of what was collected, that which was not seen to pass: failed, broken, or lost with its process."""

    def __init__(self) -> None:
        self._collected: Sequence[str] = ()
        self._passed: set[str] = set()
        self._reasons: dict[str, str] = {}
        self._seconds: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._collected = ids

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected = self._collected or [item.nodeid for item in session.items]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """What cannot be read has tests that nobody knows of: it has not passed."""
        if report.failed:
            self._reasons.setdefault(report.nodeid, report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        PROGRESS.touch()
        self._seconds[report.nodeid.split("::")[0]] += report.duration
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self._reasons.setdefault(report.nodeid, crash.message if crash else report.longreprtext)
        elif report.when == "call" or report.skipped:
            self._passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        lost = {name: "never ran to its end" for name in self._collected if name not in self._passed}
        RESULTS.write_bytes(msgspec.json.encode(lost | self._reasons))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(f"the slowest files of {sum(self._seconds.values()):.0f} s")
        for file, seconds in sorted(self._seconds.items(), key=itemgetter(1), reverse=True)[:SLOWEST]:
            terminalreporter.write_line(f"{seconds:7.1f} s  {file}")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Keeper())


def run(arguments: Sequence[str]) -> tuple[int, Reasons]:
    """One round: pytest's exit code, and what was not seen to pass. What it left running is ended."""
    FOLDER.mkdir(exist_ok=True)
    RESULTS.unlink(missing_ok=True)
    name = secrets.token_hex(8)
    command = [sys.executable, "-m", "pytest", "-p", __spec__.name, *arguments]
    PROGRESS.touch()
    _adopt()
    try:
        with subprocess.Popen(command, env={**os.environ, ROUND: name}) as process:
            threading.Thread(target=_bury, args=(process,), daemon=True).start()
            status = _ended(process)
    finally:
        _end_all(left_of(name))
    return status, msgspec.json.decode(RESULTS.read_bytes(), type=dict[str, str]) if RESULTS.exists() else {}


def _adopt() -> None:
    """Become the parent of whatever loses its own: what a test has started is never out of sight. Linux alone can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPTS, 1, 0, 0, 0)


def _bury(process: "subprocess.Popen[bytes]") -> None:
    """While this one runs, wait for what was adopted and ends, as init does: nobody shall find a zombie there."""
    while process.returncode is None:
        with suppress(ChildProcessError):
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if ended is not None and ended.si_pid != process.pid:
                os.waitpid(ended.si_pid, 0)
                continue
        time.sleep(BURYING)


def _ended(process: "subprocess.Popen[bytes]") -> int:
    """The exit code of a round. One that stands still is interrupted: what has not ended by then has not passed."""
    while True:
        try:
            return process.wait(POLL)
        except subprocess.TimeoutExpired:
            if time.time() - PROGRESS.stat().st_mtime < SILENCE:
                continue
        _say(f"no test has ended for {SILENCE:.0f} s: this round is interrupted")
        process.send_signal(signal.SIGINT)
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
        return FAILED


def _end_all(left: Sequence[psutil.Process]) -> None:
    for process in left:
        _say(f"ending what a test left running: {process}")
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=ENDING)


def left_of(name: str) -> list[psutil.Process]:
    """The processes that a round has started and that still run: what descends from this one, or says so itself."""
    mine = psutil.Process()
    family, below = {mine, *mine.parents()}, {*mine.children(recursive=True)}
    return [one for one in psutil.process_iter() if one not in family and _is_left(one, below, name)]


def _is_left(process: psutil.Process, below: set[psutil.Process], name: str) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and (process in below or process.environ().get(ROUND) == name)
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False


def main(most: int, arguments: Sequence[str]) -> int:
    """Run what is asked for, and once more, alone, what did not pass; the exit code of both together."""
    UNSTEADY.unlink(missing_ok=True)
    status, bad = run(arguments)
    if status != FAILED or not 0 < len(bad) <= NOISE:
        return status
    NAMES.write_text("".join(f"{name}\n" for name in bad))
    status, still = run(["-q", "-n1", f"@{NAMES}"])  # another process: if it dies, its test counts as failed
    if status not in (PASSED, FAILED) or (status and not still):
        return status
    unsteady = {name: why for name, why in bad.items() if name not in still}
    UNSTEADY.write_text("".join(f"{name}\n" for name in unsteady))
    for line in closing_lines(still, unsteady):
        _say(line)
    _say(f"\n{len(still)} failed twice, {len(unsteady)} unsteady (at most {most} are let through)")
    return FAILED if still or len(unsteady) > most else PASSED


def closing_lines(still: Reasons, unsteady: Reasons) -> Iterable[str]:
    """The closing lines: each test with the reason it gave among the others."""
    for title, named in (("FAILED TWICE", still), ("UNSTEADY: failed among others, passed alone", unsteady)):
        if named:
            yield f"\n{title}"
        yield from (f"  {name}: {' '.join(why.split())[:LINE]}" for name, why in named.items())


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
