"""The views over runs of the dreamer."""

from collections.abc import Iterator

import pytest

from schemas.events import DreamFinished, DreamRequested, DreamStarted, TaskFinished
from services.responder.views.store import Store
from tests.helpers.view_facts import Given, close, happened, open_store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store()
    yield opened
    close(opened)


FACTS = (
    DreamRequested(run="d1", reason="slot", tasks=["a", "b"]),
    DreamStarted(run="d1", memories=7),
    TaskFinished(
        run="d1", task="a", outcome="completed", backlog=3, backlog_after=1, applied=2, waiting=1, seconds=0.5
    ),
    TaskFinished(run="d1", task="b", outcome="failed", code="KeyError", tokens=100, usd=0.25, seconds=0.5),
    DreamFinished(run="d1", outcome="cut_short", code="KeyError"),
    DreamRequested(run="d2", reason="order", tasks=["a"], answers=4),
)


def test_a_run_is_listed_with_the_sums_of_its_tasks(store: Store) -> None:
    sums = {"applied": 2, "held": 1, "tokens": 100, "usd": 0.25, "seconds": 1.0, "ended_tasks": 2, "failed_tasks": 1}
    Given(store, *FACTS).view("dreams").is_(
        {
            "run": "d1",
            "reason": "slot",
            "status": "cut_short",
            "code": "KeyError",
            "memories": 7,
            "requested_at": happened(1),
            "started_at": happened(2),
            "ended_at": happened(5),
            **sums,
        },
        {
            "run": "d2",
            "reason": "order",
            "status": "requested",
            "code": "",
            "memories": 0,
            "requested_at": happened(6),
            "started_at": None,
            "ended_at": None,
            **dict.fromkeys(sums, 0),
        },
    )


def test_a_run_is_listed_as_it_was_at_a_position(store: Store) -> None:
    given = Given(store, *FACTS)
    for position, status, ended in ((1, "requested", 0), (2, "started", 0), (3, "started", 1), (5, "cut_short", 2)):
        given.view("dreams", position).is_({"run": "d1", "status": status, "ended_tasks": ended})


def test_a_task_is_listed_with_its_outcome_and_its_backlog(store: Store) -> None:
    counts = {"backlog": 3, "backlog_after": 1, "applied": 2}
    Given(store, *FACTS).view("dream_tasks").is_(
        {"run": "d1", "task": "a", "outcome": "completed", "code": ""} | counts,
        {
            "run": "d1",
            "task": "b",
            "outcome": "failed",
            "code": "KeyError",
            "backlog": 0,
            "backlog_after": 0,
            "applied": 0,
        },
    )
