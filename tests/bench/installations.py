"""Installations and brokers of the benchmarks' own, and the bare operations that everything is compared to."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from schemas.streams import IN
from services.edges.launcher.broker import Broker
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Appender, Bus, LogReader
from services.kit.logs import logger
from services.kit.room import Kit
from services.settings import Logs, Settings
from tests.helpers.installation import connect

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


async def worked(bus: Bus) -> None:
    """Wait until the tagger has nothing left to do."""
    while True:
        lag = await bus.lag(IN.name, "tagger")
        if lag is not None and not lag.waiting and not lag.in_hand:
            return
        await asyncio.sleep(0.01)
