"""What the whole house holds in memory when nobody does anything."""

import psutil

from tests.bench.houses import house
from tests.bench.measure import Measure, at_most

MEBIBYTE = 1024 * 1024


async def measure() -> list[Measure]:
    async with house() as (running, _):
        assert running.broker is not None
        assert running.broker.process is not None
        pids = [status.pid for status in running.status.values()]
        sizes = [psutil.Process(pid).memory_info().rss / MEBIBYTE for pid in (*pids, running.broker.process.pid)]
    return [at_most("memory of the idle house", sum(sizes), "MiB", 700.0)]
