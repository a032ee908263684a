"""What the whole installation holds in memory when nobody does anything.

Its processes load the same libraries: what they share is counted once (PSS), where the system does, as Linux.
"""

import psutil

from tests.bench.installations import installation
from tests.bench.measure import Measure, at_most

MEBIBYTE = 1024 * 1024


async def measure() -> list[Measure]:
    async with installation() as (running, _):
        assert running.broker is not None
        assert running.broker.process is not None
        pids = [status.pid for status in running.status.values()]
        sizes = [_resident(pid) / MEBIBYTE for pid in (*pids, running.broker.process.pid)]
    return [at_most("memory of the idle installation", sum(sizes), "MiB", 700.0)]


def _resident(pid: int) -> int:
    process = psutil.Process(pid)
    return int(process.memory_full_info().pss if psutil.LINUX else process.memory_info().rss)
