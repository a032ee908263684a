"""`annals up --detach` and `annals down`: an installation without a terminal."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from schemas.codec import encode
from schemas.status_asks import StatusAsk
from schemas.subjects import ask
from services.edges.launcher.leftover import end_leftover
from services.edges.launcher.run import LOG, Busy, Keeper, current, forget, owned, private, put_long_aside
from services.kit.bus import Bus, Unreachable
from services.kit.endpoint import find
from services.kit.files import open_own
from services.settings import Settings

START = 120.0
"""Seconds that an installation has until it answers. It goes on starting afterwards."""
END = 60.0
POLL = 0.1


class DetachFailure(RuntimeError):
    """The installation did not start, or did not end; says where to look."""


def command() -> tuple[str, ...]:
    """The words by which this installation's `annals` is called, from wherever."""
    installed = Path(sys.executable).with_name("annals")
    return (str(installed),) if os.access(installed, os.X_OK) else (sys.executable, "-m", "services.edges.cli")


async def detach(settings: Settings, keeper: Keeper, here: Path | None) -> str:
    """Have an installation that answers, and report which. One that runs already is left as it is.

    `here`: the folder whose project tightens the settings of an installation that is started; None: none does.
    """
    data = settings.data.resolve()
    known = current(data)
    process = None if known else _spawn(data, keeper, here)
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        run = current(data)
        if run is None and process is None:  # the one that was known has ended meanwhile
            known, process = None, _spawn(data, keeper, here)
        if run is not None and await _answers(settings):
            return f"the installation {'already ' if known else ''}{run.line}; its log is {data / LOG}"
        if process is not None and process.poll() is not None and run is None:
            raise DetachFailure(
                f"the installation ended with {process.returncode}: {_last_line(data)}; its log is {data / LOG}"
            )
        await asyncio.sleep(POLL)
    raise DetachFailure(f"the installation does not answer after {START:.0f} s; its log is {data / LOG}")


def _spawn(data: Path, keeper: Keeper, here: Path | None) -> "subprocess.Popen[bytes]":
    private(data)
    path = data / LOG
    put_long_aside(path)
    limits = () if here is None else ("--here", str(here))
    with os.fdopen(open_own(path), "ab") as log:
        return subprocess.Popen(  # noqa: S603 - our own program
            [*command(), "up", "--kept-by", keeper, *limits],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data,
            env={**os.environ, "ANNALS_DATA": str(data)},
            start_new_session=True,
        )


async def _answers(settings: Settings) -> bool:
    try:
        endpoint = find(settings)
        bus = await Bus.connect(endpoint.url, "launcher", user=endpoint.user, password=endpoint.password, wait=1.0)
    except Unreachable:
        return False
    try:
        await bus.request(ask(StatusAsk.NAME), encode(StatusAsk()), 1.0)
    except Unreachable:
        return False
    finally:
        await bus.close()
    return True


def _last_line(data: Path) -> str:
    lines = (data / LOG).read_text(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")


def _swept(data: Path) -> str:
    """Clear away what a killed installation has left behind. No directory is made for that."""
    if not os.path.lexists(data):
        return f"no installation runs in {data}"
    try:
        with owned(data):
            forget(data)
            left = end_leftover(data)
    except Busy as error:
        raise DetachFailure(
            f"the installation in {data} has not written down which process it is; end it where it runs"
        ) from error
    return f"no installation runs in {data}" + (
        ", and the broker that a killed one left behind has ended" if left else ""
    )


def down(settings: Settings) -> str:
    """End the installation of this data directory, its rooms first, and report what came of it."""
    data = settings.data.resolve()
    run = current(data)
    if run is None:
        return _swept(data)
    try:
        process = psutil.Process(run.pid)
        process.terminate()
        process.wait(END)
    except psutil.NoSuchProcess:
        pass  # it has ended by itself meanwhile
    except psutil.AccessDenied as error:
        raise DetachFailure(
            f"the installation (pid {run.pid}) is another user's; end it as the one that started it"
        ) from error
    except psutil.TimeoutExpired as error:
        raise DetachFailure(
            f"the installation (pid {run.pid}) does not end within {END:.0f} s; its log lines say why"
        ) from error
    return f"the installation in {data} has ended"
