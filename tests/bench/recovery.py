"""How soon plans are in time again when a room or the broker is killed while sessions are at work."""

import asyncio
import os
import signal
import statistics
import sys
from collections.abc import Sequence
from itertools import count

from schemas.inbox import StepSeen
from schemas.subjects import Address
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.edges.client.transcript import Transcript
from services.edges.launcher.supervisor import HEALTHY_AFTER, Installation
from services.kit.bus import Bus
from tests.bench.compressing import START
from tests.bench.installations import installation
from tests.bench.measure import Measure, at_most
from tests.bench.prefix import recordings
from tests.bench.results import table
from tests.bench.working import LIMIT, again
from tests.helpers.waiting import until

SESSIONS, KILLS = 4, 3
DEADLINE_MS = 250
PAUSE = 0.1
"""Seconds between two steps of a session."""
CALM = 10
"""Plans in time, one after the other, after which a session has recovered."""
BUDGETS = {"tagger": 1.5, "responder": 2.0, "broker": 2.0}
"""Seconds."""


async def measure() -> list[Measure]:
    async with installation() as (running, bus):
        transcript = max(recordings(), key=lambda one: len(one.messages))
        sessions = [AtWork(bus, transcript, f"session{number}") for number in range(SESSIONS)]
        working = [asyncio.create_task(one.work()) for one in sessions]
        await _calm(sessions)
        found = {one: [await _recovered(running, one, sessions) for _ in range(KILLS)] for one in BUDGETS}
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        for session in sessions:
            await session.close()
    rows = [(one, KILLS, statistics.median(seconds), max(seconds)) for one, seconds in found.items()]
    sys.stdout.write(f"\n{table(('killed', 'times', 'median, s', 'longest, s'), rows)}\n")
    return [
        at_most(f"plans are in time again after the {one} is killed, median", statistics.median(seconds), "s", limit)
        for (one, seconds), limit in zip(found.items(), BUDGETS.values(), strict=True)
    ]


class AtWork:
    """A session that asks for a plan again and again, and when it was last without one."""

    def __init__(self, bus: Bus, transcript: Transcript, name: str) -> None:
        self._outbox = Outbox(bus)
        self._adapter = Adapter(bus, self._outbox, transcript.harness, Address("bench", name), deadline_ms=DEADLINE_MS)
        self._seen = transcript.seen
        self._more = again(transcript.messages, name)
        self.in_time = 0
        """Plans since the last one that was late."""
        self.recovered = 0.0
        """When the first of these came."""

    async def work(self) -> None:
        await self._adapter.publish("session", START, self._seen)
        clock = asyncio.get_running_loop().time
        messages = []
        for number in count(1):
            messages.append(next(self._more))
            await self._adapter.saw(messages[-1])
            step = StepSeen(f"s{number}", provider="bench", model="bench", context_limit=LIMIT)
            served = await self._adapter.step(step, messages, START)
            self.in_time = self.in_time + 1 if served.plan.status == "ready" else 0
            if self.in_time == 1:
                self.recovered = clock()
            await asyncio.sleep(PAUSE)

    async def close(self) -> None:
        await self._outbox.close()


async def _calm(sessions: Sequence[AtWork]) -> None:
    await until(lambda: min(one.in_time for one in sessions) >= CALM)


async def _recovered(running: Installation, part: str, sessions: Sequence[AtWork]) -> float:
    """Seconds from the kill until each session has the first of the plans that were all in time; 0: none was late."""
    await asyncio.sleep(HEALTHY_AFTER)  # what has just been begun is begun anew later
    await _calm(sessions)
    killed = asyncio.get_running_loop().time()
    os.kill(_pid(running, part), signal.SIGKILL)
    await asyncio.sleep(PAUSE + 2 * DEADLINE_MS / 1000)
    await _calm(sessions)
    return max(0.0, max(one.recovered for one in sessions) - killed)


def _pid(running: Installation, part: str) -> int:
    if part != "broker":
        return running.status[part].pid
    if running.broker is None or running.broker.process is None:
        raise RuntimeError("this installation has no broker of its own")
    return running.broker.process.pid
