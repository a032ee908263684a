"""The broker's process, written down as soon as there is one, and ended where a killed supervisor has left it behind.

Two servers on one store would ruin it, so that nothing is started where one is left that cannot be ended.
"""

from pathlib import Path

import msgspec
import psutil

from services.edges.launcher.run import started_at
from services.kit.bus import Unreachable
from services.kit.endpoint import read
from services.kit.files import SPOILT, write_whole
from services.kit.logs import logger

FILE = "broker-process.json"
GRACE = 10.0
"""Seconds that a server has to end by itself, and then to be gone once it was killed."""
CONFIG = "nats.conf"


class ProcessNote(msgspec.Struct, frozen=True):
    """One server process, distinguished from a later one with the same process id."""

    pid: int
    began: float
    """As `started_at` says."""
    is_alone: bool = False
    """Whether it is of one command, which nobody else can be connected to."""


def note(data: Path, pid: int, *, is_alone: bool = False) -> None:
    """Write down that this process has the store."""
    write_whole(data / FILE, msgspec.json.encode(ProcessNote(pid, started_at(pid), is_alone)), mode=0o600)


def end_leftover(data: Path) -> bool:
    """End the server that is left on this store; whether there was one. Raises `Unreachable` where it goes on."""
    process = _left(data)
    if process is None:
        return False
    logger().warning("ending the broker that a killed supervisor left behind", pid=process.pid)
    try:
        process.terminate()
        _wait_or_kill(process)
    except psutil.NoSuchProcess:
        pass  # it has ended by itself meanwhile
    except psutil.Error as error:
        raise Unreachable(
            f"the broker that was left behind in {data} (pid {process.pid}) cannot be ended ({type(error).__name__}); "
            "end it as the user that started it, and try again"
        ) from error
    return True


def refuse_leftover(data: Path) -> None:
    """Raise `Unreachable` where the server of an installation is left on this store: for whoever is to change nothing.

    What a killed command has left is nobody's, and is ended by whoever starts the next server.
    """
    process, noted = _left(data), _noted(data)
    if process is not None and not (noted and noted.is_alone):
        raise Unreachable(
            f"a broker that a killed supervisor left behind still runs in {data} (pid {process.pid}); "
            "end it with `annals down`, then run this again"
        )


def _wait_or_kill(process: psutil.Process) -> None:
    try:
        process.wait(GRACE)
    except psutil.TimeoutExpired:
        logger().warning("it does not end, killing it", pid=process.pid)
        process.kill()
        process.wait(GRACE)


def _noted(data: Path) -> ProcessNote | None:
    try:
        return msgspec.json.decode((data / FILE).read_bytes(), type=ProcessNote)
    except (FileNotFoundError, *SPOILT):
        return None


def _left(data: Path) -> psutil.Process | None:
    """The server that runs on this store. One that cannot be looked at is not ours."""
    noted = _noted(data)
    if noted is None:
        return _left_by_earlier_release(data)
    try:
        process = psutil.Process(noted.pid)
        return process if started_at(noted.pid) == noted.began >= 0 else None
    except (psutil.Error, OSError):
        return None


def _left_by_earlier_release(data: Path) -> psutil.Process | None:
    """The same where only its number was written down: it is known by the configuration that it was given."""
    known = read(data)
    if known is None or known.pid <= 0:
        return None
    try:
        process = psutil.Process(known.pid)
        words = process.cmdline()
        given = [Path(process.cwd(), word).resolve() for word in words if Path(word).name == CONFIG]
    except (psutil.Error, OSError):
        return None
    return process if (data / CONFIG).resolve() in given else None
