"""What came of a task, and when a run is cut short."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from schemas.commands import NoteDismiss
from schemas.events import (
    DreamFinished,
    DreamOrdered,
    DreamStarted,
    Event,
    MemoryJudged,
    MemoryProposed,
    NoteDismissed,
    TaskAsked,
    TaskFinished,
)
from services.dreamer.core.outcome import (
    NO_MODEL,
    NOTHING_TO_ASK,
    broken,
    closing,
    command_name,
    ending,
    equal_failures,
    next_task,
    outcome_of,
)
from services.dreamer.core.task import DreamTask
from services.dreamer.core.tasks import archive_stale, classify, consolidate, improve
from tests.helpers.dreaming import PERSON, ROOM, Project, timetable

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
TASKS = "abcde"


def run_of(*ended: tuple[str, str]) -> Project:
    """An open run of five tasks, the first of which have ended so: outcome and code."""
    project = Project(timetable(UTC, **dict.fromkeys(TASKS, "0 2 * * *")))
    project.append(DreamOrdered(), NOON)
    assert project.requested(NOON, None)
    project.append(DreamStarted(run="d1"), NOON, ROOM)
    for task, (outcome, code) in zip(TASKS, ended, strict=False):
        project.append(TaskFinished(run="d1", task=task, outcome=outcome, code=code), NOON, ROOM)
    return project


FAILED = ("failed", "RecursionError")


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        ((FAILED, FAILED, FAILED), "RecursionError"),
        ((("completed", ""), FAILED, FAILED, FAILED), "RecursionError"),
        ((FAILED, FAILED), ""),
        ((FAILED, ("failed", "KeyError"), FAILED), ""),
        ((FAILED, FAILED, ("no_effect", ""), FAILED), ""),
        ((("skipped", "x"),) * 3, ""),
        ((), ""),
    ],
)
def test_three_equal_failures_one_behind_the_other_cut_a_run_short(
    ended: tuple[tuple[str, str], ...], code: str
) -> None:
    assert code == equal_failures(run_of(*ended).state)


def test_what_is_left_of_a_run_that_is_cut_short_is_skipped_and_seen_to_be() -> None:
    events = closing(run_of(FAILED, FAILED, FAILED).state, "RecursionError")
    assert [("d", "skipped", "equal_failures"), ("e", "skipped", "equal_failures")] == [
        (one.task, one.outcome, one.code) for one in events if isinstance(one, TaskFinished)
    ]
    assert DreamFinished(run="d1", outcome="cut_short", code="RecursionError") == events[-1]


def test_a_run_that_no_process_brings_to_its_end_has_ended() -> None:
    project = run_of(("completed", ""))
    request = project.state.request
    assert request is not None
    for event in broken(project.state, request, "begun too often"):
        project.append(event, NOON, ROOM)
    assert (None, "b", "failed") == (
        project.state.request,
        project.state.run.finished[-1].task,
        project.state.run.finished[-1].outcome,
    )


def test_tasks_come_one_after_the_other() -> None:
    assert ["a", "c", ""] == [next_task(run_of(*[("completed", "")] * count).state) for count in (0, 2, 5)]


@pytest.mark.parametrize(
    ("backlog", "applied", "proposed", "outcome"),
    [
        (3, 2, 0, ("completed", "")),
        (3, 0, 1, ("completed", "")),
        (3, 0, 0, ("no_effect", "")),
        (0, 0, 0, ("skipped", "nothing_to_do")),
    ],
)
def test_that_a_task_ran_is_no_proof_that_it_did_anything(
    backlog: int, applied: int, proposed: int, outcome: tuple[str, str]
) -> None:
    assert outcome == outcome_of(backlog, applied, proposed)


AWAY = TaskAsked(run="d1", task="improve", outcome="provider_away", detail="nobody is there")
AWAY_OF_PAIRS = TaskAsked(run="d1", task="consolidate", outcome="provider_away", detail="nobody is there")


@pytest.mark.parametrize(
    ("task", "backlog", "asked", "are_models", "expected"),
    [
        (improve.TASK, 0, (), False, ("skipped", "nothing_to_do", NOTHING_TO_ASK)),
        (improve.TASK, 0, (), True, ("skipped", "nothing_to_do", NOTHING_TO_ASK)),
        (classify.TASK, 0, (), False, ("skipped", "nothing_to_do", NOTHING_TO_ASK)),
        (improve.TASK, 2, (), False, ("skipped", "no_model", NO_MODEL)),
        (improve.TASK, 2, (AWAY,), True, ("skipped", "no_answer", "provider_away: nobody is there")),
        (improve.TASK, 2, (), True, ("no_effect", "", "")),
        (consolidate.TASK, 0, (), False, ("skipped", "nothing_to_do", "")),
        (consolidate.TASK, 0, (AWAY_OF_PAIRS,), True, ("skipped", "no_answer", "provider_away: nobody is there")),
        (consolidate.TASK, 2, (AWAY_OF_PAIRS,), True, ("no_effect", "", "provider_away: nobody is there")),
        (archive_stale.TASK, 0, (), False, ("skipped", "nothing_to_do", "")),
    ],
)
def test_the_reason_for_which_nothing_was_done_is_the_one_that_there_is(
    task: DreamTask, backlog: int, asked: Sequence[TaskAsked], *, are_models: bool, expected: tuple[str, str, str]
) -> None:
    project = run_of()
    for event in asked:
        project.append(event, NOON, ROOM)
    ended = ending(project.state, task, backlog, are_models=are_models)
    assert expected == (ended.outcome, ended.code, ended.detail)


def test_where_nothing_changed_the_reason_is_no_missing_model() -> None:
    project = Project(timetable(UTC, improve="0 2 * * *"))
    for _ in range(2):
        project.append(DreamOrdered(), NOON)
        assert project.requested(NOON, None)
        ended = ending(project.state, improve.TASK, 0, are_models=False)
        project.finishes(NOON, ended.outcome, ended.code)
    assert ("skipped", "nothing_changed", NOTHING_TO_ASK) == (ended.outcome, ended.code, ended.detail)


def test_what_commands_have_done_is_counted_from_the_log_each_once() -> None:
    project = run_of()
    proposed = MemoryProposed(memory="m1", category="NAMING", text="x", trust="dreamer")
    events: list[tuple[str, Event]] = [
        (command_name("d1", "a", NoteDismiss("n1")), NoteDismissed(note="n1")),
        (command_name("d1", "a", NoteDismiss("n1")), NoteDismissed(note="n1")),
        (command_name("d1", "a", NoteDismiss("n2")), NoteDismissed(note="n2")),
        (command_name("d1", "a", NoteDismiss("n3")), proposed),
        (command_name("d1", "a", NoteDismiss("n3")), MemoryJudged(candidate="c1", verdict="proposed")),
        (command_name("d1", "a", NoteDismiss("n6")), MemoryJudged(candidate="c2", verdict="refused")),
        (command_name("d1", "b", NoteDismiss("n4")), NoteDismissed(note="n4")),
        (command_name("d0", "a", NoteDismiss("n5")), NoteDismissed(note="n5")),
    ]
    for cause, event in events:
        project.append(event, NOON, ROOM, cause)
    project.append(NoteDismissed(note="n6"), NOON, PERSON, "dreamer/d1/a/x")
    assert ((2, 1), (1, 0)) == (project.state.counted("d1", "a"), project.state.counted("d1", "b"))


def test_a_command_has_the_same_name_again_in_the_same_run_alone() -> None:
    names = [
        command_name("d1", "a", NoteDismiss("n1")),
        command_name("d1", "a", NoteDismiss("n1")),
        command_name("d1", "a", NoteDismiss("n2")),
        command_name("d2", "a", NoteDismiss("n1")),
        command_name("d1", "b", NoteDismiss("n1")),
    ]
    assert (names[0], 4) == (names[1], len({*names}))


def test_what_a_model_is_still_to_be_asked_about_has_a_slot_again_though_nothing_changed() -> None:
    project = run_of(*[("completed", "")] * 5)
    assert [] == [*project.state.changed]
    project.append(TaskFinished(run="d1", task="a", outcome="completed", unasked=3), NOON, ROOM)
    assert ["a"] == [*project.state.changed]


def test_what_was_asked_is_counted_and_not_asked_again() -> None:
    project = run_of()
    asked = TaskAsked(run="d1", task="a", outcome="ok", items=["m1@1", "m2@3"], accepted=1, tokens=7)
    project.append(asked, NOON, ROOM)
    project.append(TaskAsked(run="d0", task="a", outcome="ok", items=["m9@1"]), NOON, ROOM)
    assert (asked,) == project.state.questions_of("a")
    assert () == project.state.questions_of("b")
    assert frozenset({"m1@1", "m2@3"}) == project.state.asked_about["a"]


def test_a_command_about_one_thing_has_one_name_whatever_it_says() -> None:
    one, other = NoteDismiss("n1"), NoteDismiss("n2")
    assert command_name("d1", "a", one, "x") == command_name("d1", "a", other, "x")
    assert command_name("d1", "a", one) != command_name("d1", "a", other)
    assert command_name("d1", "a", one, "x") != command_name("d2", "a", one, "x")
