"""A kind of jobs made up for tests: a session is a bakery, and a job bakes loaves one by one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from schemas.envelope import Actor, Envelope
from schemas.events import Event, SessionClosed, SessionRenamed
from schemas.subjects import Address
from services.domain import jobs as life
from services.domain.draft import Draft
from services.kit.aggregate import Aggregate
from services.kit.bus import Appender, Bus
from services.kit.clock import Clock
from services.kit.jobs import Advance, Complete, Fail, Job, JobRunner, Outcome
from services.kit.room import Kit
from services.settings import Settings
from tests.helpers.broker_world import HARBOUR, facts, kit_of, quick_settings, wrapped

ROOM = "bakery"
Order = SessionRenamed
"""Orders a job: its title is `<name> <loaves>`."""
Note = SessionClosed
"""What a job reports: its reason is `<name> loaf`, `done`, `abandoned` or `failed <failures> <moment>`."""


class Bakery(msgspec.Struct, frozen=True):
    """A bakery at one position of the log."""

    jobs: life.Jobs[Order] = life.Jobs()
    loaves: tuple[str, ...] = ()
    """What was baked: for each loaf the job that baked it."""


def name(order: Order) -> str:
    return order.title.split()[0]


def transition(event: Event) -> life.Transition[Order] | None:
    """The one place that knows which events are which transitions."""
    match event:
        case SessionRenamed():
            return life.Requested(name(event), event)
        case SessionClosed(reason=reason):
            job, step, *more = reason.split()
            match step:
                case "loaf":
                    return life.Advanced(job)
                case "done":
                    return life.JobDone(job)
                case "abandoned":
                    return life.Abandoned(job)
                case "failed":
                    return life.JobFailed(job, int(more[0]), datetime.fromisoformat(more[1]))
    return None


def evolve(bakery: Bakery, event: Event, _: Envelope) -> Bakery:
    made = transition(event)
    if made is None:
        return bakery
    loaves = (made.name,) if isinstance(made, life.Advanced) else ()
    return replace(bakery, jobs=life.evolve(bakery.jobs, made), loaves=bakery.loaves + loaves)


def remaining(event: Event, now: datetime) -> timedelta | None:
    made = transition(event)
    return life.remaining(made.retry_at, now) if isinstance(made, life.JobFailed) else None


BakeryJob = Job[Bakery, Order]
Baker = Callable[[BakeryJob], Awaitable[Outcome[Bakery]]]
"""Bakes one loaf, or does what a test wants."""


async def bake(job: BakeryJob) -> Outcome[Bakery]:
    """One loaf; with the last one the job is done."""
    wanted = int(job.request.title.split()[1])
    baked = job.state.loaves.count(job.name)

    def decide(now: Bakery) -> Sequence[Event]:
        if now.loaves.count(job.name) != baked:
            return ()
        return [Note(reason=f"{job.name} loaf"), *([Note(reason=f"{job.name} done")] if baked + 1 == wanted else [])]

    return Complete(decide) if baked + 1 == wanted else Advance(decide)


class Kind:
    """The jobs of a bakery. `baker` may be replaced."""

    def __init__(self) -> None:
        self.baker: Baker = bake
        self.bakers = 0
        """How many workers there were."""
        self.parts: list[str] = []
        """What was written, by which job."""

    def open(self, state: Bakery) -> life.Open[Order] | None:
        return state.jobs.open

    def worker(self, request: Order) -> "Kind":
        assert request.title
        self.bakers += 1
        return self

    async def perform(self, job: BakeryJob) -> Outcome[Bakery]:
        return await self.baker(job)

    def failed(self, state: Bakery, request: Order, end: Fail, *, now: datetime, jitter: float) -> Sequence[Event]:
        failure = life.failure(state.jobs, name(request), now=now, jitter=jitter)
        assert failure.retry_at is not None
        assert end.code
        return [Note(reason=f"{failure.name} failed {failure.failures} {failure.retry_at.isoformat()}")]

    def abandoned(self, request: Order, reason: str) -> Sequence[Event]:
        assert reason
        return [Note(reason=f"{name(request)} abandoned")]

    def published(self, job: BakeryJob, events: Sequence[Event]) -> None:
        self.parts += [job.name for _ in events]


class Room:
    """A bakery at work, with a clock that orders again what failed."""

    def __init__(self, kit: Kit, kind: Kind) -> None:
        self.aggregate = Aggregate.of(kit, evolve, Bakery(), guard="session", catches_up=True)
        self.jobs = JobRunner(kit, self.aggregate, kind, Order, durable=ROOM, at_once=2)
        self.clock = Clock(kit, [Note], remaining, self.order)

    async def order(self, address: Address) -> None:
        """Order two loaves, where a pause is over and no job is open."""

        async def decide(draft: Draft[Bakery]) -> None:
            jobs = draft.state.jobs
            if jobs.open is None and jobs.retry_at and not life.is_paused(jobs, datetime.now(UTC)):
                draft.record(Order(title=f"again{jobs.begun} 2"))

        await self.aggregate.handle(address, decide, cause="", at=datetime.now(UTC), actor=Actor("room", ROOM))


@asynccontextmanager
async def baking(
    bus: Bus, kind: Kind | None = None, settings: Settings | None = None, appender: Appender | None = None
) -> AsyncIterator[Room]:
    async with kit_of(ROOM, bus, settings or quick_settings()) as kit:
        room = Room(replace(kit, appender=appender) if appender else kit, kind or Kind())
        await room.jobs.open()
        await room.clock.open()
        yield room


async def order(bus: Bus, title: str, address: Address = HARBOUR) -> None:
    """Order a job; it is the first of its bakery."""
    await Appender(bus).append(wrapped([Order(title=title)], address=address), {})


async def notes(bus: Bus) -> list[str]:
    """What the jobs reported, without moments."""
    found = [event.reason for event in await facts(bus, HARBOUR) if isinstance(event, Note)]
    return [" ".join(reason.split()[:3]) for reason in found]


class Gate:
    """A baker that waits until it may go on."""

    def __init__(self, before: int = 0) -> None:
        """`before`: loaves that are baked before it waits."""
        self._left = before
        self.entered = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self, job: BakeryJob) -> Outcome[Bakery]:
        if self._left <= 0:
            self.entered.set()
            await self.go.wait()
        self._left -= 1
        return await bake(job)
