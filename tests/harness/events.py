"""The harness's own event stream, read as it comes and stored."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Self

import aiohttp

from tests.harness.api import Refused
from tests.harness.isolation import Json
from tests.helpers.waiting import PATIENCE

_LIMIT = 64 * 1024 * 1024
"""One event carries a whole tool output, twice."""


class Events:
    """What happened in one workspace since the listener was opened, in order."""

    def __init__(self) -> None:
        self.seen: list[Json] = []
        self._arrived = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    def mark(self) -> int:
        """Where the stream is now; `wait` looks behind it."""
        return len(self.seen)

    async def open(self, http: aiohttp.ClientSession, directory: str) -> Self:
        """Listen, and return when the harness has confirmed it: nothing that is asked of it from now on is missed."""
        mark = self.mark()
        self._task = asyncio.create_task(self._read(http, directory))
        await self.wait(lambda event: event["type"] == "server.connected", since=mark)
        return self

    async def wait(self, wanted: Callable[[Json], bool], *, since: int = 0, patience: float = PATIENCE) -> Json:
        """The first event after the mark that is wanted."""
        looked = since

        def found() -> Json | None:
            nonlocal looked
            fresh = self.seen[looked:]
            looked += len(fresh)
            return next((event for event in fresh if wanted(event)), None)

        try:
            async with asyncio.timeout(patience), self._arrived:
                while (event := found()) is None:
                    self._fail_where_closed()
                    await self._arrived.wait()
                return event
        except TimeoutError:
            last = ", ".join(event["type"] for event in self.seen[since:][-20:]) or "none"
            raise TimeoutError(f"no such event within {patience} s; the last ones were {last}") from None

    def _fail_where_closed(self) -> None:
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()
            raise ConnectionError("the harness closed its event stream")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _read(self, http: aiohttp.ClientSession, directory: str) -> None:
        try:
            async with http.get("/event", params={"directory": directory}, timeout=_forever()) as response:
                if response.status >= 400:
                    raise Refused(response.status, await response.text())
                async for line in _lines(response.content):
                    if line.startswith(b"data:"):
                        await self._keep(json.loads(line[5:]))
        finally:
            async with self._arrived:
                self._arrived.notify_all()

    async def _keep(self, event: Json) -> None:
        async with self._arrived:
            self.seen.append(event)
            self._arrived.notify_all()


def _forever() -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_read=None)


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    rest = b""
    async for piece in content.iter_any():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line
        if len(rest) > _LIMIT:
            raise ValueError("an event of the harness does not end")
