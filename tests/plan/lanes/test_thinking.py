import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.plan import PrefixText, ReplaceText
from services.plan.lanes import thinking
from services.plan.lanes.thinking import without_thinking
from tests.helpers.cost import bare_operations
from tests.helpers.harness import Harness, text_part
from tests.helpers.stripping import (
    age,
    harness_with,
    lanes_of,
    rebased,
    text_of,
    view_of,
)

THINKING = thinking.LANE
SHORT = "<think>let me see</think>\n\nDone."
LONG = f"<think>{'let me see ' * 200}</think>\n\nDone."
WORTH_IT = f"<think>{'Let me see. ' * 35}</think>\n\nIt was the order."
"""Long enough to be left out, and too short to change what becomes of other texts."""


def scene(harness: Harness) -> None:
    """For the session in which every lane has something to do."""
    harness.user("Think.")
    harness.assistant(text_part(WORTH_IT))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a</think>b", "b"),
        ("<thinking>a</thinking> \n\n b", "b"),
        ("a <think>x</think>\nb <THINK>y</THINK> c", "a b c"),
        ("<think>a\nb</think>", ""),
        ("<think>a</thinking>b", "<think>a</thinking>b"),
        ("<think>a", "<think>a"),
        ("a</think>b", "a</think>b"),
        ("<think>a<think>b</think>c", "c"),
        ("<think>a<thinking>b</thinking>c", "<think>ac"),
        ("no thought", "no thought"),
    ],
)
def test_a_block_goes_with_the_white_space_behind_it(text: str, left: str) -> None:
    assert without_thinking(text) == left


@given(st.lists(st.sampled_from(["<think>", "</think>", "<thinking>", "</thinking>", "a", " ", "\n"])).map("".join))
def test_what_is_left_is_part_of_the_text_and_holds_no_block_any_more_where_none_were_nested(text: str) -> None:
    left = without_thinking(text)
    rest = iter(text)
    assert all(character in rest for character in left)
    assert without_thinking(text) == text or len(left) < len(text)


def test_many_blocks_that_are_never_closed_cost_little() -> None:
    text = "<think>" * 200_000
    assert without_thinking(text) == text
    assert 80 > bare_operations(lambda: without_thinking(text))


def thinks(text: str) -> Harness:
    harness = harness_with(THINKING)
    harness.user("go")
    harness.assistant(text_part(text))
    return harness


@pytest.mark.parametrize("text", [SHORT, LONG])
def test_old_answers_are_served_without_their_thinking_and_with_their_tag(text: str) -> None:
    harness = thinks(text)
    age(harness)
    assert text_of(rebased(harness), "m2.0") == "§2§ Done."
    assert lanes_of(harness) == {"part:m2.0": "thinking"}


def test_a_young_answer_keeps_its_thinking() -> None:
    harness = thinks(SHORT)
    harness.user("more")
    assert text_of(rebased(harness), "m2.0") == f"§2§ {SHORT}"


def test_only_what_is_not_in_memory_is_read() -> None:
    for text, read in ((SHORT, ()), (LONG, ("m2.0",)), ("word " * 500, ())):
        harness = thinks(text)
        age(harness)
        harness.step()
        assert thinking.needs(view_of(harness)) == read


def test_an_answer_that_was_nothing_but_thinking_is_dropped() -> None:
    harness = thinks("<think>hm</think>\n")
    age(harness)
    assert text_of(rebased(harness), "m2.0") == "[dropped §2§]"
    assert 2 in harness.session.drops.dropped


def test_tags_that_a_model_copied_do_not_come_back() -> None:
    harness = thinks(f"§9§ {SHORT}")
    age(harness)
    assert text_of(rebased(harness), "m2.0") == "§2§ Done."


def test_without_tags_in_view_none_is_shown() -> None:
    harness = thinks(SHORT)
    harness.mode = "reduce_off"
    age(harness)
    assert text_of(rebased(harness), "m2.0") == "Done."


def test_a_text_that_was_changed_is_looked_at_again() -> None:
    harness = thinks(SHORT)
    age(harness)
    rebased(harness)
    harness.change("m2.0", text="<think>again</think>Changed.")
    assert text_of(harness.step(), "m2.0") == "§2§ Changed."
    harness.change("m2.0", text="Nothing thought.")
    assert text_of(harness.step(), "m2.0") == "§2§ Nothing thought."
    assert isinstance(harness.edits["part:m2.0"], PrefixText)


def test_what_another_lane_has_made_of_a_text_is_left_alone() -> None:
    harness = thinks(SHORT)
    age(harness)
    harness.step()
    harness.drop(2)
    rebased(harness)
    edit = harness.edits["part:m2.0"]
    assert isinstance(edit, ReplaceText)
    assert (edit.text, edit.lane) == ("[dropped §2§]", "drops")
