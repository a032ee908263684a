"""The door to git: one command, which ends in time, with all that it has started, and says no more than is wanted."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

PATIENCE = 10.0
"""Seconds that a command may take."""
MOST_BYTES = 32 * 1024 * 1024
LEFT_BEHIND = 1.0
"""Seconds for what a command that has ended still has in its pipes: a process that has left its group, such as the
master of a shared connection of ssh, may have one open for hours."""
LOOK = 0.05
"""Seconds between two looks whether a command has ended whose pipes are open still."""


class GitFailed(Exception):
    """Git did not do it, in its own words. A `status` below 0: somebody killed it; none: it was ended here."""

    def __init__(self, words: str, *, output: bytes | None = None, status: int | None = None) -> None:
        super().__init__(words)
        self.output, self.status = output, status


async def git(
    folder: Path,
    environment: Mapping[str, str],
    *words: str,
    stdin: bytes = b"",
    inherits: Sequence[int] = (),
    patience: float | None = None,
) -> bytes:
    """Run a command of git, and return its output. Raises `GitFailed`, `OSError`.

    `inherits`: open files that the process gets, such as that of a lock: they are open for as long as it runs.
    `patience`: seconds that it may take; none: `PATIENCE`.
    """
    seconds = PATIENCE if patience is None else patience
    process = await asyncio.create_subprocess_exec(
        "git", *words, cwd=folder, env=environment, start_new_session=True, pass_fds=inherits, stdout=PIPE, stderr=PIPE,
        stdin=PIPE if stdin else DEVNULL,
    )  # fmt: skip
    complaint = asyncio.create_task(_read(process.stderr))
    try:
        async with asyncio.timeout(seconds):
            if process.stdin is not None:
                with suppress(RuntimeError, ConnectionError):  # it has ended already: its status says why
                    process.stdin.write(stdin)
                process.stdin.close()
            output = await _read(process.stdout)
            if len(output) > MOST_BYTES:
                raise GitFailed(f"it answered more than {MOST_BYTES} bytes", output=output[:MOST_BYTES])
            if status := await _ended(process):
                message = (await complaint).decode(errors="replace").strip()
                raise GitFailed(message or f"it ended with {status}", status=status)
            return output
    except TimeoutError as error:
        raise GitFailed(f"it took longer than {seconds:g} s") from error
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it has left behind, too
        complaint.cancel()
        await asyncio.wait([complaint])
        try:
            async with asyncio.timeout(LEFT_BEHIND):
                for stream in (process.stdout, process.stderr):
                    while stream is not None and await stream.read(MOST_BYTES):
                        pass  # a pipe that nobody empties is never seen to end
        except TimeoutError:
            process._transport.close()  # type: ignore[attr-defined] # noqa: SLF001 - nothing else closes its pipes
        await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> int:
    """The status that a command has ended with, whoever has a pipe of it open still."""
    ended = asyncio.ensure_future(process.wait())
    while process.returncode is None and not ended.done():
        await asyncio.wait({ended}, timeout=LOOK)
    ended.cancel()
    await asyncio.wait({ended})
    return process.returncode or 0


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    found = bytearray()
    while stream is not None and len(found) <= MOST_BYTES and (piece := await stream.read(1024 * 1024)):
        found += piece
    return bytes(found)
