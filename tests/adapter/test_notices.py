"""The notices of the person: once that the harness compacts by itself, and once that a plan has come again."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adapter.conftest import Adapter

Happening = list[Any]
AWAY, BACK = "compacts by itself", "answers again"
PLANNED, MISSED = True, False


def turn(session: str, *steps: bool, is_reachable: bool) -> list[Happening]:
    """A turn of this session: for each of its steps, whether a plan came in time."""
    planned = [[session, "planned", is_in_time] for is_in_time in steps]
    return [[session, "begins", is_reachable], *planned, [session, "rests", True]]


def notices(adapter: Adapter, *happenings: Happening, mode: str = "managed") -> list[str]:
    """Behind each happening that has a notice: where it is given, and its text."""
    answer: list[list[list[str]]] = adapter("notices", mode, happenings)
    return [
        f"{place}: {AWAY if AWAY in text else BACK if BACK in text else text}"
        for texts in answer
        for place, text in texts
    ]


def in_places(*happenings: Happening, **places: str) -> list[Happening]:
    return [[*one, places.get(one[0], "here")] for one in happenings]


HALF_UP = [one for _ in range(4) for one in turn("a", MISSED, MISSED, MISSED, is_reachable=True)]
"""Somebody is there, and no plan comes in time."""
KNOWN = [*turn("a", PLANNED, is_reachable=True), *turn("b", PLANNED, is_reachable=True)]
KILLED = [
    one
    for session in ("a", "b", "a", "b")
    for steps in ((MISSED,), (MISSED, MISSED, MISSED))
    for one in turn(session, *steps, is_reachable=False)
]


def test_of_an_installation_that_is_there_and_answers_no_step_the_person_hears_once(adapter: Adapter) -> None:
    assert [f"here: {AWAY}"] == notices(adapter, *HALF_UP)


def test_of_one_that_was_killed_the_person_hears_once_in_whichever_session(adapter: Adapter) -> None:
    assert [f"here: {AWAY}"] == notices(adapter, *KNOWN, *KILLED)


@pytest.mark.parametrize("course", [HALF_UP, KNOWN + KILLED], ids=["half up", "killed"])
def test_that_it_can_be_reached_is_no_answer_yet_and_a_plan_is(adapter: Adapter, course: list[Happening]) -> None:
    reached = [["a", "begins", True], ["b", "begins", True]]
    assert [f"here: {AWAY}"] == notices(adapter, *course, *reached)
    again = [*course, *reached, ["b", "planned", True], ["a", "planned", True]]
    assert [f"here: {AWAY}", f"here: {BACK}"] == notices(adapter, *again)
    later = [*again, *turn("b", MISSED, MISSED, is_reachable=False)]
    assert [f"here: {AWAY}", f"here: {BACK}", f"here: {AWAY}"] == notices(adapter, *later)


def test_in_two_directories_the_notice_is_in_one_and_withdrawn_there(adapter: Adapter) -> None:
    gone = [*turn("a", MISSED, is_reachable=False), *turn("b", MISSED, is_reachable=False)]
    course = in_places(*gone, *turn("b", PLANNED, is_reachable=True), a="there", b="here")
    assert [f"there: {AWAY}", f"there: {BACK}"] == notices(adapter, *course)


def test_a_session_that_alone_gets_no_plan_is_reported_once(adapter: Adapter) -> None:
    poisoned = turn("a", MISSED, MISSED, MISSED, is_reachable=True)
    well = turn("b", PLANNED, is_reachable=True)
    assert [f"here: {AWAY}", f"here: {BACK}"] == notices(adapter, *(poisoned + well) * 3)


def test_while_the_installation_is_started_nobody_is_notified_and_afterwards_once(adapter: Adapter) -> None:
    coming = [["", "coming", True], *turn("a", MISSED, MISSED, is_reachable=False)]
    assert [] == notices(adapter, *coming)
    assert [] == notices(adapter, *coming, ["", "coming", False], *turn("a", PLANNED, is_reachable=True))
    failed = [["", "coming", False], *turn("a", MISSED, is_reachable=False), *turn("b", MISSED, is_reachable=False)]
    assert [f"here: {AWAY}"] == notices(adapter, *coming, *failed)


def test_of_sessions_that_are_none_of_its_own_nobody_is_notified(adapter: Adapter) -> None:
    assert [] == notices(adapter, ["a", "isLeft", True], *turn("a", MISSED, MISSED, is_reachable=False))


@pytest.mark.parametrize("mode", ["assist", "replace", "observe"])
def test_where_the_harness_compacts_as_ever_nobody_is_notified(adapter: Adapter, mode: str) -> None:
    assert [] == notices(adapter, *HALF_UP, *KNOWN, *KILLED, mode=mode)


happening = st.one_of(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["begins", "planned", "isLeft"]), st.booleans()),
    st.tuples(st.sampled_from("ab"), st.just("rests")),
    st.tuples(st.just(""), st.just("coming"), st.booleans()),
)


@given(st.lists(happening, max_size=30))
def test_the_two_notices_take_turns_and_the_second_comes_with_a_plan(
    adapter: Adapter, happenings: list[tuple[object, ...]]
) -> None:
    answer: list[list[list[str]]] = adapter("notices", "managed", happenings)
    texts = [text for one in answer for _, text in one]
    assert all(AWAY in text for text in texts[::2])
    assert all(BACK in text for text in texts[1::2])
    back = [happenings[place] for place, one in enumerate(answer) if any(BACK in text for _, text in one)]
    assert all(one[1:] == ("planned", True) for one in back)
