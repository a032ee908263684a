"""A bench compared with that of another commit, in repositories that are made up, and once in this one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from tests.bench.against import INTERRUPTED, NOT_COMPARED, SAME, WORSE, main
from tests.bench.commit_bench import changed_benches
from tests.bench.compared import MISSING, ComparedRow, MeasuredRound
from tests.helpers.repositories import Checkout, Made
from tests.helpers.waiting import PATIENCE

PROJECT = Path(__file__).parents[2]
MAKEFILE = "setup:\n\t@mkdir -p .venv/bin && ln -s $(PYTHON) .venv/bin/python\n"
BEGINNING = """
import json, os, pathlib, subprocess, sys, time
if "--help" in sys.argv:
    print("NAME of warm, step; or where they are named: opencode" + OPTION)
    sys.exit()
name = sys.argv[1]
def rows():
    return "".join(
        json.dumps(dict(name=n, value=v, unit="ms", baseline=None, ratio=None, budget=b, ok=True)) + chr(10)
        for n, v, b in ROWS
    )
"""
NEW = "OPTION = ' --json FILE'" + BEGINNING + "pathlib.Path(sys.argv[sys.argv.index('--json') + 1]).write_text(rows())"
LATEST = """
folder = pathlib.Path('.bench')
folder.mkdir(exist_ok=True)
(folder / 'latest.jsonl').write_text(rows())
sys.exit(1)  # as where a budget is missed
"""
OLD = "OPTION = ''" + BEGINNING + LATEST
TABLE = "OPTION = ''" + BEGINNING + "for n, v, b in ROWS: print('│', n[:9] + '… │', v, '│ ms │  │  │', b, '│ ok │')"
ENDLESS = (
    "OPTION = ''"
    + BEGINNING
    + """
program = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
started = pathlib.Path(os.environ["STARTED"])
started.with_suffix(".new").write_text(str(child.pid))
started.with_suffix(".new").rename(started)
time.sleep(600)
"""
)


def bench(program: str, **rows: tuple[float, str]) -> dict[str, str]:
    """The files of a project whose bench measures these rows."""
    rows_of_bench = [(name.replace("_", " "), value, budget) for name, (value, budget) in rows.items()]
    return {
        "Makefile": MAKEFILE,
        "tests/bench/__main__.py": f"ROWS = {rows_of_bench!r}\n{program}",
        ".gitignore": ".venv\n.bench",
    }


class Project:
    """A repository with a commit to compare with, and a working tree that goes on from it."""

    def __init__(self, folder: Path) -> None:
        self.checkout = Checkout(folder)

    def of(self, there: dict[str, str], here: dict[str, str]) -> str:
        """Write both; the commit that is compared with."""
        first, _ = self.checkout.add(Made(1, "Before", there), Made(2, "After", here, (1,)))
        self.checkout.git("reset", "--hard", "--quiet", "main")
        return first

    def compare(self, commit: str, *words: str) -> int:
        return main([commit, "--root", str(self.checkout.folder), *words])

    @property
    def worktrees(self) -> int:
        return len(self.checkout.git("worktree", "list").splitlines())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.mark.parametrize("program", [NEW, OLD, TABLE])
def test_what_got_worse_is_in_the_last_line_whatever_the_other_bench_writes(
    project: Project, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = bench(program, the_time_of_a_step=(10.0, "<= 50"), a_rate_of_parts=(10.0, ">= 5"))
    now = bench(NEW, the_time_of_a_step=(12.0, "<= 50"), a_rate_of_parts=(20.0, ">= 5"))
    assert WORSE == project.compare(project.of(before, now), "--only", "step")
    assert "10 % worse or more: the time of a step (10 there, 12 here, ms)" == capsys.readouterr().out.splitlines()[-1]
    assert 1 == project.worktrees


def test_a_row_or_a_section_that_the_commit_lacks_is_a_dash_and_each_round_is_a_line(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = project.of(
        bench(OLD.replace("warm, step", "step"), step=(10.0, "<= 50")),
        bench(NEW, step=(10.0, "<= 50"), another=(1.0, "<= 50")),
    )
    lines = tmp_path / "lines.jsonl"
    assert SAME == project.compare(commit, "--json", str(lines))
    out = capsys.readouterr().out.splitlines()
    assert "nothing got 10 % worse" == out[-1]
    assert [3, 3, 0, 3] == [line.count(MISSING) for line in out if line.startswith("│")]
    found = [msgspec.json.decode(line, type=MeasuredRound | ComparedRow) for line in lines.read_bytes().splitlines()]
    turns = [(one.section, one.round, one.side) for one in found if isinstance(one, MeasuredRound)]
    assert [("warm", number, "here") for number in (1, 2, 3) for _ in range(2)] == turns[:6]
    assert [("step", 1, "here"), ("step", 1, "here"), ("step", 1, "there"), ("step", 2, "here")] == turns[6:10]
    assert [("warm", "step"), ("warm", "another"), ("step", "step"), ("step", "another")] == [
        (one.section, one.name) for one in found if isinstance(one, ComparedRow)
    ]


def test_a_commit_that_is_none_is_named_in_a_sentence(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.of(bench(NEW), bench(NEW))
    assert NOT_COMPARED == project.compare("0ld")
    assert "There is no commit 0ld here; `git log` lists them, `git fetch` brings more.\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("there", "message"),
    [
        ({"tests/bench/__main__.py": "import nothing_there\n"}, "cannot start; the last that it wrote"),
        ({"Makefile": "setup:\n\t@echo nothing_there; exit 1\n"}, "cannot be set up; the last that it wrote"),
        ({"Makefile": ""}, "cannot be set up; the last that it wrote"),
    ],
)
def test_a_commit_whose_bench_cannot_start_is_reported_with_its_last_lines(
    project: Project, there: dict[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = project.of(bench(NEW) | there, bench(NEW))
    assert NOT_COMPARED == project.compare(commit)
    err = capsys.readouterr().err
    assert message in err
    assert "nothing_there" in err or "setup" in err.splitlines()[-1]
    assert 1 == project.worktrees


def test_a_section_that_fails_on_one_side_is_reported_and_the_others_are_compared(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = NEW.replace("name = sys.argv[1]", "name = sys.argv[1]\nassert name != 'warm', 'it is too warm'")
    commit = project.of(bench(NEW, a=(1.0, "<= 5")), bench(failing, a=(1.0, "<= 5")))
    assert NOT_COMPARED == project.compare(commit)
    out = capsys.readouterr().out
    assert 1 == out.count("AssertionError: it is too warm")
    assert "In round 1, 2, 3: warm of this working tree ended without a row" in out
    assert "nothing got 10 % worse of what was measured, which is not all" == out.splitlines()[-1]


def test_a_bench_that_is_not_here_and_too_few_rounds_are_refused_in_sentences(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = project.of(bench(NEW), bench(NEW))
    assert NOT_COMPARED == project.compare(commit, "--only", "step", "swarm")
    assert "There is no bench swarm; name some of warm, step.\n" == capsys.readouterr().err
    with pytest.raises(SystemExit):
        project.compare(commit, "--rounds", "2")
    assert "2 rounds do not show more than noise; take 3 or more" in capsys.readouterr().err


def test_benches_that_have_changed_themselves_are_named(project: Project) -> None:
    files = {"tests/bench/warm.py": "", "tests/bench/step.py": ""}
    commit = project.of(bench(NEW) | files, bench(NEW) | files | {"tests/bench/step.py": "another"})
    assert ["step"] == changed_benches(project.checkout.folder, commit, ["warm", "step"])


def test_ctrl_c_leaves_neither_working_tree_nor_process(project: Project, tmp_path: Path) -> None:
    commit = project.of(bench(ENDLESS), bench(ENDLESS))
    started, temporary = tmp_path / "started", tmp_path / "tmp"
    temporary.mkdir()
    command = [sys.executable, "-m", "tests.bench.against", commit, "--root", str(project.checkout.folder)]
    environment = {**os.environ, "STARTED": str(started), "TMPDIR": str(temporary)}
    with subprocess.Popen(command, cwd=PROJECT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + PATIENCE
        while not started.exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline, "no bench has started"
        assert 2 == project.worktrees
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert (INTERRUPTED, 1, []) == (process.returncode, project.worktrees, [*temporary.iterdir()])
    assert "interrupted; what was made for the comparison is removed" == err.splitlines()[-1]
    assert not psutil.pid_exists(int(started.read_text()))


@pytest.mark.soak
@pytest.mark.house
@pytest.mark.timeout(1800)
def test_this_commit_is_compared_with_itself(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    command = ["make", "bench", "AGAINST=HEAD", "ONLY=memory", f"JSON={lines}"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    found = [msgspec.json.decode(line, type=MeasuredRound | ComparedRow) for line in lines.read_bytes().splitlines()]
    assert ["here", "there"] * 3 == [one.side for one in found if isinstance(one, MeasuredRound)], done.stderr
    (row,) = (one for one in found if isinstance(one, ComparedRow))
    assert row.here is not None
    assert row.there is not None
    assert "memory of the idle installation" == row.name
    assert row.name in done.stdout
