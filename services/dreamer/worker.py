"""The dreamer's wiring: orders and moments call for runs, and runs send the desk what their tasks would change."""

import os
from collections import deque
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schemas.envelope import Actor
from schemas.events import (
    DreamFinished,
    DreamOrdered,
    DreamRequested,
    DreamStarted,
    Event,
    FileTouched,
    KeyFileDismissed,
    KeyFileProposed,
    ProjectIdentified,
    QuestionAnswered,
    QuestionTaken,
    QuestionWithdrawn,
    SessionOpened,
    SettingsApplied,
    StepOpened,
    TaskAnswered,
    TaskAsked,
    TaskFinished,
    ToolRan,
    docs,
    memory,
    note,
    policy,
)
from schemas.subjects import Address
from services.domain.draft import Draft
from services.domain.dream_times import DreamTimes
from services.domain.guards import WRITTEN
from services.domain.outcome import Done
from services.domain.project_settings import with_own
from services.dreamer.core.found import TASKS
from services.dreamer.core.schedule import Timetable, due, next_due, timetable_of
from services.dreamer.core.state import AFTER_NOTES, CHANGES, NOUNS, Dreams, evolve
from services.dreamer.public_web import PublicWeb
from services.dreamer.questions import TaskQuestions
from services.dreamer.runs import DreamRuns
from services.dreamer.sweeps import Sweeps
from services.dreamer.watch import Look, Watch
from services.kit.aggregate import Aggregate
from services.kit.bus import Delivery
from services.kit.cache import Sessions
from services.kit.consumer import log_consumer
from services.kit.jobs import JobRunner
from services.kit.logs import logger
from services.kit.model import HarnessQuestions, Models
from services.kit.nouns import NounReader
from services.kit.room import Kit
from services.kit.settings_reader import SettingsReader
from services.settings.dream_tasks import check_zone

JOBS = "dreamer_runs"
"""The consumer of requested runs. The broker stores its name, which never changes."""
CALLING: tuple[type[Event], ...] = (DreamOrdered, DreamFinished)
"""The events that a project is looked at after."""
SYSTEM_ZONE = "/etc/localtime"
"""The file in which a system has its time zone."""


class Dreamer:
    """Works on what is remembered of a project, by orders, on a schedule, and while nobody works on it."""

    NAME: ClassVar[str] = "dreamer"
    GIVES_WAY: ClassVar[bool] = True
    READS: ClassVar[tuple[type[Event], ...]] = (
        ProjectIdentified,
        StepOpened,
        ToolRan,
        SessionOpened,
        FileTouched,
        SettingsApplied,
        KeyFileProposed,
        KeyFileDismissed,
        *docs.EVENTS,
        DreamOrdered,
        *(one for one in CHANGES if one not in (*memory.EVENTS, *note.EVENTS)),
        *memory.EVENTS,
        *note.EVENTS,
        *policy.EVENTS,
        QuestionTaken,
        QuestionAnswered,
        QuestionWithdrawn,
    )
    WRITES: ClassVar[tuple[type[Event], ...]] = (
        DreamRequested,
        DreamStarted,
        TaskAnswered,
        TaskAsked,
        TaskFinished,
        DreamFinished,
    )

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        settings = kit.settings.dream
        self._own = SettingsReader(kit)
        reader = NounReader(kit.reader, NOUNS, catches_up=True)
        sessions = Sessions(reader, evolve, Dreams(), kit.settings.loop.sessions)
        self._dreams = Aggregate(kit, sessions, guard=WRITTEN, catches_up=True)
        self._tasks = TASKS
        self._zone = ZoneInfo(settings.zone) if settings.zone else local_zone()
        self._times = DreamTimes(slots=settings.slots, zone=settings.zone)
        harness = HarnessQuestions(kit.bus, kit.reader, kit.room, wait=kit.settings.model.harness_wait)
        models = Models(kit.settings.model, harness=harness)
        kit.stack.push_async_callback(models.close)
        self._questions = TaskQuestions(kit, models, settings.questions)
        runs = DreamRuns(kit, self._dreams.newest, self._tasks, self._questions)
        self.jobs = JobRunner(kit, self._dreams, runs, DreamRequested, durable=JOBS, at_once=1)
        self._orders = log_consumer(kit, CALLING, self._work)
        quiet = timedelta(seconds=settings.quiet)
        self.watch = Watch(kit, self.look, quiet)
        sweeps = Sweeps(kit, self._dreams.newest, PublicWeb(settings.hosts), self._remembers)
        self.sweeping = Watch(kit, self._sweeper(sweeps), quiet)
        if settings.enabled and kit.settings.memory.enabled:
            await self.jobs.open()
            await self._orders.open()
            await self.watch.open()
            await self.sweeping.open()

    async def idle(self) -> bool:
        if not (self._kit.settings.dream.enabled and self._kit.settings.memory.enabled):
            return True
        return await self._orders.idle() and await self.jobs.idle()

    def health(self) -> dict[str, object]:
        return {"ok": True, "runs": self.jobs.in_hand, "projects": len(self.watch), "notes": len(self.sweeping)}

    async def look(self, project: str) -> None:
        """Request the run of a project that is due, or note when one will be."""
        address = Address(project)
        state = await self._dreams.newest(address)
        timetable = await self._timetable_of(project)

        def found(state: Dreams) -> DreamRequested | None:
            return due(state, timetable, datetime.now(UTC), self.watch.worked(project))

        async def decided(draft: Draft[Dreams]) -> None:
            request = found(draft.state)
            if request is not None:
                draft.record(request)

        request = found(state)
        if request is None:
            self.watch.at(project, next_due(state, timetable, self.watch.last_worked(project)))
            return
        actor = Actor("room", self._kit.room)
        await self._dreams.handle(address, decided, cause=request.run, at=datetime.now(UTC), actor=actor)

    async def _timetable_of(self, project: str) -> Timetable:
        """When the tasks of a project are run: never by themselves where it has no memory."""
        settings = self._kit.settings.dream
        times = with_own(self._times, await self._own.of(project))
        zone, apart = self._zone_of(project, times.zone), timedelta(hours=settings.apart)
        if not await self._remembers(project):
            return Timetable(dict.fromkeys(self._tasks, ""), zone, timedelta(0), apart)
        without = frozenset[str]() if self._questions.are_possible else AFTER_NOTES
        crons = {name: "" if name in without else task.CRON for name, task in self._tasks.items()}
        return timetable_of(times, zone, crons, timedelta(minutes=settings.idle_after), apart)

    def _zone_of(self, project: str, name: str) -> tzinfo:
        """The time zone of a project's slots. One that this machine does not know is that of the installation."""
        if name == self._times.zone:
            return self._zone
        try:
            check_zone(name)
        except ValueError as error:
            self._kit.log.warning("a project's time zone is not used", project=project, reason=str(error))
            return self._zone
        return ZoneInfo(name) if name else local_zone()

    async def _remembers(self, project: str) -> bool:
        """Whether a project has a memory."""
        return with_own(self._kit.settings.memory, await self._own.of(project)).enabled

    def _sweeper(self, sweeps: Sweeps) -> Look:
        """The function that looks at the notes of a project, and reports when to look again."""

        async def sweep(project: str) -> None:
            self.sweeping.at(project, await sweeps.sweep(project))

        return sweep

    async def _work(self, address: Address, queue: "deque[Delivery]") -> None:
        deliveries = [queue.popleft() for _ in range(len(queue))]
        try:
            await self.look(address.project)
        except Exception as error:  # noqa: BLE001 - it concerns this project only
            for delivery in deliveries:
                await self._orders.broken(delivery, error)
            return
        for delivery in deliveries:
            await self._orders.settle(delivery, Done())


def local_zone() -> tzinfo:
    """The time zone of this machine: the one that the variable `TZ` names, by a name or a file, or else the system's.

    One that cannot be read is reported, and counts as UTC; a system without one is in UTC.
    """
    named = os.environ.get("TZ", "").removeprefix(":")
    if not named and not Path(SYSTEM_ZONE).exists():
        return UTC
    try:
        if named and not Path(named).is_absolute():
            return ZoneInfo(named)
        with Path(named or SYSTEM_ZONE).open("rb") as file:
            return ZoneInfo.from_file(file, key="localtime")
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        remedy = "set ANNALS_DREAM__ZONE, such as to `Europe/Berlin`"
        logger().warning(
            "the time zone of this machine is not known: slots are in UTC", reason=str(error), remedy=remedy
        )
        return UTC
