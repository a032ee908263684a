"""The supervisor: every room as its own process, started again when it falls, ended in order."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace
from pydantic import SecretStr

from services.edges.launcher import run
from services.edges.launcher.broker import Broker
from services.edges.launcher.room_process import Processes, RoomProcess, end, processes
from services.edges.launcher.room_status import FILE, RoomStatus, remove_status, write_status
from services.edges.launcher.signals import asked_to_end, to_its_end
from services.kit.bus import Bus
from services.kit.endpoint import Endpoint, HealthAddress, find, read_address
from services.kit.logs import logger
from services.kit.rooms import ROOMS
from services.settings import Settings, environment

BACKOFF = 0.2
MOST_BACKOFF = 10.0
HEALTHY_AFTER = 10.0
"""Seconds after which a room counts as started well."""
DISK_LOOK = 5.0
"""Seconds between two looks at the room on the broker's disk."""
LAST_PORT = 65_535
LOOK = 1.0
"""Seconds between two requests for the health page of a room."""
REQUEST = b"GET /healthz HTTP/1.0\r\n\r\n"


class Installation:
    """The broker, unless one is given, and the rooms."""

    def __init__(
        self,
        settings: Settings,
        rooms: Sequence[str] = ROOMS,
        keeper: run.Keeper = "terminal",
        project: Path | None = None,
        begun_by: Processes | None = None,
    ) -> None:
        self._settings = settings
        self._rooms = rooms
        self._keeper = keeper
        self._project = project
        self.status: dict[str, RoomStatus] = {}
        self.broker: Broker | None = None
        self._processes = begun_by or processes()
        self._keepers: list[asyncio.Task[None]] = []
        self._stopping = False

    @property
    def data(self) -> Path:
        return self._settings.data

    @property
    def endpoint(self) -> Endpoint:
        return self.broker.endpoint if self.broker else find(self._settings)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Installation"]:
        """All of it, from here to the end of the block."""
        data = self._settings.data
        with run.owned(data):
            run.record(data, self._keeper, self._project)
            try:
                async with self._started():
                    yield self
            finally:
                run.forget(data)

    @asynccontextmanager
    async def _started(self) -> AsyncIterator[None]:
        """The broker and the rooms, in a directory that is ours."""
        try:
            if not self._settings.nats.url:
                nats = self._settings.nats
                self.broker = Broker(self.data, port=nats.port, max_payload=nats.max_payload)
                await self.broker.start()
            await self._ensure_streams()
            self._keepers = [asyncio.create_task(self._keep(room)) for room in self._rooms]
            if self.broker is not None:
                self._keepers.append(asyncio.create_task(self._keep_broker(self.broker)))
            yield
        finally:
            await to_its_end(self._stop())

    async def fails(self) -> None:
        """Wait for what must not happen: that who keeps a room or the broker running fails. Raises what it failed of.

        Nobody would begin that room again, though all else went on.
        """
        done, _ = await asyncio.wait(self._keepers, return_when=asyncio.FIRST_EXCEPTION)
        for keeper in done:
            if not keeper.cancelled() and (error := keeper.exception()):
                logger().error("who keeps a part of the installation running failed, so that all of it ends")
                raise error

    async def _ensure_streams(self) -> None:
        endpoint = self.endpoint
        wait = self._settings.nats.wait
        bus = await Bus.connect(endpoint.url, "launcher", user=endpoint.user, password=endpoint.password, wait=wait)
        try:
            await bus.ensure()
        finally:
            await bus.close()

    async def _keep(self, room: str) -> None:
        """Run a room; when it ends unasked, run it again, later each time."""
        backoff = BACKOFF
        loop = asyncio.get_running_loop()
        while not self._stopping:
            began = loop.time()
            code = await self._run(room)
            if self._stopping:
                return
            backoff = BACKOFF if loop.time() - began > HEALTHY_AFTER else min(MOST_BACKOFF, backoff * 2)
            logger().error("a room fell, starting it again", fallen=room, exit=code, seconds=round(backoff, 1))
            await asyncio.sleep(backoff)

    async def _run(self, room: str) -> int | None:
        """Run a room once; its exit status, where one is known."""
        try:
            process = await self._processes.begin(room, self._environment(room))
        except OSError as error:  # what it is a copy of fell, or the system has no process, file or room left
            logger().error(f"a room could not be begun ({error})", unbegun=room)
            return None
        known = self.status.get(room)
        status = RoomStatus(process.pid, known.restarts + 1 if known else 0, known.last_exit if known else None)
        self.status[room] = status
        self._write_status()
        watching = asyncio.create_task(self._end_when_hung(room, process))
        try:
            status.last_exit = await process.wait()
        except asyncio.CancelledError:
            await end(process)
            raise
        finally:
            watching.cancel()
        return status.last_exit

    async def _end_when_hung(self, room: str, process: RoomProcess) -> None:
        """End a room that does not answer any more: it is not asked to, since it does nothing."""
        seconds = self._settings.http.unanswered_after
        if not seconds:
            return
        await until_hung(self.data, room, process.pid, seconds)
        logger().error(f"a room has not answered for {seconds:g} s, ending it", hung=room, pid=process.pid)
        process.kill()

    async def _keep_broker(self, broker: Broker) -> None:
        """Look after the broker and its disk; when it falls, start it again, later each time that this fails."""
        backoff = BACKOFF
        loop = asyncio.get_running_loop()
        looked = loop.time()
        while not self._stopping:
            process = broker.process
            if loop.time() - looked >= DISK_LOOK:
                try:
                    await broker.use_room()
                except OSError as error:  # where it has ended by that, it is started again below
                    logger().error(f"the broker could not be given more room ({error})")
                looked = loop.time()
            elif process is not None and process.poll() is not None:
                logger().error("the broker fell, starting it again", exit=process.returncode)
                try:
                    await broker.start()
                    backoff = BACKOFF
                except OSError as error:  # `Unreachable` is one, and so is a full disk
                    backoff = min(MOST_BACKOFF, backoff * 2)
                    logger().error(f"the broker could not be started ({error})", seconds=round(backoff, 1))
            await asyncio.sleep(backoff)

    def _environment(self, room: str) -> Mapping[str, str]:
        endpoint = self.endpoint
        user = endpoint.user or "room"
        reached = replace(self._settings.nats, url=endpoint.url, user=user, password=SecretStr(endpoint.password))
        http = replace(self._settings.http, port=self._port(room))
        return {**os.environ, **environment(replace(self._settings, nats=reached, http=http))}

    def _port(self, room: str) -> int:
        """The address of a room's health report: the first room has the port that is set, each further one the next."""
        first = self._settings.http.port
        port = first + self._rooms.index(room)
        return port if first and port <= LAST_PORT else 0

    def _write_status(self) -> None:
        """Write the status. Where the disk has no room, rooms go on all the same, and `annals status` knows less."""
        try:
            write_status(self.data, self.status)
        except OSError as error:
            logger().warning(f"which rooms run cannot be written down ({error})", file=FILE)

    async def _stop(self) -> None:
        """Rooms first, so that what they hold is written; then the broker."""
        self._stopping = True
        try:
            for keeper in self._keepers:
                keeper.cancel()
            await asyncio.gather(*self._keepers, return_exceptions=True)
            await self._processes.close()
        finally:
            if self.broker is not None:
                self.broker.stop()
            remove_status(self._settings.data)


async def up(settings: Settings, keeper: run.Keeper = "terminal", project: Path | None = None) -> None:
    """Run the installation until someone asks it to stop. `project` is the file that has tightened the settings."""
    os.umask(run.OTHERS)  # what it and its rooms write is nobody else's
    installation = Installation(settings, keeper=keeper, project=project)
    with asked_to_end():
        async with installation.running():
            logger().info("up", broker=installation.endpoint.url, data=str(settings.data), stop="Ctrl-C")
            if project is not None:
                logger().info("every project is served within the limits of this file", file=str(project))
            try:
                await installation.fails()
            finally:
                logger().info("stopping")


async def until_hung(data: Path, room: str, pid: int, seconds: float) -> None:
    """Return as soon as a request for the room's health page has had no answer for so many seconds.

    A room that hangs does not end by itself, so its supervisor must notice it. Any answer will do: a
    room that reports that it is not well knows of it. One that has no page yet is being opened.
    """
    while True:
        address = read_address(data, room, pid)
        if address is not None and not await _answers(address, seconds):
            return
        await asyncio.sleep(LOOK)


async def _answers(address: HealthAddress, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            try:
                writer.write(REQUEST)
                await reader.read(1)
            finally:
                writer.close()
    except TimeoutError:
        return False
    except OSError:
        return True  # nobody listens there: the process ends, or has ended, which its supervisor learns otherwise
    return True
