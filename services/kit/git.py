"""The door to git: one command, which ends in time, with all that it has started, and says no more than is wanted."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

PROGRAM = "git"
PATIENCE = 10.0
"""Seconds that a command may take."""
MOST_BYTES = 32 * 1024 * 1024
LEFT_BEHIND = 1.0
"""Seconds for what a command that has ended still has in its pipes: a process that has left its group, such as the
master of a shared connection of ssh, may have one open for hours."""
LOOK = 0.05
"""Seconds between two looks whether a command has ended whose pipes are open still."""
INHERITED = (
    "PATH", "HOME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
)  # fmt: skip
"""`HOME`, since a person says there whose repositories git may read."""
QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=5",
    "LC_ALL": "C",
}
"""No locks, no questions, no pager; what was left out of a clone is not fetched by the way, and neither replacements
nor grafts change what was committed: they are a clone's own."""
CONFIG = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.askPass": "",
    "core.alternateRefsCommand": "",
    "core.attributesFile": "/dev/null",
    "log.showSignature": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "core.quotePath": "false",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
"""Settings against what a repository's own could make git run or answer in, and against work that goes on behind a
command."""
LOCAL = "none"
"""No protocol at all: whatever a checkout's settings say, reading it reaches nothing else."""
REMOTE = "https:http:ssh:git:file"


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
        PROGRAM, *words, cwd=folder, env=environment, start_new_session=True, pass_fds=inherits, stdout=PIPE,
        stderr=PIPE, stdin=PIPE if stdin else DEVNULL,
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


def environment(
    given: Mapping[str, str], protocols: str = LOCAL, config: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment that git is run in: of this process's variables only those that reaching a repository needs.

    `config` holds before every file of settings, and cannot be taken for an option as an argument could.
    """
    entries = {**CONFIG, **(config or {})}
    numbered: dict[str, str] = {"GIT_CONFIG_COUNT": str(len(entries))}
    for at, (name, value) in enumerate(entries.items()):
        numbered |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    inherited = {name: given[name] for name in INHERITED if name in given}
    return {**inherited, **QUIET, **numbered, "GIT_ALLOW_PROTOCOL": protocols}
