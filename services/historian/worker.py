"""The historian's wiring: what calls for a job, the jobs themselves, and the clock that has failed ones done again."""

from collections.abc import Callable
from typing import ClassVar

import msgspec

from schemas.events import (
    DropRequested,
    Event,
    HistoryFailed,
    HistoryOrdered,
    HistoryRequested,
    LimitLearned,
    LimitWithdrawn,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    OverflowDetected,
    PartRecorded,
    PartRemoved,
    QuestionAnswered,
    QuestionTaken,
    QuestionWithdrawn,
    SessionForked,
    SessionIdled,
    SessionOpened,
    StepOpened,
    TagAssigned,
    TodoCaptured,
    ToolRan,
    UsageSampled,
)
from schemas.subjects import Address
from services.domain.compartments import AHEAD
from services.domain.registry import events_made_in
from services.historian import core, writers
from services.historian.core.context_pressure import HistoryLimits
from services.historian.core.state import RESCORE, HistorianSession, evolve, pause
from services.historian.jobs import CompressionJob, HistoryJobs, HistoryWorker, ImportanceJob
from services.historian.triggers import Triggers
from services.historian.writers.base import RuleWriter, Writer
from services.historian.writers.model import ModelWriter
from services.kit.aggregate import Aggregate
from services.kit.clock import Clock
from services.kit.contents import Contents
from services.kit.jobs import JobRunner
from services.kit.model import Budget, HarnessQuestions, Models
from services.kit.nouns import SettingsReader
from services.kit.room import Kit
from services.kit.spending import Spending

JOBS = "historian_runs"
"""The consumer of requested jobs. Its name is stored on the broker, and never changes."""
GUARD = "history"
"""Every decision writes an event of this noun, so that whoever was faster has moved it."""


class Historian:
    """Compresses what is old in a session, before room is short, and never in its way."""

    NAME: ClassVar[str] = "historian"
    GIVES_WAY: ClassVar[bool] = True
    READS: ClassVar[tuple[type[Event], ...]] = (
        SessionOpened,
        SessionForked,
        SessionIdled,
        MessageRecorded,
        MessageListed,
        MessageRemoved,
        PartRecorded,
        PartRemoved,
        ToolRan,
        TodoCaptured,
        TagAssigned,
        UsageSampled,
        OverflowDetected,
        LimitLearned,
        LimitWithdrawn,
        StepOpened,
        DropRequested,
        HistoryOrdered,
        QuestionTaken,
        QuestionAnswered,
        QuestionWithdrawn,
    )
    WRITES: ClassVar[tuple[type[Event], ...]] = events_made_in(core, writers)

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        settings = kit.settings
        self._plan = settings.plan
        harness = HarnessQuestions(kit.bus, kit.reader, kit.room, wait=settings.model.harness_wait)
        self._models = Models(settings.model, harness=harness)
        self._limits = HistoryLimits(**msgspec.structs.asdict(settings.history), models=bool(self._models.names))
        kit.stack.push_async_callback(self._models.close)
        self._sessions = Aggregate.of(kit, evolve, HistorianSession(), guard=GUARD, catches_up=True)
        self._contents = Contents(kit.bus, kit.reader)
        self._writer, self._rules = _writer(self._models, self._budget_of), RuleWriter()
        self._triggers = Triggers(kit, self._sessions, self._plan, self._limits, SettingsReader(kit))
        self.jobs = JobRunner(
            kit,
            self._sessions,
            HistoryJobs(kit, self._worker),
            HistoryRequested,
            durable=JOBS,
            at_once=settings.history.at_once,
        )
        self._clock = Clock(kit, [HistoryFailed], pause, self._triggers.look)
        await self._triggers.open()
        await self.jobs.open()
        await self._clock.open()

    async def idle(self) -> bool:
        return await self._triggers.idle() and await self.jobs.idle() and await self._clock.idle()

    def health(self) -> dict[str, object]:
        return {"ok": True, "runs": self.jobs.in_hand, "sessions": len(self._sessions)}

    def _worker(self, request: HistoryRequested) -> HistoryWorker:
        """The worker of a job."""
        if request.reason == RESCORE:
            return ImportanceJob(self._models, self._budget_of, self._triggers.learned, self._plan, self._limits)
        writer = self._rules if request.reason == AHEAD else self._writer
        return CompressionJob(writer, self._contents, self._kit.log)

    def _budget_of(self, address: Address) -> Budget:
        """The budget from which models are paid."""
        room = self._kit.room
        return Spending(self._kit.bus, address.project, room).budget(room, address.session)


def _writer(models: Models, budget_of: Callable[[Address], Budget]) -> Writer:
    """The models of the settings, or the rules where there is none."""
    return ModelWriter(models, budget_of, RuleWriter()) if models.names else RuleWriter()
