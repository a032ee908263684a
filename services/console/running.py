"""Running queries: a process is begun for each, and ends with it; what became of it is a sentence or pages."""

import asyncio
import contextlib
import os
import signal
import sys
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple

import msgspec

from services.console.core.exchange import OUT_OF_MEMORY, Outcome, SqlQuery, too_large
from services.kit.logs import logger

ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR")
"""All that the process of a query is given of this one's environment, which holds passwords and keys."""
OF_MEMORY = (OUT_OF_MEMORY, -signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS)
"""The ends of a process that was refused memory at a place where nobody expects that."""
MODULE = "services.console.query_process"


class Result(NamedTuple):
    """The outcome of a query, and the file of its pages, which whoever has it closes."""

    outcome: Outcome
    pages: BinaryIO


class Runs:
    """The queries that run."""

    def __init__(self) -> None:
        self._processes: set[asyncio.subprocess.Process] = set()
        self._is_closing = False

    async def run(self, query: SqlQuery) -> Result:
        """Run a query to its end. Who gives up waiting ends it, too: nothing of it is left behind."""
        with contextlib.ExitStack() as stack:
            pages = stack.enter_context(TemporaryFile())
            outcome = await self._outcome(msgspec.structs.replace(query, descriptor=pages.fileno()))
            stack.pop_all()
            return Result(outcome, pages)

    def close(self) -> None:
        """End all of them. Those who wait learn why."""
        self._is_closing = True
        for process in self._processes:
            _kill(process)

    async def _outcome(self, query: SqlQuery) -> Outcome:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
            pass_fds=(query.descriptor,),
        )
        self._processes.add(process)
        try:
            if self._is_closing:
                _kill(process)
            output, _ = await process.communicate(msgspec.json.encode(query))
        finally:
            _kill(process)
            await asyncio.shield(process.wait())
            self._processes.discard(process)
        return self._judge(query, process.returncode, output)

    def _judge(self, query: SqlQuery, code: int | None, output: bytes) -> Outcome:
        if code == 0:
            return msgspec.json.decode(output, type=Outcome)
        if self._is_closing:
            return Outcome(error="the console is being ended; ask again in a moment")
        if code in OF_MEMORY:
            logger().warning("the process of a query was ended by its system", exit=code)
            return Outcome(error=too_large(query.memory))
        logger().error("the process of a query failed", exit=code)
        return Outcome(error=f"the query failed (exit status {code}); the console's log says more")


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
