"""A room whose disk is full reports that in lines of its log, and never with a traceback."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.edges.room_health import healths
from services.kit.bus import Bus
from tests.helpers.indexed_sessions import LogWriter, message
from tests.helpers.room_process import Process, room, tracebacks
from tests.helpers.waiting import PATIENCE, until
from tests.kit.test_broker_away import EACH_ROOM, LOOK, see

pytestmark = [
    pytest.mark.broker,
    pytest.mark.own_broker,
    pytest.mark.skipif(sys.platform != "linux", reason="nothing else limits the files of another process"),
]

PROJECTORS = ("indexer", "responder")
"""The rooms that write what they read of the log into files of their own."""


@contextmanager
def full_disk(process: Process) -> Iterator[None]:
    """No file of this process may grow, until the end of the block."""
    pid = process.process.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


async def is_well(bus: Bus, name: str) -> bool:
    return any(health.ok and not health.failures for health in (await healths(bus, (name,), LOOK)).values())


async def failures(bus: Bus, name: str) -> str:
    """What the room reports that it cannot do."""
    found = await healths(bus, (name,), PATIENCE)
    return "\n".join(found[name].failures)


@pytest.mark.parametrize("name", [*PROJECTORS, *(one for one in EACH_ROOM if one.values[0] not in PROJECTORS)])
async def test_no_log_of_a_room_has_a_traceback_after_its_disk_was_full(name: str, bus: Bus, tmp_path: Path) -> None:
    append = LogWriter(bus).append
    async with room(name, tmp_path) as process:
        await process.logs("open")
        with full_disk(process):
            await see(bus, 0)
            await append(*message("m1", "lighthouse"))
            if name in PROJECTORS:
                await until(lambda: tracebacks(process) or [one for one in process.lines if "make room" in str(one)])
                assert ["make room"] == [
                    one for one in ("make room", "Exception", "Error") if one in await failures(bus, name)
                ]
        await append(*message("m2", "harbour"))
        await until(lambda: is_well(bus, name))
    assert [] == tracebacks(process)
