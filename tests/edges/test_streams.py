"""A command whose streams are closed, full or read by nobody ends as shells expect, without a word of code."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.helpers.examples import soak
from tests.helpers.surroundings import hear_signals
from tests.helpers.wrong_input import CODE

PROGRAM = (sys.executable, "-m", "services.edges.cli")
ROOT = Path(__file__).parents[2]
PRINTING = (["--help"], ["memory", "--help"], ["config", "show"], ["config", "show", "--json"], ["down"])
"""By the parser, by the library for tables, as JSON, and as a line."""
CLOSED = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-")
UNREAD, INTERRUPTED = 141, 130


@pytest.fixture
def surroundings(tmp_path: Path) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "ANNALS_DATA": str(tmp_path)}


def in_shell(words: list[str], redirection: str, surroundings: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    line = f'exec "$@" {redirection}'
    return subprocess.run(
        ["sh", "-c", line, "sh", *PROGRAM, *words],
        env=surroundings,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_command_whose_output_nobody_reads_ends_as_if_by_the_broken_pipe(
    words: list[str], surroundings: Mapping[str, str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [*PROGRAM, *words], env=surroundings, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (UNREAD, "") == (ended.returncode, ended.stderr)


@pytest.mark.parametrize(
    ("words", "redirection"),
    [
        pytest.param(words, closed, marks=soak(unless=words is PRINTING[0] or closed is CLOSED[-1]))
        for words in PRINTING
        for closed in CLOSED
    ],
)
def test_a_command_whose_streams_are_closed_does_what_it_does(
    words: list[str], redirection: str, surroundings: Mapping[str, str]
) -> None:
    ended = in_shell(words, redirection, surroundings)
    assert (0, "") == (ended.returncode, ended.stderr)
    assert bool(ended.stdout) == (">&-" not in redirection.replace("2>&-", ""))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_command_whose_output_cannot_be_written_says_so_in_a_sentence(
    words: list[str], surroundings: Mapping[str, str]
) -> None:
    ended = in_shell(words, ">/dev/full", surroundings)
    assert 1 == ended.returncode
    assert "no space left" in ended.stderr
    assert "see that there is room" in ended.stderr
    assert not CODE.search(ended.stderr)


@pytest.mark.parametrize("words", [["status"], ["memory", "list"], ["config", "show"], ["doctor"]], ids=" ".join)
def test_a_folder_that_was_deleted_is_named_with_what_to_do(
    words: list[str], surroundings: Mapping[str, str], tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = 'cd "$0" && rmdir "$0" && exec "$@"'
    ended = subprocess.run(
        ["sh", "-c", line, str(gone), *PROGRAM, *words], env=surroundings, capture_output=True, text=True, check=False
    )
    assert 1 == ended.returncode
    assert "was deleted: change to one that is there" in ended.stderr
    assert not CODE.search(ended.stderr)


@pytest.mark.parametrize("words", [["status"], ["memory", "list"], ["sql", "-"], ["doctor"]], ids=" ".join)
def test_a_command_that_is_interrupted_while_it_waits_ends_without_a_word(
    words: list[str], surroundings: Mapping[str, str], nowhere: str
) -> None:
    reached = {**surroundings, "ANNALS_NATS__URL": nowhere, "ANNALS_NATS__WAIT": "60"}
    waiting = subprocess.Popen(
        [*PROGRAM, *words],
        env=reached,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,  # noqa: PLW1509 - no thread of these tests has a lock that it would need
    )
    until_it_waits(waiting.pid)
    waiting.send_signal(signal.SIGINT)
    _, errors = waiting.communicate()
    assert (INTERRUPTED, "") == (waiting.returncode, errors)


def until_it_waits(pid: int) -> None:
    """Until a process is past its start: it waits for an event, or for its input."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        state, place = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0], Path(f"/proc/{pid}/wchan")
        if state == "S" and any(one in place.read_text() for one in ("poll", "pipe_read", "pipe_wait")):
            return
    raise AssertionError("it does not come to wait for anything")
