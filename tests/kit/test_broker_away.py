"""A room whose broker is killed reports that in lines of its log, and never with a traceback."""

import asyncio
import itertools
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from schemas.codec import encode
from schemas.commands import MemoryWrite
from schemas.inbox import Inbound, SessionSeen
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.edges.room_health import healths
from services.kit.bus import Bus, Unreachable
from services.kit.commands import send
from services.kit.rooms import ROOMS
from tests.helpers.broker_world import NOON, PERSON
from tests.helpers.examples import soak
from tests.helpers.room_process import room, tracebacks
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SOME = 3
"""Rooms that are tried in `make test`: the first ones of the table."""
LOOK = 0.5
"""Seconds in which a room that is there answers."""
SEEN = 50
AT_ONCE = 8
"""Commands that the desk has in hand at once."""
EACH_ROOM = [pytest.param(name, marks=soak(unless=number < SOME)) for number, name in enumerate(ROOMS)]


async def see(bus: Bus, start: int) -> None:
    """Sessions that a harness has seen: rooms have something in hand."""
    for number in range(start, start + SEEN):
        message = Inbound(f"m{number}", NOON, (SessionSeen(title=f"session {number}"),))
        await bus.publish(Address("harbour", f"s{number}").inbound("pi"), encode(message), message.id)


async def write(bus: Bus) -> None:
    """Write memories again and again, until it is cancelled: commands are in hand whenever the broker falls."""
    for number in itertools.count():
        command = MemoryWrite(text=f"The harbour number {number} is closed on Sundays.", category="CONSTRAINTS")
        with suppress(Unreachable):
            await send(bus, Address(f"p{number % 5}"), command, name=f"w{number}", actor=PERSON)


async def fall(broker: Broker, bus: Bus) -> None:
    """Kill the broker, as a machine that lacks memory does."""
    assert broker.process is not None
    broker.process.kill()
    broker.process.wait()
    await until(lambda: not bus.connected)


async def is_well(bus: Bus, name: str) -> bool:
    return any(health.ok for health in (await healths(bus, (name,), LOOK)).values())


@pytest.mark.parametrize("name", EACH_ROOM)
async def test_no_log_of_a_room_has_a_traceback_after_its_broker_was_killed(
    name: str, broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    async with room(name, tmp_path) as process:
        await process.logs("open")
        writing = [asyncio.create_task(write(bus)) for _ in range(AT_ONCE if name == "desk" else 0)]
        await see(bus, 0)
        await fall(broker, bus)
        await broker.start()
        await until(lambda: bus.connected)
        await see(bus, SEEN)
        await until(lambda: is_well(bus, name))
        await fall(broker, bus)
        for task in writing:
            task.cancel()
        process.process.send_signal(signal.SIGTERM)
        await process.ends()
    assert [] == tracebacks(process)
