"""Installations and brokers of the benchmarks' own, and the bare operations that everything is compared to."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from nats.aio.msg import Msg

from schemas.streams import IN
from services.edges.launcher.broker import Broker
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Appender, Bus, LogReader
from services.kit.logs import logger
from services.kit.room import Kit
from services.settings import Logs, Settings
from tests.helpers.installation import connect

ACKNOWLEDGED = (b"", b"+ACK")
ECHO = """
import asyncio, sys, uvloop
from services.kit.bus import Bus
async def main():
    bus = await Bus.connect(sys.argv[1], "echo", user="room", password=sys.argv[2])
    async def answer(subject, data):
        return data
    await bus.serve("ask.echo.*", "echo", answer)
    print("ready", flush=True)
    await asyncio.Event().wait()
uvloop.run(main())
"""


@asynccontextmanager
async def installation() -> AsyncIterator[tuple[Installation, Bus]]:
    """A whole installation in a temporary directory, and a connection to it."""
    with tempfile.TemporaryDirectory(prefix="annals-bench-", ignore_cleanup_errors=True) as folder:
        async with Installation(Settings(data=Path(folder), logs=Logs(level="error"))).running() as running:
            bus = await connect(running)
            yield running, bus
            await bus.close()


@asynccontextmanager
async def kit() -> AsyncIterator[Kit]:
    """A broker with our streams, and what a room gets."""
    with tempfile.TemporaryDirectory(prefix="annals-bench-", ignore_cleanup_errors=True) as folder:
        settings = Settings(data=Path(folder))
        broker = Broker(Path(folder), port=0, max_payload=settings.nats.max_payload)
        await broker.start()
        async with AsyncExitStack() as stack:
            endpoint = broker.endpoint
            bus = await Bus.connect(endpoint.url, "bench", user=endpoint.user, password=endpoint.password)
            await bus.ensure()
            stack.push_async_callback(bus.close)
            yield Kit("responder", bus, LogReader(bus), Appender(bus), settings, stack, logger())
        broker.stop()


async def bare_requests(url: str, password: str, bus: Bus, count: int) -> list[float]:
    """Seconds of a request of 1 KB to another process, and its answer."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ECHO, url, password, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    body = b"x" * 1024
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        await bus.request("ask.echo._", body, 5.0)
        seconds.append(time.perf_counter() - began)
    process.terminate()
    await process.wait()
    return seconds


async def bare_publishes(bus: Bus, count: int) -> list[float]:
    """Seconds of one message of 1 KB, published and confirmed on disk."""
    body = b"x" * 1024
    seconds = []
    for number in range(count):
        began = time.perf_counter()
        await bus.publish("dead.bench", body, f"bare-{time.monotonic_ns()}-{number}")
        seconds.append(time.perf_counter() - began)
    return seconds


class Acknowledgements:
    """The positions of a stream that a room acknowledges, as they pass through the broker.

    A room is not asked how far it is, so that nothing of what is measured waits for an answer to that. A room
    acknowledges what it has committed.
    """

    def __init__(self) -> None:
        self.moments: list[tuple[float, int]] = []
        """When each acknowledgement came, by `time.perf_counter()`, and the position in it."""
        self._positions: set[int] = set()
        self._more = asyncio.Event()

    @classmethod
    async def of(cls, bus: Bus, stream: str, durable: str) -> "Acknowledgements":
        """Those that the reader with this name sends from now on."""
        made = cls()

        async def arrived(message: Msg) -> None:
            if message.data in ACKNOWLEDGED:  # and not that it is still at work, or wants it once more
                made.note(Msg(_client=bus.client, reply=message.subject).metadata.sequence.stream)

        await bus.client.subscribe(f"$JS.ACK.{stream}.{durable}.>", cb=arrived)
        await bus.client.flush()
        return made

    def note(self, position: int) -> None:
        """One more."""
        self.moments.append((time.perf_counter(), position))
        self._positions.add(position)
        self._more.set()

    async def through(self, position: int) -> None:
        """Wait for this position or a later one, of a reader whose acknowledgements count for all before them."""
        await self._until(lambda: bool(self.moments) and self.moments[-1][1] >= position)

    async def count(self, count: int) -> None:
        """Wait for so many positions, each of which is acknowledged by itself."""
        await self._until(lambda: len(self._positions) >= count)

    async def _until(self, is_there: Callable[[], bool]) -> None:
        while not is_there():
            self._more.clear()
            await self._more.wait()


async def worked(bus: Bus) -> None:
    """Wait until the tagger has nothing left to do."""
    while True:
        lag = await bus.lag(IN.name, "tagger")
        if lag is not None and not lag.waiting and not lag.in_hand:
            return
        await asyncio.sleep(0.01)
