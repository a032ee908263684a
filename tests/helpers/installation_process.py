"""`annals up` as people run it: in a process of its own, which can be killed with all that it started."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, Process
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from services.kit.bus import Bus, Unreachable
from services.kit.endpoint import find
from services.settings import Settings
from tests.helpers.installation import answers, until
from tests.helpers.surroundings import surroundings
from tests.helpers.waiting import PATIENCE


class Apart:
    """One `annals up` on a data directory."""

    def __init__(self, data: Path) -> None:
        self.settings = Settings(data=data)
        self._process: Process | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            await asyncio.wait_for(self._process.wait(), PATIENCE)

    async def start(self) -> None:
        """Start it, and return when it answers."""
        data = self.settings.data
        environment = {
            **surroundings(data.with_name("home")),
            "ANNALS_DATA": str(data),
            "ANNALS_LOGS__LEVEL": "warning",
        }
        command = (sys.executable, "-m", "services.edges.cli", "up")
        self._process = await asyncio.create_subprocess_exec(*command, env=environment, stdin=DEVNULL, stderr=DEVNULL)
        await until(self.answers, "the installation answers")

    async def kill(self) -> None:
        """End the supervisor, the broker and every room as a power cut does."""
        assert self._process is not None
        main = psutil.Process(self._process.pid)
        for one in (main, *main.children(recursive=True)):
            one.kill()
        await self._process.wait()

    async def answers(self) -> bool:
        try:
            endpoint = find(self.settings)
            bus = await Bus.connect(endpoint.url, "test", user=endpoint.user, password=endpoint.password, wait=1.0)
        except Unreachable:
            return False
        try:
            return await answers(bus)
        finally:
            await bus.close()
