"""The jobs of the historian: what they have in common, compression, and the judgement of importance."""

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from schemas.events import Event, HistoryAdvanced, HistoryAttempted, HistoryFailed, HistoryRequested
from schemas.subjects import Address
from services.domain.jobs import Open
from services.domain.limits import Limits as PlanLimits
from services.domain.transcript.reader import Chunk, page, read, whole
from services.domain.window import Learned
from services.historian.core import importance
from services.historian.core.context_pressure import HistoryLimits
from services.historian.core.importance import SYSTEM
from services.historian.core.publish import (
    abandoned,
    closing,
    failure_facts,
    fingerprint,
    is_another_generation,
    published,
    unread,
)
from services.historian.core.state import REBUILD, HistorianSession
from services.historian.core.triggers import forced
from services.historian.writers.base import Unwritten, Writer, WriterInput, WriterOutput
from services.historian.writers.model import attempted
from services.kit import metrics
from services.kit.contents import Contents
from services.kit.jobs import CRASHED, Advance, Complete, Fail, Job, Outcome, Worker
from services.kit.logs import Logger
from services.kit.model import Budget, ModelFailed, ModelQuestion, Models
from services.kit.room import Kit

HistoryJob = Job[HistorianSession, HistoryRequested]
HistoryWorker = Worker[HistorianSession, HistoryRequested]


class HistoryJobs:
    """The kind of jobs that compress a session's history or judge it anew."""

    def __init__(self, kit: Kit, worker: Callable[[HistoryRequested], HistoryWorker]) -> None:
        self._kit = kit
        self._worker = worker

    def open(self, state: HistorianSession) -> Open[HistoryRequested] | None:
        return None if state.is_given_up else state.jobs.open

    def worker(self, request: HistoryRequested) -> HistoryWorker:
        return self._worker(request)

    def failed(
        self, state: HistorianSession, request: HistoryRequested, end: Fail, *, now: datetime, jitter: float
    ) -> Sequence[Event]:
        return failure_facts(state, request, end.code, end.detail, now=now, jitter=jitter)

    def abandoned(self, request: HistoryRequested, reason: str) -> Sequence[Event]:
        return [abandoned(request, reason)]

    def published(self, job: HistoryJob, events: Sequence[Event]) -> None:
        for event in events:
            match event:
                case HistoryAdvanced():
                    metrics.HISTORY.labels("compressed").inc()
                    self._log(job, event)
                case HistoryFailed(code=code):
                    metrics.HISTORY.labels(code).inc()
                case HistoryAttempted():
                    self._count(event)

    def _log(self, job: HistoryJob, event: HistoryAdvanced) -> None:
        self._kit.log.info(
            "judged" if event.judged else "compressed",
            session=job.address.session,
            job=event.run,
            messages=f"{event.first}-{event.last}",
            compartments=len(event.judged),
            tokens=f"{event.tokens_in} -> {event.tokens_out}",
            left=event.left,
            ended=event.ended,
        )

    def _count(self, event: HistoryAttempted) -> None:
        room, model = self._kit.room, event.model
        metrics.MODEL_TOKENS.labels(room, model, "in").inc(event.tokens_in)
        metrics.MODEL_TOKENS.labels(room, model, "out").inc(event.tokens_out)
        metrics.MODEL_USD.labels(room, model).inc(event.usd)
        metrics.MODEL_SECONDS.labels(room, model, event.outcome).observe(event.seconds)


CONTEXT = 6
"""Compartments in front of a chunk that a writer is shown."""
SMALLER = 2
"""The divisor of the budget with which a chunk is read anew that was too much for a writer."""
MIN_BUDGET = 2_000
"""The least budget, in tokens, with which a chunk is read anew."""
TOO_MUCH = frozenset({"overflow", "window_too_small"})
TOO_HARD = frozenset({"invalid_output"})
"""A rebuild does not give up what it has made because one chunk is too hard as a whole."""


class CompressionJob:
    """Does one job that compresses. It can be cut anywhere: what is published of it stays."""

    def __init__(self, writer: Writer, contents: Contents, log: Logger) -> None:
        self._writer = writer
        self._contents = contents
        self._log = log
        self._budget = writer.budget

    async def perform(self, job: HistoryJob) -> Outcome[HistorianSession]:
        state, request = job.state, job.request
        chunk = await self._chunk(job.address, state, request)
        if not chunk.messages:
            return _end(state, request)
        known = fingerprint(state.conversation, chunk.first, chunk.last)
        before = [one for one in state.history.sealed if one.last < chunk.first]
        reading = WriterInput(job.address, request, chunk, tuple(before[-CONTEXT:]), state.directory)
        try:
            output = await self._writer.write(reading)
        except Unwritten as error:
            if error.code == CRASHED:
                self._log.exception("a writer broke", session=job.address.session, job=job.name)
            return self._unwritten(request, error)
        return Advance(lambda now: _published(now, job, chunk, known, output))

    def _unwritten(self, request: HistoryRequested, error: Unwritten) -> Outcome[HistorianSession]:
        """Go on with less at once where that may help."""
        self._budget //= SMALLER
        again = TOO_MUCH | TOO_HARD if request.reason == REBUILD else TOO_MUCH
        if error.code in again and self._budget >= MIN_BUDGET:
            return Advance(lambda _: error.attempts)
        return Fail(error.code, error.detail, error.attempts)

    async def _chunk(self, address: Address, state: HistorianSession, request: HistoryRequested) -> Chunk:
        """The next part of the range, without a call at its end whose result comes behind the range.

        A range whose compartments are made anew ends where the last of them does, whatever follows it.
        """
        left = unread(state, request, max(state.reached, request.first - 1))
        ends = left if is_another_generation(state, request) else whole(left, state.conversation)
        messages = page(ends, state.conversation)
        recorded = self._contents.recorded(address, state.conversation, messages, is_subagent=state.is_subagent)
        return read(await recorded, self._budget)


def _end(state: HistorianSession, request: HistoryRequested) -> Outcome[HistorianSession]:
    """The end of a job of whose range nothing is left: its last facts were cut off, or there never was anything."""
    if state.reached < request.first:
        return Fail("no_eligible", "there is nothing in this range that could be compressed")
    if is_another_generation(state, request) and unread(state, request, state.reached):
        return Fail("no_progress", f"nothing can be read behind {state.reached}, and the range ends at {request.last}")
    return Complete(lambda now: closing(now, request))


def _published(
    now: HistorianSession, job: HistoryJob, chunk: Chunk, known: str, output: WriterOutput
) -> Sequence[Event] | Fail:
    """The facts of a summary, if its messages are as they were read and nobody else has published them."""
    if now.reached != job.state.reached:
        return ()
    if fingerprint(now.conversation, chunk.first, chunk.last) != known:
        return Fail("stale_fingerprint", "messages of the range were changed meanwhile", output.attempts)
    return [*published(now, job.request, job.address, chunk, output.written), *output.attempts]


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
