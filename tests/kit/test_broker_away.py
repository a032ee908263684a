"""A room whose broker is killed reports that in lines of its log, and never with a traceback."""

import signal
from pathlib import Path

import pytest

from schemas.codec import encode
from schemas.inbox import Inbound, SessionSeen
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.edges.room_health import healths
from services.kit.bus import Bus
from services.kit.rooms import ROOMS
from tests.helpers.broker_world import NOON
from tests.helpers.examples import soak
from tests.helpers.room_process import Process, room
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SOME = 3
"""Rooms that are tried in `make test`: the first ones of the table."""
LOOK = 0.5
"""Seconds in which a room that is there answers."""
SEEN = 50
EACH_ROOM = [pytest.param(name, marks=soak(unless=number < SOME)) for number, name in enumerate(ROOMS)]


async def see(bus: Bus, start: int) -> None:
    """Sessions that a harness has seen: rooms have something in hand."""
    for number in range(start, start + SEEN):
        message = Inbound(f"m{number}", NOON, (SessionSeen(title=f"session {number}"),))
        await bus.publish(Address("harbour", f"s{number}").inbound("pi"), encode(message), message.id)


async def fall(broker: Broker, bus: Bus) -> None:
    """Kill the broker, as a machine that lacks memory does."""
    assert broker.process is not None
    broker.process.kill()
    broker.process.wait()
    await until(lambda: not bus.connected)


async def is_well(bus: Bus, name: str) -> bool:
    return any(health.ok for health in (await healths(bus, (name,), LOOK)).values())


def tracebacks(process: Process) -> list[object]:
    """The lines of a room that have a traceback, or are none of its log."""
    noted = [line for line in process.lines if "exception" in line or "Traceback" in str(line)]
    return [*noted, *process.plain]


@pytest.mark.parametrize("name", EACH_ROOM)
async def test_no_log_of_a_room_has_a_traceback_after_its_broker_was_killed(
    name: str, broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    async with room(name, tmp_path) as process:
        await process.logs("open")
        await see(bus, 0)
        await fall(broker, bus)
        await broker.start()
        await until(lambda: bus.connected)
        await see(bus, SEEN)
        await until(lambda: is_well(bus, name))
        await fall(broker, bus)
        process.process.send_signal(signal.SIGTERM)
        await process.ends()
    assert [] == tracebacks(process)
