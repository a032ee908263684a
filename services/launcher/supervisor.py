"""The supervisor: every room as its own process, started again when it falls, ended in order."""

import asyncio
import fcntl
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from pydantic import SecretStr

from services.kit.bus import Bus, Unreachable
from services.kit.endpoint import Endpoint, find
from services.kit.logs import logger
from services.kit.rooms import ROOMS
from services.kit.settings import Settings, environment
from services.launcher.broker import Broker

GRACE = 15.0
BACKOFF = 0.2
MOST_BACKOFF = 10.0
HEALTHY_AFTER = 10.0
"""Seconds after which a room counts as started well."""
STATUS_FILE = "rooms.json"


class Busy(RuntimeError):
    """Another house has this data directory."""


class RoomStatus(msgspec.Struct):
    """One room's process, as the supervisor sees it."""

    pid: int
    restarts: int = 0
    last_exit: int | None = None


class House:
    """The broker, unless one is given, and the rooms."""

    def __init__(self, settings: Settings, rooms: Sequence[str] = ROOMS) -> None:
        self._settings = settings
        self._rooms = rooms
        self.status: dict[str, RoomStatus] = {}
        self.broker: Broker | None = None
        self._stopping = False

    @property
    def data(self) -> Path:
        return self._settings.data

    @property
    def endpoint(self) -> Endpoint:
        return self.broker.endpoint if self.broker else find(self._settings)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["House"]:
        """All of it, from here to the end of the block."""
        data = self._settings.data
        data.mkdir(parents=True, exist_ok=True)
        with (data / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Busy(f"a house runs in {data} already; `annals status` shows it") from error
            if not self._settings.nats.url:
                nats = self._settings.nats
                self.broker = Broker(data, port=nats.port, max_payload=nats.max_payload)
                await self.broker.start()
            keepers = []
            try:
                await self._ensure_streams()
                keepers = [asyncio.create_task(self._keep(room)) for room in self._rooms]
                if self.broker is not None:
                    keepers.append(asyncio.create_task(self._keep_broker(self.broker)))
                yield self
            finally:
                await self._stop(keepers)

    async def _ensure_streams(self) -> None:
        endpoint = self.endpoint
        bus = await Bus.connect(endpoint.url, "launcher", user=endpoint.user, password=endpoint.password)
        await bus.ensure()
        await bus.close()

    async def _keep(self, room: str) -> None:
        """Run a room; when it ends unasked, run it again, later each time."""
        backoff = BACKOFF
        loop = asyncio.get_running_loop()
        while not self._stopping:
            began = loop.time()
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                f"services.{room}",
                "--with-parent",
                env=self._environment(),
                start_new_session=True,
            )
            known = self.status.get(room)
            self.status[room] = RoomStatus(
                process.pid, known.restarts + 1 if known else 0, known.last_exit if known else None
            )
            self._write_status()
            try:
                code = await process.wait()
            except asyncio.CancelledError:
                await _end(process)
                raise
            self.status[room].last_exit = code
            if self._stopping:
                return
            backoff = BACKOFF if loop.time() - began > HEALTHY_AFTER else min(MOST_BACKOFF, backoff * 2)
            logger().error("a room fell, starting it again", fallen=room, exit=code, seconds=round(backoff, 1))
            await asyncio.sleep(backoff)

    async def _keep_broker(self, broker: Broker) -> None:
        while not self._stopping:
            process = broker.process
            if process is not None and process.poll() is not None:
                logger().error("the broker fell, starting it again", exit=process.returncode)
                try:
                    await broker.start()
                except Unreachable as error:
                    logger().error(str(error))
            await asyncio.sleep(BACKOFF)

    def _environment(self) -> Mapping[str, str]:
        endpoint = self.endpoint
        user = endpoint.user or "room"
        reached = self._settings.nats.model_copy(
            update={"url": endpoint.url, "user": user, "password": SecretStr(endpoint.password)}
        )
        return {**os.environ, **environment(self._settings.model_copy(update={"nats": reached}))}

    def _write_status(self) -> None:
        draft = self._settings.data / f"{STATUS_FILE}.draft"
        draft.write_bytes(msgspec.json.encode(self.status))
        draft.replace(self._settings.data / STATUS_FILE)

    async def _stop(self, keepers: "Sequence[asyncio.Task[None]]") -> None:
        """Rooms first, so that what they hold is written; then the broker."""
        self._stopping = True
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)
        if self.broker is not None:
            self.broker.stop()
        (self._settings.data / STATUS_FILE).unlink(missing_ok=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(GRACE):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def read_status(data: Path) -> dict[str, RoomStatus]:
    """What the supervisor of this directory last wrote down."""
    try:
        return msgspec.json.decode((data / STATUS_FILE).read_bytes(), type=dict[str, RoomStatus])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


async def up(settings: Settings) -> None:
    """Run the house until someone asks it to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    house = House(settings)
    async with house.running():
        logger().info("up", broker=house.endpoint.url, data=str(settings.data), stop="Ctrl-C")
        await stop.wait()
        logger().info("stopping")
