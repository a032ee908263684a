"""The bench of a commit, in a working tree and an environment of its own, which are gone when they are not needed.

What is started here carries a mark in its environment, by which whatever it has started itself is found and ended.
"""

import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil

from tests.bench.compared import rows_of, rows_of_table
from tests.bench.measure import Measure
from tests.bench.results import WIDEST

MARK = "BENCH_MARK"
"""The environment variable by which processes are known that a comparison has started."""
OURS = (
    "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "FORCE_COLOR",
)  # fmt: skip
"""Variables that would have a commit's programs take what belongs to this working tree, or colour what is read here."""
GRACE = 20.0
"""Seconds in which a bench that is interrupted has removed what it made."""
ENDING = 10.0
LINES = 12
"""Lines of a program's output that are shown when it fails."""
SECTIONS = re.compile(r"\bof ([a-z-]+(?:, [a-z-]+)*)")
"""The benches that `python -m tests.bench --help` names: those that run when none is named come first."""
JSON = "--json"


class NotComparable(Exception):
    """The comparison cannot be made; says why, and what to do."""


class Finished(NamedTuple):
    """A program that has ended: its exit code, and all that it wrote."""

    code: int
    output: str

    @property
    def last(self) -> str:
        """The last lines of its output, for a person."""
        lines = [line for line in self.output.splitlines() if line.strip()]
        return "\n".join(f"  {line}" for line in lines[-LINES:]) or "  (it wrote nothing)"


class Programs:
    """Runs programs, each in a process group of its own, and leaves none of them behind."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where programs put their temporary files, and what they write."""
        self.rows = folder / "rows.jsonl"
        """Where a bench is asked to write its rows."""
        self._output = folder / "output.txt"
        self._temporary = folder / "tmp"
        self._temporary.mkdir()
        self._mark = secrets.token_hex(8)

    def run(self, command: Sequence[str], folder: Path) -> Finished:
        """Run a program in a folder until it ends. Interrupted, it is ended with all that it has started."""
        with self._output.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=folder, env=self._environment(), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            process.wait()
        finally:
            with uninterrupted():
                self._end(process)
        return Finished(process.returncode, self._output.read_text(errors="replace"))

    def _environment(self) -> Mapping[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name not in OURS}
        return {**inherited, MARK: self._mark, "COLUMNS": str(WIDEST), "TMPDIR": str(self._temporary)}

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        """End what has not ended, and what was left running by what has."""
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # a bench removes what it made
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        left = marked(self._mark)
        for one in left:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(left, timeout=ENDING)
        process.wait()


def marked(mark: str) -> list[psutil.Process]:
    """The processes that have this mark in their environment, but for this one."""
    return [one for one in psutil.process_iter() if one.pid != os.getpid() and _has(one, mark)]


def _has(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark
    except (psutil.Error, OSError):
        return False


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What is cleaned up is cleaned up, whoever presses Ctrl-C once more."""
    before = {one: signal.signal(one, signal.SIG_IGN) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler or signal.SIG_DFL)


class CommitBench:
    """The bench of one working tree, run by the Python of that tree's own environment."""

    def __init__(self, name: str, folder: Path, python: Path, programs: Programs) -> None:
        self.name = name
        """How it is called in sentences."""
        self._folder = folder
        self._python = python
        self._programs = programs
        self._help = ""

    def begin(self) -> None:
        """Look what its bench can do. Raises `NotComparable` where it does not even start."""
        asked = self._run("--help")
        if asked.code:
            raise NotComparable(f"The bench of {self.name} cannot start; the last that it wrote:\n{asked.last}")
        self._help = asked.output

    @property
    def usual(self) -> list[str]:
        """The sections that are run when none is named."""
        found = SECTIONS.search(self._help)
        return found[1].split(", ") if found else []

    def has(self, section: str) -> bool:
        """Whether there is such a section. An older commit may lack it."""
        return section in re.findall(r"[\w-]+", self._help)

    def measure(self, section: str) -> list[Measure]:
        """Run a section once; its rows. Raises `NotComparable` where it ends without any.

        Rows are in the file that was asked for. Older benches leave one of their own, and the oldest print a table.
        """
        own, latest = self._programs.rows, self._folder / ".bench" / "latest.jsonl"
        own.unlink(missing_ok=True)
        before = _changed(latest)
        ended = self._run(section, *([JSON, str(own)] if JSON in self._help else []))
        written = own if own.exists() else latest if _changed(latest) != before else None
        rows: list[Measure] = []
        if written is not None:
            with suppress(msgspec.DecodeError):  # rows with other fields: the table has them, too
                rows = rows_of(written.read_bytes())
        if rows := rows or rows_of_table(ended.output):
            return rows
        raise NotComparable(f"{section} of {self.name} ended without a row; the last that it wrote:\n{ended.last}")

    def _run(self, *words: str) -> Finished:
        return self._programs.run([str(self._python), "-m", "tests.bench", *words], self._folder)


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def full_name(root: Path, commit: str) -> str:
    """The commit that is meant, in full. Raises `NotComparable` where there is none."""
    found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    if found.returncode:
        raise NotComparable(f"There is no commit {commit} here; `git log` lists them, `git fetch` brings more.")
    return found.stdout.strip()


def changed_benches(root: Path, commit: str, sections: Sequence[str]) -> list[str]:
    """Those sections whose own file is another one at a commit: their rows may mean something else there."""
    files = {f"tests/bench/{section}.py": section for section in sections}
    found = _git(root, "diff", "--name-only", commit, "--", *files)
    return [files[name] for name in found.stdout.splitlines() if name in files]


@contextmanager
def commit_bench(root: Path, commit: str, folder: Path, programs: Programs) -> Iterator[CommitBench]:
    """The bench of a commit of this repository, set up below a folder as its own `make setup` does it.

    Its working tree is removed at the end. Raises `NotComparable` where it cannot be made or set up.
    """
    tree = folder / "tree"
    try:
        made = _git(root, "worktree", "add", "--quiet", "--detach", str(tree), commit)
        if made.returncode:
            raise NotComparable(f"No working tree could be made of {commit}: {made.stderr.strip()}")
        name = commit[:9]
        setup = programs.run(["make", "setup", f"PYTHON={_python()}"], tree)
        if setup.code:
            raise NotComparable(f"{name} cannot be set up; the last that it wrote:\n{setup.last}")
        yield CommitBench(name, tree, tree / ".venv" / "bin" / "python", programs)
    finally:
        with uninterrupted():
            _git(root, "worktree", "remove", "--force", str(tree))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for all that a comparison makes."""
    made = tempfile.TemporaryDirectory(prefix="annals-against-", ignore_cleanup_errors=True)
    try:
        yield Path(made.name)
    finally:
        with uninterrupted():
            made.cleanup()


def _python() -> str:
    """The Python that this environment was made from: an environment of another is not to hang on ours."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def _git(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
