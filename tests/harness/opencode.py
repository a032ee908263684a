"""The real OpenCode, run in isolation in a workspace of its own and driven over its HTTP API."""

import asyncio
import contextlib
import json
import re
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
import psutil

from tests.harness import installed
from tests.harness.api import TURN, Api
from tests.harness.events import PATIENCE, Events
from tests.harness.isolation import OPENAI, Family, Json, Model, Plugin, Rooms, settings
from tests.harness.workspace import write

START = 60.0
_LISTENING = re.compile(r"listening on (http://\S+)")


class Stopped(Exception):
    """OpenCode ended although it should run."""


class OpenCode(Api):
    """One `opencode serve`. Its rooms outlive a restart: sessions, settings and workspace stay."""

    def __init__(
        self,
        root: Path,
        url: str,
        *,
        family: Family = OPENAI,
        plugins: Sequence[Plugin] = (),
        config: Json | None = None,
        env: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        keeps_settings: bool = False,
    ) -> None:
        """With `keeps_settings`, what others write into the settings stays, once they have been written."""
        self.rooms = Rooms(root / "opencode")
        self.rooms.make()
        write(self.rooms.workspace, files)
        self.family = family
        self.events = Events()
        self._url = url
        self._plugins = plugins
        self._config = config or {}
        self._env = env or {}
        self._keeps_settings = keeps_settings
        self._process: Process | None = None
        self._pump: asyncio.Task[None] | None = None
        self._log: list[str] = []

    @property
    def workspace(self) -> Path:
        return self.rooms.workspace

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def use(self, family: Family) -> None:
        """Have messages from now on go to the models of this family."""
        self.family = family
        self._model = family.main

    def path(self, name: str) -> str:
        """A file of the workspace as tools name it."""
        return str(self.workspace / name)

    def text(self, name: str) -> str:
        """What stands in a file of the workspace now."""
        return (self.workspace / name).read_text()

    def leave(self, name: str) -> None:
        """Put an empty file into the workspace."""
        (self.workspace / name).touch()

    def log(self, lines: int = 60) -> str:
        """The end of what OpenCode wrote to its terminal, for failures."""
        return "".join(self._log[-lines:])

    async def event(self, wanted: Callable[[Json], bool], patience: float = PATIENCE, *, since: int = 0) -> Json:
        return await self.events.wait(wanted, since=since, patience=patience)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(f"OpenCode's last lines:\n{self.log()}")
        await self.stop()

    async def start(self) -> None:
        """Start it, and return when it listens and its events are heard."""
        self.configure()
        self._process = await self._spawn("serve", "--hostname", "127.0.0.1", "--port", "0", "--print-logs")
        listening = asyncio.get_running_loop().create_future()
        self._pump = asyncio.create_task(self._read(self._process, listening))
        try:
            async with asyncio.timeout(START):
                base = await listening
            http = aiohttp.ClientSession(base)
            super().__init__(http, str(self.workspace), self.family.main)
            await self.events.open(http, str(self.workspace))
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """End it as a supervisor does, and whatever it started."""
        await self._end(psutil.Process.terminate)

    async def kill(self) -> None:
        """End it as a crash does: it learns nothing of it."""
        await self._end(psutil.Process.kill)

    async def restart(
        self,
        *,
        plugins: Sequence[Plugin] | None = None,
        config: Json | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Stop, where it still runs, and start again in the same rooms, with other settings if some are given."""
        await self.stop()
        self._plugins = self._plugins if plugins is None else plugins
        self._config = self._config if config is None else config
        self._env = self._env if env is None else env
        await self.start()

    async def run_once(self, prompt: str, *arguments: str, model: Model | None = None) -> list[Json]:
        """`opencode run` without a terminal: its own process for one prompt. What it reported, line by line."""
        self.configure()
        chosen = (model or self.family.main).spec
        process = await self._spawn("run", "--format", "json", "--model", chosen, *arguments, prompt)
        try:
            async with asyncio.timeout(START + TURN):
                output, _ = await process.communicate()
        finally:
            await _end_all(process, psutil.Process.kill)
        lines = output.decode().splitlines()
        if process.returncode:
            raise Stopped(f"opencode run ended with {process.returncode}:\n" + "\n".join(lines[-40:]))
        return [json.loads(line) for line in lines if line.startswith("{")]

    async def import_session(self, exported: Json) -> str:
        """Bring in a session as OpenCode exports it; its id."""
        path = self.rooms.root / "imported.json"
        path.write_text(json.dumps(exported))
        process = await self._spawn("import", str(path))
        output, _ = await process.communicate()
        if process.returncode:
            raise Stopped(f"opencode import ended with {process.returncode}:\n{output.decode()[-2000:]}")
        return str(exported["info"]["id"])

    def configure(self) -> None:
        """Write the settings that it starts with."""
        if self._keeps_settings and self.rooms.settings.exists():
            return
        content = settings(self._url, self.family, self._plugins, self._config)
        self.rooms.settings.write_text(json.dumps(content, indent=2))

    async def _spawn(self, *arguments: str) -> Process:
        return await asyncio.create_subprocess_exec(
            installed.opencode(),
            *arguments,
            cwd=self.workspace,
            env=self.rooms.environment(self._env),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
            limit=16 * 1024 * 1024,
        )

    async def _read(self, process: Process, listening: asyncio.Future[str]) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            self._log.append(line.decode(errors="replace"))
            found = _LISTENING.search(self._log[-1])
            if found and not listening.done():
                listening.set_result(found[1])
        if not listening.done():
            listening.set_exception(Stopped(f"OpenCode ended at once:\n{self.log()}"))

    async def _end(self, how: Callable[[psutil.Process], None]) -> None:
        await self.events.close()
        process, self._process = self._process, None
        if process is None:
            return
        await _end_all(process, how)
        if self._pump is not None:
            await self._pump
        if hasattr(self, "_http"):
            await self._http.close()


async def _end_all(process: Process, how: Callable[[psutil.Process], None]) -> None:
    """End a process by its id, wait for it, and leave none of its children behind."""
    children: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess):
        main = psutil.Process(process.pid)
        children = main.children(recursive=True)
        if process.returncode is None:
            how(main)
    try:
        async with asyncio.timeout(PATIENCE):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
