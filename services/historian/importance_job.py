"""The job that judges compartments anew: one batch after the other, by a model. It can be cut off anywhere."""

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from schemas.events import Event, HistoryRequested
from schemas.subjects import Address
from services.domain.limits import Limits as PlanLimits
from services.domain.window import Learned
from services.historian.core import importance
from services.historian.core.limits import HistoryLimits
from services.historian.core.scoring_prompt import SYSTEM
from services.historian.core.state import HistorianSession
from services.historian.core.triggers import forced
from services.historian.jobs import HistoryJob
from services.historian.writers.model import attempted
from services.kit.jobs import Advance, Fail, Outcome
from services.kit.model import Budget, ModelFailed, ModelQuestion, Models

NO_MODEL = "no model is set, and only a model can judge history; name one in ANNALS_MODEL__CHAIN and order it again"
SHORT = "room is short, and history must be compressed first; what was judged stays; order the rest again later"
TOO_LONG = frozenset({"overflow", "window_too_small"})
"""Failures after which half as many compartments are asked for at once."""


class ImportanceJob:
    """Does one job that judges. No boundary moves, and no prompt changes before its next rebase."""

    def __init__(
        self,
        models: Models,
        budget_of: Callable[[Address], Budget],
        learned: Callable[[], Awaitable[Learned]],
        plan: PlanLimits,
        limits: HistoryLimits,
    ) -> None:
        self._models = models
        self._budget_of = budget_of
        self._learned = learned
        self._plan = plan
        self._limits = limits
        self._most = importance.BATCH

    async def perform(self, job: HistoryJob) -> Outcome[HistorianSession]:
        state, request = job.state, job.request
        if refused := await self._refused(state):
            return refused
        batch = importance.batch(request.run, state.history.sealed, state.judged, self._most)
        sheet = importance.sheet(request.run, batch)
        began = time.monotonic()
        try:
            answer = await self._models.ask(_question(sheet, job.address), budget=self._budget_of(job.address))
        except ModelFailed as error:
            return self._failed(request, error)
        seconds = time.monotonic() - began

        def published(now: HistorianSession) -> Sequence[Event]:
            if now.judged != state.judged:
                return ()
            attempts = attempted(request.run, answer.attempts)
            return [*attempts, *importance.published(now, request, sheet, answer.value, seconds)]

        return Advance(published)

    async def _refused(self, state: HistorianSession) -> Fail | None:
        """The failure by which the job cannot or may not go on; None: it may."""
        if not state.history.sealed:
            return Fail("no_eligible", "there is no compressed history that could be judged")
        if not self._models.names:
            return Fail("no_model", NO_MODEL)
        state = replace(state, learned=state.learned.with_shared(await self._learned()))
        return Fail("aborted", SHORT) if forced(state, self._plan, self._limits, now=datetime.now(UTC)) else None

    def _failed(self, request: HistoryRequested, error: ModelFailed) -> Outcome[HistorianSession]:
        """Go on with fewer compartments at once where that may help."""
        self._most //= 2
        attempts = attempted(request.run, error.attempts)
        if error.code in TOO_LONG and self._most:
            return Advance(lambda _: attempts)
        return Fail(error.code, error.detail, attempts)


def _question(sheet: importance.Sheet, address: Address) -> ModelQuestion[importance.Scores]:
    return ModelQuestion(
        system=SYSTEM,
        prompt=importance.prompt(sheet),
        shape=importance.Scores,
        check=lambda output: importance.check(output, sheet),
        address=address,
    )
