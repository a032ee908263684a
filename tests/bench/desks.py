"""A hundred writers at two desks, of which one is killed in the middle: the log compared with the answers."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.settings import Settings
from tests.bench.measure import Measure, at_least, at_most
from tests.helpers.memory_writers import Grown, check_ledger, digest, repeated, words_of, written
from tests.helpers.room_process import room

COUNT = 10_000
WAIT = 2.0
"""Seconds after which a writer sends its command again."""


async def measure() -> list[Measure]:
    with TemporaryDirectory(prefix="annals-bench-", ignore_cleanup_errors=True) as folder:
        data = Path(folder)
        broker = Broker(data, port=0, max_payload=Settings(data=data).nats.max_payload)
        await broker.start()
        endpoint = broker.endpoint
        bus = await Bus.connect(endpoint.url, "bench", user=endpoint.user, password=endpoint.password)
        try:
            await bus.ensure()
            return await _measured(bus, data)
        finally:
            await bus.close()
            broker.stop()


async def _measured(bus: Bus, data: Path) -> list[Measure]:
    grown = Grown(bus)
    async with room("desk", data) as first, room("desk", data) as other:
        for one in (first, other):
            await one.logs("open")

        def watch(done: int) -> None:
            if done == COUNT // 2:
                first.process.kill()

        began = time.perf_counter()
        answers = await written(bus, repeated(COUNT), wait=WAIT, watch=watch)
        rate = COUNT / (time.perf_counter() - began)
        await grown.book()
    refused = sum(not answer.ok for answer in answers)
    found = await check_ledger(bus, answers, words_of(COUNT))  # raises where one is lost, doubled or not written
    different = digest(found) != digest(await grown.book())
    return [
        at_most("10,000 wishes at two desks, one killed: refused", refused, "wishes", 0.0),
        at_most("... digest other than of a fold from 0", different, "books", 0.0),
        at_least("... answered, in spite of that", rate, "wishes/s", 50.0),
    ]
