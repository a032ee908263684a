"""The jobs of the historian: which there are, how they end without success, and what is counted of them."""

from collections.abc import Callable, Sequence
from datetime import datetime

from schemas.events import Event, HistoryAdvanced, HistoryAttempted, HistoryFailed, HistoryRequested
from services.domain.jobs import Open
from services.historian.core.publish import abandoned, failure_facts
from services.historian.core.state import HistorianSession
from services.kit import metrics
from services.kit.jobs import Fail, Job, Worker
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
