"""A room as the process that it is in production, and the lines that it writes."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.helpers.surroundings import surroundings
from tests.helpers.waiting import PATIENCE, until


class Process:
    """One room's process, and the lines that it writes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[dict[str, object]] = []
        self.plain: list[str] = []
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            try:
                self.lines.append(json.loads(line))
            except json.JSONDecodeError:
                self.plain.append(line.decode())

    async def logs(self, event: str) -> dict[str, object]:
        await until(lambda: self.logged(event))
        return self.logged(event)[0]

    def logged(self, event: str) -> list[dict[str, object]]:
        return [line for line in self.lines if line["event"] == event]

    async def ends(self) -> int:
        async with asyncio.timeout(PATIENCE):
            await self.reading
            return await self.process.wait()


def tracebacks(process: Process) -> list[object]:
    """The lines of a room that have a traceback, or are none of its log."""
    noted = [line for line in process.lines if "exception" in line or "Traceback" in str(line)]
    return [*noted, *process.plain]


@asynccontextmanager
async def room(name: str, data: Path, *arguments: str, module: str = "", **settings: str) -> AsyncIterator[Process]:
    """One room on the broker of a data directory, until the end of the block. `module`: what is run in its place."""
    given = {"ANNALS_DATA": str(data), "ANNALS_LOGS__FORMAT": "json", "PYTHONWARNINGS": "error::ResourceWarning"}
    started = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module or f"services.{name}",
        *arguments,
        stderr=asyncio.subprocess.PIPE,
        env=surroundings(data / "home") | given | settings,
        cwd=Path(__file__).parents[2],
    )
    process = Process(started)
    try:
        yield process
    finally:
        if started.returncode is None:
            started.kill()
        await process.ends()
