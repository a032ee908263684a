"""A session whose first call came before anybody answered has what it should have begun with, by one rebase."""

import pytest

from services.domain.limits import Limits
from services.plan.planner.causes import LATE
from tests.helpers.harness import LIMITS, Call, Harness, edits_of, is_sound, ran, replace, thought
from tests.helpers.project_documents import Project, session, written
from tests.helpers.random_sessions import as_bytes

RULE = "Only the desk writes memories, since it alone sees them in order."


def begun_without(calls: int = 1, limits: Limits = LIMITS) -> tuple[Project, Harness]:
    """A project that remembers a rule, and a session that made its first calls when nobody answered."""
    project = Project()
    harness = session(project)
    harness.limits = limits
    project.remembers(written("m0", RULE))
    for number in range(calls):
        harness.user(f"hello {number}")
        harness.step(asks=False)
        harness.assistant(ran("x" * 400))
    return project, harness


def on(harness: Harness, text: str = "go on") -> Call:
    harness.user(text)
    return harness.step()


def knows(call: Call) -> bool:
    return any(RULE in text for text in call.text)


@pytest.mark.parametrize("calls", [1, 2, 7])
def test_the_next_call_has_the_memory_and_no_later_one_is_rebased_for_it(calls: int) -> None:
    _, harness = begun_without(calls)

    first = on(harness)
    later = [on(harness, f"and on {n}") for n in range(3)]

    assert (LATE,) == first.causes
    assert knows(first)
    assert [()] * 3 == [call.causes for call in later]
    assert is_sound([first, *later])
    for call in later:
        assert as_bytes(call.served)[: len(first.served)] == as_bytes(first.served)


def test_it_is_the_same_after_a_restart_and_next_to_one_that_goes() -> None:
    _, harness = begun_without()
    first = on(harness)
    harness.assistant(ran("y"))
    harness.restart()
    second = on(harness)
    harness.restart_harness()
    third = on(harness)

    assert ((), ()) == (second.causes, third.causes)
    assert as_bytes(second.served)[: len(first.served)] == as_bytes(first.served)
    assert as_bytes(third.served)[: len(second.served)] == as_bytes(second.served)
    harness.without("m1")
    fourth = on(harness)
    assert LATE not in fourth.causes
    assert knows(fourth)


def test_who_was_answered_at_once_is_never_late() -> None:
    project = Project()
    harness = session(project)
    project.remembers(written("m0", RULE))
    harness.user("hello")
    assert knows(harness.step())
    assert () == on(harness).causes


def test_what_is_written_later_makes_nobody_late() -> None:
    project = Project()
    harness = session(project)
    harness.user("hello")
    harness.step(asks=False)
    harness.assistant(ran("x"))
    project.remembers(written("m0", RULE))
    calls = [on(harness), on(harness)]

    assert [(), ()] == [call.causes for call in calls]


def test_a_session_with_nothing_to_know_is_not_rebased() -> None:
    harness = session(Project())
    harness.user("hello")
    harness.step(asks=False)
    harness.assistant(ran("x"))
    assert [(), ()] == [on(harness).causes, on(harness).causes]


def test_who_was_answered_too_late_has_it_one_call_later() -> None:
    """The plan of the first call was made, and did not reach the harness in time."""
    project = Project()
    harness = session(project)
    project.remembers(written("m0", RULE))
    harness.user("hello")
    harness.step(takes=0)
    harness.assistant(ran("x"))
    calls = [on(harness), on(harness), on(harness)]

    assert [LATE] == [cause for call in calls for cause in call.causes]
    assert [False, True, True] == [knows(call) for call in calls]
    assert is_sound(calls)


def test_signed_thinking_of_a_running_turn_is_not_broken_for_it() -> None:
    _, harness = begun_without(0)
    harness.capabilities = ("binds_signed_thinking",)
    harness.user("hello")
    harness.step(asks=False)
    harness.assistant(thought("because", signed=True), ran("x"))
    running = harness.step()
    harness.assistant(ran("y"))
    after = on(harness)

    assert () == running.causes
    assert not knows(running)
    assert LATE in after.causes
    assert knows(after)
    assert is_sound([running, after])


def test_what_waits_goes_with_it() -> None:
    _, harness = begun_without(4, replace(LIMITS, protected_tags=1))
    part = next(part for message in harness.messages for part in message.parts if part.output)
    harness.drop(harness.session.conversation.parts[part.part].number)

    first = on(harness)

    assert (LATE,) == first.causes
    assert any("[dropped" in text for text in first.text)


@pytest.mark.parametrize("mode", ["subagent", "additive"])
def test_modes_without_a_head_are_not_late(mode: str) -> None:
    _, harness = begun_without(0)
    harness.mode = mode  # type: ignore[assignment] # one of the modes
    harness.user("hello")
    harness.step(asks=False)
    harness.assistant(ran("x"))
    assert () == on(harness).causes


def test_a_model_that_takes_no_head_is_not_rebased_for_it() -> None:
    _, harness = begun_without(0)
    harness.capabilities = ("requires_alternation",)
    harness.user("hello")
    harness.step(asks=False)
    harness.assistant(ran("x"))
    call = on(harness)
    assert () == call.causes
    assert not any("set_head" in repr(edit) for edit in edits_of(call.made))
