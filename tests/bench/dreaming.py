"""A night of the dreamer over 2,000 memories: how long it takes, what it needs, and what a session notices of it.

Rules alone, without a model, on a repository that has the files of a made project. A run sends 200 commands for each
task at most, so that several runs follow each other; the longest of them counts.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil

from schemas.commands import Answer, Command, DreamOrder, PolicySet
from schemas.envelope import Actor, Envelope
from schemas.events import DreamFinished, Event, MemoryPinned, MemoryVerified, MemoryWritten, PlanRebased, TaskFinished
from schemas.subjects import Address
from services.domain.envelopes import envelopes
from services.domain.limits import History
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Appender, Bus, LogReader
from services.kit.commands import send
from services.kit.project_name import ROOT
from services.memory.entry import Memory
from services.settings import Logs, Settings
from tests.bench.asked import WARM_UP, ShortSession
from tests.bench.measure import Measure, at_most, median_ms, ratio_at_most
from tests.bench.results import table
from tests.dreamer.made_project import MadeProject, made_project
from tests.dreamer.wordings import SECOND
from tests.helpers.installation import connect, settle
from tests.helpers.repositories import Checkout

NIGHTS, QUIET, IDLE = 3, 50, 30.0
"""Runs, steps before and after each of them, and seconds in which nothing happens."""
LONGEST, LARGEST, LEAST_IDLE, STEP = 60.0, 300.0, 0.5, 1.1
"""Seconds, MiB, percent of a core, and how many times as long as undisturbed a step may take."""
BATCH = 500
MEBIBYTE = 1024 * 1024
PERSON, AGENT = Actor("person", "ada"), Actor("agent", "build")
AS_ADA = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


async def measure() -> list[Measure]:
    with TemporaryDirectory(prefix="annals-bench-", ignore_cleanup_errors=True) as folder:
        made, tree = made_project(1, SECOND, "second"), Path(folder, "tree")
        project = Address(_repository(tree, made))
        settings = Settings(data=Path(folder, "data"), logs=Logs(level="error"), history=History(enabled=False))
        async with Installation(settings).running() as running:
            bus = await connect(running)
            await _fill(bus, project, made)
            nights = DreamNights(bus, project, tree, running.status["dreamer"].pid)
            measures = await nights.measure()
            await bus.close()
    return measures


class DreamNights:
    """Runs of the dreamer, each behind steps of a session that nothing disturbs, and next to more of them."""

    def __init__(self, bus: Bus, project: Address, tree: Path, pid: int) -> None:
        self._bus = bus
        self._project = project
        self._tree = tree
        self._pid = pid
        self._worked = ShortSession(bus, Address(project.project, "worked"))
        self._finished = asyncio.Event()
        self._quiet: list[float] = []
        self._busy: list[float] = []
        self._seconds: list[float] = []

    async def measure(self) -> list[Measure]:
        await self._bus.follow(self._project.log(DreamFinished.TYPE), lambda _: self._finished.set())
        assert (await self._send(PolicySet("dreamer", "applied"))).ok
        await self._worked.steps(QUIET)
        for _ in range(NIGHTS):
            self._quiet += await self._worked.steps(QUIET)
            await self._night()
            self._quiet += await self._worked.steps(QUIET)
        rebased = await self._rebases()
        await self._worked.outbox.close()
        _print(await self._ended())
        idle = await self._idle()
        return [
            at_most("a night over 2,000 memories, without a model", max(self._seconds), "s", LONGEST),
            at_most("... memory of the dreamer, at most", _peak(self._pid), "MiB", LARGEST),
            ratio_at_most("... a step next to it, p50", median_ms(self._busy), "ms", STEP, median_ms(self._quiet)),
            at_most("... rebases of that session that did not pay by themselves", rebased, "rebases", 0.0),
            at_most("the dreamer while nothing happens, of a core", idle, "%", LEAST_IDLE),
        ]

    async def _night(self) -> None:
        """A run, and steps until it has ended."""
        self._finished.clear()
        began, busy = time.perf_counter(), list[float]()
        assert (await self._send(DreamOrder(directory=str(self._tree)))).ok
        ended = asyncio.create_task(self._finished.wait())
        ended.add_done_callback(lambda _: self._seconds.append(time.perf_counter() - began))
        while not ended.done():
            busy.append(await self._worked.step())
        self._busy += busy[WARM_UP:]

    async def _idle(self) -> float:
        """Percent of a core that the dreamer takes where nothing is left to do."""
        await settle(self._bus)
        before = _worked(self._pid)
        await asyncio.sleep(IDLE)
        return 100 * (_worked(self._pid) - before) / IDLE

    async def _send(self, command: Command) -> Answer:
        return await send(self._bus, self._project, command, name=f"bench/{time.monotonic_ns()}", actor=PERSON)

    async def _rebases(self) -> int:
        """How many there were for another cause than that they pay, which a session that grows has anyway."""
        subject = Address(self._project.project, "worked").log(PlanRebased.TYPE)
        found = [one.event async for one in LogReader(self._bus).after(0, subject)]
        return sum(isinstance(one, PlanRebased) and one.causes != ["cost"] for one in found)

    async def _ended(self) -> list[TaskFinished]:
        found = LogReader(self._bus).after(0, self._project.log(TaskFinished.TYPE))
        return [one.event async for one in found if isinstance(one.event, TaskFinished)]


def _repository(folder: Path, made: MadeProject) -> str:
    """A repository with the files of a made project, of which some were moved; the name of its project."""
    repository = Checkout(folder)
    old = {new: old for old, new in made.tree.moves.items()}
    for path, text in made.tree.files.items():
        place = folder / old.get(path, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text or f"{path}\n")
    _commit(repository, "Begin.")
    for new, path in old.items():
        (folder / new).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).rename(folder / new)
    _commit(repository, "Move files.")
    return f"{ROOT}{repository.git('rev-list', '--max-parents=0', 'HEAD')}"


def _commit(repository: Checkout, message: str) -> None:
    repository.git("add", "--all")
    repository.git(*AS_ADA, "commit", "--quiet", "--message", message)


async def _fill(bus: Bus, project: Address, made: MadeProject) -> None:
    """Have the log remember all that the book of a made project does."""
    memories = sorted(made.book.memories.values(), key=lambda one: one.created)
    found = [one for memory in memories for one in _facts(project, memory)]
    appender = Appender(bus)
    for start in range(0, len(found), BATCH):
        await appender.append(found[start : start + BATCH], {})


def _facts(project: Address, memory: Memory) -> Sequence[Envelope]:
    events: list[Event] = [MemoryWritten(memory.id, memory.category, memory.text, trust=memory.trust, origin="s")]
    if memory.is_pinned:
        events.append(MemoryPinned(memory=memory.id))
    if memory.verification != "unverified":
        events.append(MemoryVerified(memory=memory.id, verification=memory.verification))
    envelope = envelopes(events, project, {}, at=memory.created, actor=AGENT, cause=f"w{memory.id}")
    return [msgspec.structs.replace(one, id=f"{memory.id}.{number}") for number, one in enumerate(envelope)]


def _worked(pid: int) -> float:
    """Seconds in which a process had the processor."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _peak(pid: int) -> float:
    """The most memory that a process has had, where the system reports it; else what it has now."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float(psutil.Process(pid).memory_info().rss) / MEBIBYTE
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def _print(ended: Sequence[TaskFinished]) -> None:
    headings = ("run", "task", "outcome", "to do", "left", "applied", "refused", "s")
    rows = [
        (one.run, one.task, one.outcome, one.backlog, one.backlog_after, one.applied, one.refused, one.seconds)
        for one in ended
    ]
    sys.stdout.write(f"\n{table(headings, rows)}\n")
