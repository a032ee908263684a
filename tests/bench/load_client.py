"""The process that plays sessions for `load`: recorded ones, over and over, each with a step a second."""

import asyncio
import random
import sys
import time
from itertools import cycle, islice

import msgspec
import uvloop

from schemas.subjects import Address
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.edges.client.player import Played, Player
from services.kit.bus import Bus, Unreachable
from services.kit.logs import configure
from tests.bench.load import LoadedStep
from tests.bench.prefix import recordings

PROJECTS = 8
SEED = 1
LONG = 60
"""Messages from which a recorded session is played: short ones would measure how sessions begin."""


class Pace:
    """A step a second, from a random moment of the first second on. One that comes late is not made up for."""

    def __init__(self, first: float) -> None:
        self._next = time.monotonic() + first

    async def wait(self) -> None:
        """Until the next step is due."""
        await asyncio.sleep(max(0.0, self._next - time.monotonic()))
        self._next = max(self._next, time.monotonic()) + 1.0


async def played(bus: Bus, sessions: int, seconds: float) -> list[LoadedStep]:
    """Play so many sessions at once for so many seconds."""
    outbox, began, chance = Outbox(bus), time.monotonic(), random.Random(SEED)
    steps: list[LoadedStep] = []
    transcripts = [one for one in recordings() if len(one.messages) >= LONG]

    def watch(step: Played) -> None:
        steps.append(LoadedStep(time.monotonic() - began, step.status, step.seconds, step.is_unexplained))

    async def session(number: int) -> None:
        pace = Pace(chance.random())
        await pace.wait()
        for turn, transcript in enumerate(islice(cycle(transcripts), number, None)):
            address = Address(f"load{number % PROJECTS}", f"s{number}.{turn}")
            adapter = Adapter(bus, outbox, transcript.harness, address)
            try:
                await Player(adapter, address, transcript, tidy=True, limit=0).play(watch, pause=pace.wait)
            except Unreachable:
                steps.append(LoadedStep(time.monotonic() - began, "unreachable", 0.0, is_unexplained=False))
                await pace.wait()

    playing = [asyncio.create_task(session(number)) for number in range(sessions)]
    await asyncio.wait(playing, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    failed = [one for one in playing if one.done()]
    for one in playing:
        one.cancel()
    await asyncio.gather(*playing, return_exceptions=True)
    for one in failed:
        one.result()
    await outbox.close()
    return steps


async def main(url: str, password: str, sessions: int, seconds: float) -> None:
    bus = await Bus.connect(url, "load", user="room", password=password)
    try:
        steps = await played(bus, sessions, seconds)
    finally:
        await bus.close()
    sys.stdout.buffer.write(msgspec.json.encode(steps))


if __name__ == "__main__":
    configure("bench", level="error", as_json=False)
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
