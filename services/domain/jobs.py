"""The life of a job: work that one event requests and another one ends, over crashes. Pure: no clock, no I/O.

An aggregate has at most one open job. Which events of a room are which transitions is declared by that room, in one
place; all else that is known of a job follows from the log.
"""

from datetime import datetime, timedelta
from typing import Generic, TypeVar

import msgspec

R = TypeVar("R")
"""The event that requests a job."""

FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(minutes=30)
JITTER = 0.2
"""A pause is shorter or longer by this share of it at most, so that not all try again at once."""


class Requested(msgspec.Struct, Generic[R], frozen=True):
    """A job is open from here on."""

    name: str
    request: R


class Attempted(msgspec.Struct, frozen=True):
    """The cost of an attempt was recorded. The job stays as it is."""

    name: str


class Advanced(msgspec.Struct, frozen=True):
    """A part of the job was published, and the rest of it is still to be done."""

    name: str


class JobDone(msgspec.Struct, frozen=True):
    """The job has succeeded."""

    name: str
    clears: bool = True
    """Whether its success ends the pause after earlier failures. It does not where it is of another kind than they."""


class JobFailed(msgspec.Struct, frozen=True):
    """The job has ended without success."""

    name: str
    failures: int
    """Jobs of this aggregate that have failed in a row, with this one."""
    retry_at: datetime | None
    """The moment before which the aggregate should not try again; none: it may do so at once."""


class Abandoned(msgspec.Struct, frozen=True):
    """The job was given up, and its earlier result stays in force."""

    name: str


Transition = Requested[R] | Attempted | Advanced | JobDone | JobFailed | Abandoned


class Open(msgspec.Struct, Generic[R], frozen=True):
    """A job that was requested and has not ended."""

    name: str
    request: R
    parts: int = 0
    """The number of its parts that were published."""


class Jobs(msgspec.Struct, Generic[R], frozen=True):
    """The jobs of one aggregate at one position of the log."""

    open: Open[R] | None = None
    begun: int = 0
    """The number of jobs that there were, with the open one."""
    failures: int = 0
    """The number of jobs in a row that failed."""
    retry_at: datetime | None = None
    """The moment at which the pause after the last failure ends."""


def evolve(jobs: Jobs[R], transition: Transition[R]) -> Jobs[R]:
    """The jobs behind a transition. One of a job that is not open any more changes nothing."""
    if isinstance(transition, Requested):
        opened = Open(transition.name, transition.request)
        return msgspec.structs.replace(jobs, open=opened, begun=jobs.begun + 1)
    job = jobs.open
    if job is None or job.name != transition.name:
        return jobs
    match transition:
        case Advanced():
            return msgspec.structs.replace(jobs, open=msgspec.structs.replace(job, parts=job.parts + 1))
        case JobDone(clears=True) | Abandoned():
            return msgspec.structs.replace(jobs, open=None, failures=0, retry_at=None)
        case JobDone():
            return closed(jobs)
        case JobFailed(failures=failures, retry_at=retry_at):
            return msgspec.structs.replace(jobs, open=None, failures=failures, retry_at=retry_at)
        case _:
            return jobs


def closed(jobs: Jobs[R]) -> Jobs[R]:
    """The same without an open job."""
    return msgspec.structs.replace(jobs, open=None)


def remaining(retry_at: datetime | None, now: datetime) -> timedelta:
    """The rest of a pause at this moment; zero: it is over, or there is none.

    No pause is longer than the longest one: a later end was written by a clock that ran ahead, and holds nothing up.
    """
    if retry_at is None or not now < retry_at <= now + LONGEST_PAUSE * (1 + JITTER):
        return timedelta(0)
    return retry_at - now


def is_paused(jobs: Jobs[R], now: datetime) -> bool:
    """Whether the pause after a failure lasts at this moment."""
    return remaining(jobs.retry_at, now) > timedelta(0)


def failure(jobs: Jobs[R], name: str, *, now: datetime, jitter: float) -> JobFailed:
    """A failure that counts: the pause doubles with each one in a row. `jitter`: the factor of the pause, about 1."""
    failures = jobs.failures + 1
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures - 1, 16)) * jitter
    return JobFailed(name, failures, now + pause)


def is_stuck(parts: int, deliveries: int, most: int) -> bool:
    """Whether a job was begun by so many deliveries that it gets nowhere: each published part allows for one more."""
    return deliveries > most + parts
