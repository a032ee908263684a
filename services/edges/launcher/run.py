"""Which process runs the installation of a data directory; a later process with the same id is not taken for it."""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psutil

from services.kit.data_directory import refuse_unusable
from services.kit.files import SPOILT, open_own, write_whole

FILE = "house.json"
LOCK = "lock"
LOG = "house.log"
"""The file to which an installation without a terminal writes its log lines."""

LONGEST_LOG = 10 * 1024 * 1024
"""Bytes of a log that is continued."""

OWNERS = 0o700
OTHERS = stat.S_IRWXG | stat.S_IRWXO

Keeper = str
"""The one who sees to the process: a terminal, a service, nobody, or a harness by its name."""
WORDS: dict[Keeper, str] = {
    "terminal": "in a terminal",
    "detached": "detached from its terminal",
    "opencode": "started by OpenCode's plugin",
    "service": "as a service",
}


class Run(msgspec.Struct, frozen=True):
    """One running installation."""

    pid: int
    began: float
    """When its process began, as the system counts: see `started_at`."""
    keeper: Keeper
    at: datetime
    project: str = ""
    """The project's file that tightens its settings, if any."""

    @property
    def line(self) -> str:
        words = WORDS.get(self.keeper, f"started by the plugin for {self.keeper}")
        bounds = f", within the limits of {self.project}" if self.project else ""
        return f"runs {words} since {self.at:%Y-%m-%d %H:%M} UTC (pid {self.pid}){bounds}"


class Busy(RuntimeError):
    """Another installation has this data directory."""


def private(data: Path) -> None:
    """Have a data directory that its owner alone can look into: one that is missing is made, one of ours corrected.

    It has what people wrote to their agents, and some of its files are made by programs that let everybody read them.
    Raises `Unusable` where no data can be stored below it.
    """
    refuse_unusable(data)
    data.mkdir(mode=OWNERS, parents=True, exist_ok=True)
    found = data.stat()
    if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & OTHERS:
        data.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)


@contextmanager
def owned(data: Path) -> Iterator[None]:
    """Have a data directory for this process alone. Raises `Busy`."""
    private(data)
    with os.fdopen(open_own(data / LOCK), "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Busy(f"an installation runs in {data} already; `annals status` shows it") from error
        yield


def put_long_aside(log: Path) -> None:
    """Put a log aside that is too long to be continued, in the place of the one that was put aside before."""
    if log.exists() and log.stat().st_size > LONGEST_LOG:
        log.replace(log.with_suffix(".log.old"))


def record(data: Path, keeper: Keeper, project: Path | None = None) -> None:
    """Write down that this process runs the installation."""
    pid = psutil.Process().pid
    run = Run(pid, started_at(pid), keeper, datetime.now(UTC), str(project or ""))
    write_whole(data / FILE, msgspec.json.encode(run), mode=0o600)


def forget(data: Path) -> None:
    (data / FILE).unlink(missing_ok=True)


def current(data: Path) -> Run | None:
    """The installation that runs here. What a killed one left behind counts for none, whoever has its number now."""
    try:
        run = msgspec.json.decode((data / FILE).read_bytes(), type=Run)
        return run if started_at(run.pid) == run.began else None
    except (OSError, *SPOILT, psutil.Error):
        return None


def started_at(pid: int) -> float:
    """When a process began, as far as it runs still; below zero where it has ended and nobody has waited for it.

    In ticks since the boot where the system counts them, since a clock that is set moves the time of day.
    """
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return float(psutil.Process(pid).create_time())
    return -1.0 if state in "ZX" else float(rest[18])
