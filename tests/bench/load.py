"""How many sessions at once get their plans in time: a step a second each, played by a process next to the rooms.

Each number of sessions has an installation of its own, so that none begins with what another one left to do.
"""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence

import msgspec
import psutil

from schemas.streams import DEAD
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Bus
from tests.bench.installations import installation
from tests.bench.measure import Measure, at_most, percentile
from tests.bench.results import table
from tests.helpers.installation import settle

COUNTS = (20, 30, 50, 80, 110)
SECONDS = 20.0
WARM_UP = 6.0
"""Seconds at the beginning in which steps count for nothing: all sessions are new then."""
IN_TIME = 50
"""Sessions at which hardly any plan is late on two cores, see docs/adr/0067."""
LATE, UNEXPLAINED, DEAD_LETTERS = 0.05, 0, 0


class LoadedStep(msgspec.Struct, frozen=True):
    """A step that a session made under load."""

    at: float
    """Seconds since the client began."""
    status: str
    seconds: float
    """How long its plan took, or how long it was waited for in vain."""
    is_unexplained: bool
    """Whether what was sent before changed without a declared reason."""


class LoadedRun(msgspec.Struct, frozen=True):
    """What came of so many sessions at once."""

    sessions: int
    steps: tuple[LoadedStep, ...]
    processor: Mapping[str, float]
    """Name of a room, `broker` or `client` -> share of one core."""
    settled: float
    """Seconds from the end of the load until all of it was in the log and in the views."""
    dead: int
    """Dead letters."""

    @property
    def counted(self) -> tuple[LoadedStep, ...]:
        """The steps behind the warm-up."""
        return tuple(step for step in self.steps if step.at >= WARM_UP)

    @property
    def late(self) -> float:
        """The share of steps that had no plan in time, from 0 to 1."""
        return sum(step.status != "ready" for step in self.counted) / (len(self.counted) or 1)

    @property
    def goodput(self) -> float:
        """Plans in time, a second."""
        return sum(step.status == "ready" for step in self.counted) / (SECONDS - WARM_UP)

    def ms(self, share: float) -> float:
        """This percentile of all steps, in time or not, in milliseconds."""
        return 1000 * percentile([step.seconds for step in self.counted] or [0.0], share)


async def measure() -> list[Measure]:
    runs = [await _run(count) for count in COUNTS]
    sys.stdout.write(f"\n{drawn(runs)}\n")
    return measures(runs)


def drawn(runs: Sequence[LoadedRun]) -> str:
    """A line for each number of sessions, and what each process took of a core."""
    headings = ("sessions", "steps", "late", "plans in time a second", "p50, ms", "p99, ms", "settled after, s")
    rows = [
        (run.sessions, len(run.counted), f"{run.late:.1%}", run.goodput, run.ms(0.5), run.ms(0.99), run.settled)
        for run in runs
    ]
    processes = [
        (run.sessions, ", ".join(f"{name} {share:.0%}" for name, share in sorted(run.processor.items())))
        for run in runs
    ]
    return f"{table(headings, rows)}\n\n{table(('sessions', 'share of a core'), processes)}"


def measures(runs: Sequence[LoadedRun]) -> list[Measure]:
    """The budgets: what no load may do, and what a load of `IN_TIME` sessions may cost."""
    found = [
        at_most(f"plans late at {run.sessions} sessions with a step a second", run.late, "of 1", LATE)
        for run in runs
        if run.sessions <= IN_TIME
    ]
    unexplained = sum(step.is_unexplained for run in runs for step in run.steps)
    return [
        *found,
        at_most("prefixes that changed under load without a reason", unexplained, "", UNEXPLAINED),
        at_most("dead letters under load", sum(run.dead for run in runs), "", DEAD_LETTERS),
    ]


async def _run(count: int) -> LoadedRun:
    async with installation() as (running, bus):
        before, began = _processor(running), time.monotonic()
        client = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.bench.load_client"),
            *(running.endpoint.url, running.endpoint.password, str(count), str(SECONDS)),
            stdout=asyncio.subprocess.PIPE,
        )
        of_client = psutil.Process(client.pid)
        reading = asyncio.create_task(client.communicate())
        taken = 0.0
        while not reading.done():
            await asyncio.wait({reading}, timeout=1.0)
            if client.returncode is None:
                taken = sum(of_client.cpu_times()[:2])
        after, seconds = _processor(running), time.monotonic() - began
        written, _ = await reading
        if client.returncode:
            raise RuntimeError("the process that plays the sessions failed; what it printed is above")
        ended = time.monotonic()
        await settle(bus)
        shares = {name: (after.get(name, 0.0) - value) / seconds for name, value in before.items()}
        steps = tuple(msgspec.json.decode(written, type=list[LoadedStep]))
        settled = time.monotonic() - ended
        return LoadedRun(count, steps, {**shares, "client": taken / seconds}, settled, await _dead(bus))


def _processor(running: Installation) -> dict[str, float]:
    """Seconds of a processor that each process has taken up to now."""
    broker = running.broker.process if running.broker else None
    pids = {name: status.pid for name, status in running.status.items() if status.pid}
    if broker is not None:
        pids["broker"] = broker.pid
    return {name: sum(psutil.Process(pid).cpu_times()[:2]) for name, pid in pids.items()}


async def _dead(bus: Bus) -> int:
    return await bus.messages(DEAD.name)
