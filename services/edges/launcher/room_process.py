"""The processes of rooms, as their supervisor begins and ends them."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Mapping
from typing import IO, Protocol

import msgspec
import psutil

from services.edges.launcher.fork_server import Begin, Begun, EndedRoom
from services.kit.logs import logger

GRACE = 15.0
"""Seconds that a room is given to end by itself."""
POLL = 0.5
"""Seconds between two looks at a process, on a system that does not report its end."""
FELL = "the fork server that this room was asked of has ended; another is started"

_replies = msgspec.json.Decoder(Begun | EndedRoom)


class RoomProcess(Protocol):
    """A room that was begun."""

    @property
    def pid(self) -> int: ...

    async def wait(self) -> int | None:
        """Its exit status, once it has ended; nothing where nobody could learn it."""

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class Processes(Protocol):
    """The processes of an installation's rooms."""

    async def begin(self, room: str, environment: Mapping[str, str]) -> RoomProcess: ...

    async def close(self) -> None:
        """Begin no more. Every room has ended before."""


async def end(process: RoomProcess) -> None:
    """Ask it to end; make it, where it does not."""
    process.terminate()
    try:
        async with asyncio.timeout(GRACE):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def processes(output: IO[bytes] | None = None) -> Processes:
    """The processes of rooms on this system. `output` takes what they print, in place of this process's own output."""
    return ForkedRooms(output) if sys.platform == "linux" else ExecutedRooms(output)


class ExecutedRooms:
    """Each room is a program of its own. For systems where a copied process may not do all that a new one may."""

    def __init__(self, output: IO[bytes] | None = None) -> None:
        self._output = output

    async def begin(self, room: str, environment: Mapping[str, str]) -> RoomProcess:
        command = (sys.executable, "-m", f"services.{room}", "--with-parent", str(os.getpid()))
        process = await asyncio.create_subprocess_exec(
            *command, env=environment, start_new_session=True, stdout=self._output, stderr=self._output
        )
        return _Program(process)

    async def close(self) -> None:
        pass


class _Program:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid

    async def wait(self) -> int | None:
        return await self._process.wait()

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)


class ForkedRooms:
    """Each room is a copy of one process that has loaded them, the fork server. Where that falls, the rooms go on.

    Another fork server is started at once, so that a room that falls next is soon back.
    """

    def __init__(self, output: IO[bytes] | None = None) -> None:
        self._output = output
        self._server: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._asked: deque[asyncio.Future[_Copy]] = deque()
        self._living: dict[int, _Copy] = {}
        self._starting: asyncio.Task[None] | None = None
        self._environment: Mapping[str, str] = {}
        """Of the room that was asked for last."""
        self._orphans: dict[int, asyncio.Task[None]] = {}
        """The tasks that wait for the end of a room whose fork server has fallen, by its process."""
        self._is_closing = False

    async def begin(self, room: str, environment: Mapping[str, str]) -> RoomProcess:
        """Raises `ConnectionError` when the fork server fell; the next one is made by another."""
        self._environment = environment
        if self._writer is None and (self._starting is None or self._starting.done()):
            self._starting = asyncio.create_task(self._start(environment))
        if self._starting is not None:
            await asyncio.shield(self._starting)
        if self._writer is None:
            raise ConnectionError(FELL)
        begun = asyncio.get_running_loop().create_future()
        self._asked.append(begun)
        variables = tuple((os.fsencode(name), os.fsencode(value)) for name, value in environment.items())
        self._writer.write(msgspec.json.encode(Begin(room, variables)) + b"\n")
        return await asyncio.shield(begun)

    async def close(self) -> None:
        self._is_closing = True
        if self._starting is not None:
            await asyncio.gather(self._starting, return_exceptions=True)
        await asyncio.gather(*self._asked, return_exceptions=True)
        await asyncio.gather(*(end(one) for one in self._living.values()))
        await asyncio.gather(*self._orphans.values())
        if self._writer is not None:
            self._writer.close()
        if self._reading is not None:
            await self._reading

    async def _start(self, environment: Mapping[str, str]) -> None:
        if self._reading is not None:
            await self._reading  # of the one that fell
        connection = await self._connected(environment)
        reader, self._writer = await asyncio.open_connection(sock=connection)
        self._reading = asyncio.create_task(self._read(reader))

    async def _connected(self, environment: Mapping[str, str]) -> socket.socket:
        """A connection to a fork server."""
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as unused, theirs:
            unused.enter_context(ours)
            module, supervisor = "services.edges.launcher.fork_server", str(os.getpid())
            command = (sys.executable, "-m", module, str(theirs.fileno()), supervisor)
            self._server = await asyncio.create_subprocess_exec(
                *command,
                env=environment,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                stdout=self._output,
                stderr=self._output,
            )
            unused.pop_all()  # it is in use now
        return ours

    async def _read(self, reader: asyncio.StreamReader) -> None:
        has_begun = False
        with contextlib.suppress(ConnectionError):
            async for line in reader:
                match _replies.decode(line):
                    case Begun(pid):
                        has_begun = True
                        copy = self._living[pid] = _Copy(pid)
                        self._asked.popleft().set_result(copy)
                    case EndedRoom(pid, code):
                        self._living.pop(pid).ended.set_result(code)
        self._writer = None
        if self._server is not None:
            await self._server.wait()
        for pid, copy in self._living.items():
            if pid not in self._orphans:
                self._orphans[pid] = asyncio.create_task(self._until_ended(copy))
        while self._asked:
            self._asked.popleft().set_exception(ConnectionError(FELL))
        if has_begun and not self._is_closing:  # one that falls before it has begun any room would fall again
            logger().error("the fork server fell, starting it again", rooms=len(self._living))
            self._starting = asyncio.create_task(self._start_again())

    async def _start_again(self) -> None:
        try:
            await self._start(self._environment)
        except OSError as error:
            logger().error(f"the fork server could not be started ({error}); the next room that begins tries it again")

    async def _until_ended(self, copy: "_Copy") -> None:
        """Wait for a room whose fork server has fallen. Where nobody takes note of its end, its status is not known."""
        await _gone(copy.pid)
        del self._living[copy.pid], self._orphans[copy.pid]
        copy.ended.set_result(_status(copy.pid))


class _Copy:
    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ended: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    async def wait(self) -> int | None:
        return await asyncio.shield(self.ended)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if not self.ended.done():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


async def _gone(pid: int) -> None:
    """Wait until a process has ended that is no child of this one."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # it has ended before, or the system cannot report it
        while _runs(pid):  # noqa: ASYNC110
            await asyncio.sleep(POLL)
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _status(pid: int) -> int | None:
    """The exit status of a process that was handed on to this one, as all are to the first of a container."""
    with contextlib.suppress(ChildProcessError):
        found, status = os.waitpid(pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if found else None
    return None


def _runs(pid: int) -> bool:
    """Whether it does something still: where nobody takes note of its end, its number stays."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False
