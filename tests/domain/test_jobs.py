"""The life of a job, by transitions alone."""

from datetime import UTC, datetime, timedelta
from functools import reduce

import pytest

from services.domain.jobs import (
    JITTER,
    LONGEST_PAUSE,
    Abandoned,
    Advanced,
    Attempted,
    JobDone,
    JobFailed,
    Jobs,
    Open,
    Requested,
    Transition,
    evolve,
    failure,
    is_paused,
    is_stuck,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIRST = Requested("first", "a request")


def after(*transitions: Transition[str]) -> Jobs[str]:
    start: Jobs[str] = Jobs()
    return reduce(evolve, transitions, start)


def test_a_job_is_open_from_its_request_on_and_counts_its_parts() -> None:
    assert Jobs(Open("first", "a request"), begun=1) == after(FIRST)
    assert Jobs(Open("first", "a request", parts=2), begun=1) == after(
        FIRST, Attempted("first"), Advanced("first"), Advanced("first")
    )


@pytest.mark.parametrize("end", [JobDone("first"), Abandoned("first")])
def test_an_end_closes_the_job_and_what_failed_before_it_is_over(end: JobDone | Abandoned) -> None:
    failed = JobFailed("zeroth", 3, NOW)
    assert Jobs(begun=2) == after(Requested("zeroth", "x"), failed, FIRST, end)


def test_the_end_of_a_job_of_another_kind_leaves_the_pause() -> None:
    failed = JobFailed("zeroth", 3, NOW)
    assert Jobs(begun=2, failures=3, retry_at=NOW) == after(
        Requested("zeroth", "x"), failed, FIRST, JobDone("first", clears=False)
    )


@pytest.mark.parametrize(
    "late", [Advanced("zeroth"), JobDone("zeroth"), Abandoned("zeroth"), JobFailed("zeroth", 1, NOW)]
)
def test_what_is_reported_of_another_job_than_the_open_one_changes_nothing(late: Transition[str]) -> None:
    assert after(FIRST) == after(FIRST, late)
    assert Jobs() == after(late)


def test_pauses_double_up_to_the_longest() -> None:
    jobs: Jobs[str] = after(FIRST)
    pauses = []
    for _ in range(40):
        failed = failure(jobs, "first", now=NOW, jitter=1.0)
        assert failed.retry_at is not None
        pauses.append((failed.retry_at - NOW) / timedelta(minutes=1))
        jobs = evolve(evolve(jobs, failed), FIRST)
    assert [1, 2, 4, 8, 16, 30, 30] == pauses[:7]
    assert 30 == pauses[-1]
    assert 40 == jobs.failures


@pytest.mark.parametrize(
    ("ahead", "paused"),
    [
        (timedelta(seconds=-1), False),
        (timedelta(0), False),
        (timedelta(seconds=1), True),
        (LONGEST_PAUSE * (1 + JITTER), True),
        (timedelta(days=400), False),
    ],
)
def test_a_pause_holds_up_until_its_end_and_never_for_longer_than_the_longest(
    ahead: timedelta, *, paused: bool
) -> None:
    assert paused == is_paused(Jobs(retry_at=NOW + ahead), NOW)
    assert not is_paused(Jobs(), NOW)


def test_a_job_that_gets_on_may_be_begun_more_often() -> None:
    assert [False, True] == [is_stuck(0, deliveries, 3) for deliveries in (3, 4)]
    assert [False, True] == [is_stuck(2, deliveries, 3) for deliveries in (5, 6)]
