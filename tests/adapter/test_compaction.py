"""When OpenCode may compact by itself: only while nobody keeps the context of a session under way small."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adapter.conftest import Adapter

Happening = list[Any]
ON = {"auto": True, "prune": False}
BEGINS, PLANNED, MISSED = ["a", "begins", True], ["a", "planned", True], ["a", "planned", False]
SENT, ANSWERED, BETWEEN = ["a", "phase", "sent"], ["a", "phase", "answered"], ["a", "phase", "between"]
FULL = ["a", "isFull", True]
RESTS = ["a", "phase", "resting"]
GONE, BACK = ["", "reachable", False], ["", "reachable", True]


def of(session: str, happening: Happening) -> Happening:
    return [session, *happening[1:]]


def after(adapter: Adapter, *happenings: Happening, own: object = ON) -> dict[str, bool]:
    answer: dict[str, bool] = adapter("compactions", own, happenings)[-1]
    return answer


@pytest.mark.parametrize(
    ("happenings", "may"),
    [
        pytest.param([BACK], False, id="nobody works, and the installation is there"),
        pytest.param([GONE], True, id="nobody works, and it is not"),
        pytest.param([BEGINS], False, id="a turn begins while it can be reached"),
        pytest.param([["a", "begins", False]], True, id="a turn begins without it"),
        pytest.param([BEGINS, PLANNED, BETWEEN], False, id="a step was served"),
        pytest.param([BEGINS, PLANNED, BETWEEN, MISSED, BETWEEN], False, id="one plan was late"),
        pytest.param([BEGINS, PLANNED, BETWEEN, MISSED, BETWEEN, MISSED, BETWEEN], True, id="two in a row were"),
        pytest.param([BEGINS, PLANNED, GONE, MISSED, PLANNED, BETWEEN, MISSED], False, id="two, but not in a row"),
        pytest.param([BEGINS, PLANNED, MISSED, MISSED, PLANNED, BETWEEN], False, id="it is back"),
        pytest.param(
            [BEGINS, MISSED, RESTS, BEGINS, MISSED, RESTS, BEGINS], True, id="it is there and no plan has ever come"
        ),
        pytest.param([BEGINS, MISSED, MISSED, RESTS, BEGINS], True, id="that it is there is no plan yet"),
        pytest.param([["a", "begins", False], RESTS, BEGINS], False, id="it has come between two turns"),
        pytest.param([["a", "begins", False], PLANNED, BETWEEN], False, id="it has come within a turn"),
        pytest.param([BEGINS, PLANNED, RESTS, ["a", "begins", False]], False, id="it fell between two turns: a moment"),
        pytest.param([BEGINS, ["a", "isLeft", True], PLANNED, BETWEEN], True, id="the session is none of its own"),
        pytest.param([BEGINS, PLANNED, FULL, BETWEEN], True, id="it is served, and cannot be made smaller"),
        pytest.param([BEGINS, PLANNED, FULL, of("b", BEGINS), RESTS], False, id="one that is full rests"),
        pytest.param([BEGINS, PLANNED, SENT], True, id="what was sent may yet be refused"),
        pytest.param([BEGINS, PLANNED, SENT, ANSWERED], False, id="it was not"),
        pytest.param(
            [BEGINS, PLANNED, SENT, of("b", BEGINS)], False, id="one is looked at while another's is on its way"
        ),
        pytest.param([BEGINS, PLANNED, BETWEEN, ["b", "begins", False]], True, id="another one is not served"),
        pytest.param(
            [BEGINS, PLANNED, BETWEEN, ["b", "begins", False], of("b", ANSWERED)],
            False,
            id="another one is not served, and nobody looks at it",
        ),
        pytest.param([MISSED, MISSED, RESTS, of("b", BEGINS)], False, id="one that rests does not count"),
    ],
)
def test_it_may_while_a_session_under_way_is_not_served(
    adapter: Adapter, happenings: list[Happening], *, may: bool
) -> None:
    assert may == after(adapter, *happenings)["auto"]


@pytest.mark.parametrize("own", [{"auto": False}, {"auto": False, "prune": True}])
def test_who_has_switched_it_off_keeps_it_off(adapter: Adapter, own: dict[str, bool]) -> None:
    assert not after(adapter, ["a", "begins", False], own=own)["auto"]


@pytest.mark.parametrize("own", [None, {}, {"tail_turns": 2, "reserved": 10_000}])
def test_what_nobody_has_set_is_as_the_harness_has_it_and_the_rest_stays(
    adapter: Adapter, own: dict[str, int] | None
) -> None:
    answer = after(adapter, GONE, own=own)
    assert (own or {}) | ON == {name: value for name, value in answer.items() if name != "away"}


def test_pruning_goes_with_it(adapter: Adapter) -> None:
    own = {"prune": True}
    assert after(adapter, GONE, own=own)["prune"]
    assert not after(adapter, BEGINS, PLANNED, own=own)["prune"]


def test_another_plugin_may_set_it_too(adapter: Adapter) -> None:
    assert not after(adapter, GONE, ["", "set", False])["auto"]


def test_a_person_is_notified_of_sessions_that_wait_and_of_no_others(adapter: Adapter) -> None:
    assert after(adapter, ["a", "begins", False])["away"]
    assert not after(adapter, ["a", "begins", False], RESTS)["away"]
    assert not after(adapter, ["a", "begins", False], ["a", "isLeft", True])["away"]
    assert not after(adapter, GONE)["away"]


happening = st.one_of(
    st.tuples(st.sampled_from("ab"), st.just("begins"), st.booleans()),
    st.tuples(st.sampled_from("ab"), st.just("planned"), st.booleans()),
    st.tuples(st.sampled_from("ab"), st.just("isLeft"), st.booleans()),
    st.tuples(st.sampled_from("ab"), st.just("phase"), st.sampled_from(["resting", "between", "sent", "answered"])),
    st.tuples(st.just(""), st.just("reachable"), st.booleans()),
)


@given(st.lists(happening, max_size=12), st.sampled_from([[], [RESTS, BEGINS], [RESTS, ["a", "begins", False]]]))
def test_two_steps_without_a_plan_are_enough_whatever_was_before(
    adapter: Adapter, before: list[tuple[str, str, object]], between: list[Happening]
) -> None:
    """And whether they are steps of one turn or of two."""
    ending = [BEGINS, ["a", "isLeft", False], MISSED, *between, MISSED, BETWEEN]
    assert after(adapter, *map(list, before), *ending)["auto"]


@given(st.lists(happening, max_size=12))
def test_alone_and_just_served_a_session_is_left_alone(adapter: Adapter, before: list[tuple[str, str, object]]) -> None:
    ending = [of("b", RESTS), BEGINS, ["a", "isLeft", False], PLANNED, BETWEEN]
    assert not after(adapter, *map(list, before), *ending)["auto"]


# A prompt in the place of the harness's own


def summary_prompt(adapter: Adapter, *, previous: str = "", before: object = None, after: object = None) -> str:
    output: dict[str, str] = adapter("summaryPrompt", before or {}, "Carry on the quinces.", previous, after or {})
    return output["prompt"]


def test_a_prompt_of_ours_carries_what_all_other_plugins_want_to_be_known(adapter: Adapter) -> None:
    prompt = summary_prompt(adapter, before={"context": ["Earlier."]}, after={"context": ["Later."]})
    assert prompt.startswith("Write a summary of the conversation below")
    assert ["Carry on the quinces.", "Earlier.", "Later."] == prompt.split("\n\n")[1:]


def test_it_carries_the_summary_before_which_the_harness_leaves_out_then(adapter: Adapter) -> None:
    prompt = summary_prompt(adapter, previous="## Goal\nSell fruit.")
    assert prompt.endswith("\n\n<previous-summary>\n## Goal\nSell fruit.\n</previous-summary>")
    assert "<previous-summary>" not in summary_prompt(adapter)


def test_another_plugin_s_prompt_is_added_to_where_it_came_first_and_holds_where_it_came_last(adapter: Adapter) -> None:
    first = summary_prompt(adapter, before={"prompt": "Sum up in verse."})
    assert "Sum up in verse.\n\nCarry on the quinces." == first
    assert "In prose." == summary_prompt(adapter, after={"prompt": "In prose."})
