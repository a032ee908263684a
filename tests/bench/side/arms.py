"""What is compared: OpenCode alone, and OpenCode with an installation of its own, as a user has it."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, Popen
from typing import Any

import msgspec
import psutil

from schemas.codec import encode
from schemas.streams import IN
from schemas.subjects import ask, parse_inbound, token
from schemas.view_asks import Rows, SqlAsk
from services.edges.client.catching_up import caught_up
from services.edges.connect.written import STARTS
from services.kit.bus import Bus
from services.kit.endpoint import find
from services.settings import Settings
from tests.bench.side.recordings import ROOT
from tests.harness.installed import MODULES
from tests.harness.opencode import OpenCode
from tests.helpers.installation import answers, settle, until

KNOB = "ANNALS_PLAN__CONTEXT"
"""The setting for the size of the context."""
READY = 120.0
PATIENT, SHORT = 10_000, 1_000
"""Milliseconds that a call waits for its plan at most."""
REBASES = "select causes, count(*) as n from plans where pass = 'rebase' group by causes order by n desc"


class Arm(msgspec.Struct, frozen=True):
    """One way to run OpenCode. `env` goes to the installation."""

    name: str
    annals: bool = True
    env: dict[str, str] = {}


ARMS = {
    arm.name: arm
    for arm in (
        Arm("alone", annals=False),
        Arm("annals"),
        Arm("lean", env={KNOB: "lean"}),
        Arm("balanced", env={KNOB: "balanced"}),
        Arm("full", env={KNOB: "full"}),
    )
}


class OwnInstallation:
    """`annals up` in a process of its own, which can be killed and started again."""

    def __init__(self, root: Path, env: dict[str, str]) -> None:
        self.data = root / "annals"
        self._log = self.data / "house.log"
        self._env = env
        self._process: Popen[bytes] | None = None
        self.down = asyncio.Event()
        """Set while it is not there to answer."""
        self.down.set()

    async def start(self) -> None:
        """Start it, and return when it answers."""
        self.data.mkdir(parents=True, exist_ok=True)
        (self.data / "broker.json").unlink(missing_ok=True)
        with self._log.open("ab") as log:
            command = [sys.executable, "-m", "services.edges.cli", "up"]
            self._process = Popen(command, env=self._environment(), stdin=DEVNULL, stdout=log, stderr=STDOUT)  # noqa: ASYNC220 - returns at once
        bus = await self.connected()
        await until(lambda: answers(bus), f"the installation answers; its log is {self._log}", READY)
        await bus.close()
        self.down.clear()

    async def caught_up(self, session: str) -> None:
        """Wait until a session is in the log as it was reported, with its history; only while the installation runs."""
        if self.down.is_set():
            return
        working, down = asyncio.create_task(self._worked(session)), asyncio.create_task(self.down.wait())
        try:
            await asyncio.wait((working, down), return_when=asyncio.FIRST_COMPLETED)
            if not self.down.is_set():
                await working
        finally:
            working.cancel()
            down.cancel()
            await asyncio.gather(working, down, return_exceptions=True)

    async def _worked(self, session: str) -> None:
        """Wait for the reports of a session, in whichever project the harness says that it is."""
        bus = await self.connected()
        try:
            reported = await bus.js.stream_info(IN.name, subjects_filter=f"in.*.*.{token(session)}")
            for subject in reported.state.subjects or {}:
                await caught_up(bus, *parse_inbound(subject))
        finally:
            await bus.close()

    async def connected(self) -> Bus:
        """Connect as a room does, once there is a broker."""

        async def is_written() -> bool:
            return (self.data / "broker.json").exists()

        await until(is_written, f"the installation has a broker; its log is {self._log}", READY)
        endpoint = find(Settings(data=self.data))
        return await Bus.connect(endpoint.url, "bench", user=endpoint.user, password=endpoint.password)

    def kill(self) -> None:
        """End it as a crash does, with all that it has started."""
        self.down.set()
        if self._process is None:
            return
        with suppress(psutil.NoSuchProcess):
            main = psutil.Process(self._process.pid)
            for process in (main, *main.children(recursive=True)):  # nothing is left that would start another broker
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        self._process.wait()
        self._process = None

    def _environment(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("ANNALS_")}
        return {**ours, **self._env, "PYTHONPATH": str(ROOT), "ANNALS_DATA": str(self.data)}

    async def rebases(self) -> dict[str, int]:
        """How often the prompt was made anew, by cause."""
        if self._process is None:
            return {}
        bus = await self.connected()
        await settle(bus)
        rows = msgspec.json.decode(await bus.request(ask(SqlAsk.NAME), encode(SqlAsk(REBASES)), 60.0), type=Rows)
        await bus.close()
        if rows.error:
            raise RuntimeError(rows.error)
        return {_named(causes): int(str(count)) for causes, count in rows.rows}


async def connect(oc: OpenCode, data: Path, *, steady: bool) -> None:
    """`annals setup opencode`, as a user runs it, with a plugin that waits longer: a busy machine changes no figure.

    Where the installation is not `steady`, the plugin starts none by itself, and waits less for one that is gone.
    """
    inherited = oc.rooms.environment({"ANNALS_DATA": str(data), "PYTHONPATH": str(ROOT)})
    env = {**inherited, "PATH": os.pathsep.join([str(MODULES / ".bin"), inherited["PATH"]])}
    command = (sys.executable, "-m", "services.edges.cli", "setup", "opencode", "--yes")
    process = await asyncio.create_subprocess_exec(*command, cwd=oc.workspace, env=env, stdout=PIPE, stderr=STDOUT)
    output, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"annals setup opencode ended with {process.returncode}: {output.decode()}")
    more: dict[str, object] = {"deadline_ms": PATIENT} if steady else {"deadline_ms": SHORT, STARTS: False}
    settings = msgspec.json.decode(oc.rooms.settings.read_bytes())
    settings["plugin"] = [_with(entry, more) for entry in settings["plugin"]]
    oc.rooms.settings.write_bytes(msgspec.json.format(msgspec.json.encode(settings)))


def _with(entry: str | list[Any], more: dict[str, object]) -> list[Any]:
    name, options = entry if isinstance(entry, list) else (entry, {})
    return [name, {**options, **more}]


def _named(causes: object) -> str:
    return "+".join(map(str, causes)) if isinstance(causes, list) else str(causes)


@asynccontextmanager
async def installation(arm: Arm, root: Path, *, absent: bool = False) -> AsyncIterator[OwnInstallation]:
    """The installation of an arm; one that does not run where it is to be absent, and where there is none."""
    made = OwnInstallation(root, arm.env)
    try:
        if arm.annals and not absent:
            await made.start()
        yield made
    finally:
        await asyncio.to_thread(made.kill)
