"""Jobs: work that one event requests and that goes on, whatever process dies, until an event ends it.

A durable consumer hands each request to one process. That process reads the job's state from the head of the log,
lets a worker do the next part, and appends what came of it behind the state that it was decided on, or not at all. A
request that is delivered again, since a process was killed, continues the same job. What is due again after a
failure is the business of `kit.clock`.
"""

import random
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

import msgspec

from schemas.envelope import Actor
from schemas.events import Event
from schemas.subjects import Address
from services.domain import jobs
from services.domain.draft import Draft
from services.domain.outcome import Done, Later
from services.kit.aggregate import Aggregate
from services.kit.bus import Delivery, Unreachable
from services.kit.consumer import fact_of, log_consumer
from services.kit.room import Kit

S = TypeVar("S")
R = TypeVar("R", bound=Event)

CRASHED = "crashed"
"""The code of a job whose worker broke. It counts as a failure: what breaks once will break again."""


class Fail(msgspec.Struct, frozen=True):
    """The job ends without success."""

    code: str
    detail: str
    attempts: Sequence[Event] = ()
    """The facts about its last attempts that go into the log."""


class Advance(msgspec.Struct, Generic[S], frozen=True):
    """A part is done, and the job goes on unless its events end it."""

    decide: Callable[[S], Sequence[Event] | Fail] = lambda _: ()
    """The decision on the part, made on the state at the head of the log: the events to publish; none: others were
    faster."""


class Complete(msgspec.Struct, Generic[S], frozen=True):
    """The end of a job: nothing is left to do, and these events record that."""

    decide: Callable[[S], Sequence[Event] | Fail]


class Abandon(msgspec.Struct, frozen=True):
    """The job is given up, and nothing of it holds."""

    reason: str


class Snooze(msgspec.Struct, frozen=True):
    """The job cannot go on now: take it up again after so many seconds."""

    seconds: float


Outcome = Advance[S] | Complete[S] | Fail | Abandon | Snooze
"""All that a worker may return."""


class Job(msgspec.Struct, Generic[S, R], frozen=True):
    """An open job in its state at the head of the log."""

    address: Address
    state: S
    name: str
    request: R
    parts: int = 0


class Worker(Protocol[S, R]):
    """Does a job part by part. It lives as long as one process works on the job."""

    async def perform(self, job: Job[S, R]) -> Outcome[S]:
        """Do the next part. What it raises is a failure with the code `crashed`; `Unreachable` is a pause."""


class JobKind(Protocol[S, R]):
    """One kind of job, as a room defines it: its state, its events, and who does the work."""

    def open(self, state: S) -> jobs.Open[R] | None:
        """The job that should go on; none: it has ended, or nobody wants it any more."""

    def worker(self, request: R) -> Worker[S, R]: ...

    def failed(self, state: S, request: R, end: Fail, *, now: datetime, jitter: float) -> Sequence[Event]:
        """The events of a job that ends without success."""

    def abandoned(self, request: R, reason: str) -> Sequence[Event]:
        """The events of a job that is given up."""

    def published(self, job: Job[S, R], events: Sequence[Event]) -> None:
        """Hear of what was written, to count and to log it."""


class JobRunner(Generic[S, R]):
    """The jobs of one kind, of all addresses."""

    def __init__(
        self, kit: Kit, aggregate: Aggregate[S], kind: JobKind[S, R], request: type[R], *, durable: str, at_once: int
    ) -> None:
        """`at_once`: jobs that one process works on. `durable`: the name of the consumer, which never changes."""
        self._kit = kit
        self._aggregate = aggregate
        self._kind = kind
        self._request = request
        self._consumer = log_consumer(kit, (request,), self._work, durable=durable, credit=at_once, pending=-1)

    async def open(self) -> None:
        await self._consumer.open()

    async def idle(self) -> bool:
        """Whether no job waits and none is in hand."""
        return await self._consumer.idle()

    @property
    def in_hand(self) -> int:
        return self._consumer.in_hand

    async def run(self, address: Address, name: str) -> Snooze | None:
        """Go on with the job of this name, whoever else does so, until it ends, snoozes or the room closes."""
        worker = None
        while not self._consumer.closing and (job := await self.find(address, name)) is not None:
            worker = worker or self._kind.worker(job.request)
            outcome = await self._perform(worker, job)
            if isinstance(outcome, Snooze):
                return outcome
            await self._conclude(job, outcome)
        return None

    async def find(self, address: Address, name: str = "") -> Job[S, R] | None:
        """The open job at the head of the log, if it has this name."""
        state = await self._aggregate.newest(address)
        found = self._kind.open(state)
        if found is None or found.name != (name or found.name):
            return None
        return Job(address, state, found.name, found.request, found.parts)

    async def _perform(self, worker: Worker[S, R], job: Job[S, R]) -> Outcome[S]:
        try:
            return await worker.perform(job)
        except Unreachable:
            raise
        except Exception as error:
            self._kit.log.exception("a job broke", session=job.address.session, job=job.name)
            return Fail(CRASHED, f"{type(error).__name__}: {error}")

    async def _conclude(self, job: Job[S, R], outcome: Advance[S] | Complete[S] | Fail | Abandon) -> None:
        """Write what a part came to."""
        match outcome:
            case Advance(decide=decide):
                await self._publish(job, decide)
            case Complete(decide=decide):
                await self._publish(job, decide)
                if await self.find(job.address, job.name) is not None:
                    await self.fail(job, Fail(CRASHED, "its worker calls it complete, and its events do not end it"))
            case Abandon(reason=reason):
                await self._publish(job, lambda _: self._kind.abandoned(job.request, reason))
            case Fail():
                await self.fail(job, outcome)

    async def fail(self, job: Job[S, R], end: Fail) -> None:
        """End a job without success."""
        jitter = random.uniform(1 - jobs.JITTER, 1 + jobs.JITTER)  # noqa: S311 - it spreads retries, and hides nothing

        def failed(now: S) -> Sequence[Event]:
            at = datetime.now(UTC)
            return [*end.attempts, *self._kind.failed(now, job.request, end, now=at, jitter=jitter)]

        if await self._publish(job, failed):
            self._kit.log.warning(
                "a job failed", session=job.address.session, job=job.name, code=end.code, detail=end.detail
            )

    async def _publish(self, job: Job[S, R], decide: Callable[[S], Sequence[Event] | Fail]) -> Sequence[Event]:
        """Write what is decided at the head of the log while the job is open there; else nothing."""

        async def decided(draft: Draft[S]) -> Fail | None:
            found = self._kind.open(draft.state)
            if found is None or found.name != job.name:
                return None
            made = decide(draft.state)
            if isinstance(made, Fail):
                return made
            draft.record(*made)
            return None

        handled = await self._aggregate.handle(
            job.address, decided, cause=job.name, at=datetime.now(UTC), actor=Actor("room", self._kit.room)
        )
        if handled.result is not None:
            await self.fail(job, handled.result)
        self._kind.published(job, handled.events)
        return handled.events

    async def _work(self, address: Address, queue: "deque[Delivery]") -> None:
        delivery = queue.popleft()
        try:
            snooze = await self._take(address, delivery)
        except Exception as error:  # noqa: BLE001 - the broker was away: the job goes on when it is delivered again
            await self._consumer.broken(delivery, error)
            return
        if snooze is not None:
            self._consumer.snooze(delivery, snooze.seconds)
        elif self._consumer.closing:
            await self._consumer.settle(delivery, Later(0))
        else:
            await self._consumer.settle(delivery, Done())

    async def _take(self, address: Address, delivery: Delivery) -> Snooze | None:
        """Take a job up. One that was begun too often without a further part ends: no job hangs for ever."""
        _, event = fact_of(delivery)
        job = await self.find(address) if isinstance(event, self._request) else None
        if job is None or job.request != event:
            return None
        most = self._kit.settings.loop.max_deliver
        if jobs.is_stuck(job.parts, delivery.metadata.num_delivered or 1, most):
            await self.fail(job, Fail(CRASHED, "it was begun too often without coming to an end"))
            return None
        return await self.run(address, job.name)
