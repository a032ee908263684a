import pytest

from schemas.inbox import Capability
from schemas.plan import OmitPart, Restore
from services.domain.limits import Limits
from services.plan.lanes import reasoning
from tests.helpers.harness import Harness, ran, replace, text_part, thought
from tests.helpers.random_sessions import Story
from tests.helpers.stripping import (
    LIMITS,
    age,
    answering,
    asking,
    changing,
    harness_with,
    kinds,
    lanes_of,
    rebased,
    view_of,
)

REASONING = reasoning.LANE
WHY = "because " * 20


def thinking(*capabilities: Capability, signed: bool = False) -> Harness:
    """A question (tag 1) and an answer with reasoning (tag 2)."""
    harness = harness_with(REASONING, LIMITS, *capabilities)
    harness.user("go")
    harness.assistant(thought(WHY, signed=signed), text_part("ok"))
    return harness


def test_reasoning_goes_with_age() -> None:
    harness = thinking()
    age(harness)
    call = rebased(harness)
    assert kinds(call.served)["m2"] == ["text"]
    assert lanes_of(harness) == {"part:m2.0": "reasoning"}


@pytest.mark.parametrize(("tags_behind", "is_left_out"), [(2, False), (3, True)])
def test_a_message_is_as_old_as_its_newest_tag(tags_behind: int, is_left_out: bool) -> None:  # noqa: FBT001
    harness = harness_with(REASONING)
    harness.assistant(thought(WHY), text_part("one"), text_part("two"))
    for _ in range(tags_behind):
        harness.user("more")
    rebased(harness)
    assert ("part:m1.0" in harness.edits) == is_left_out


def test_with_tags_up_to_120_and_an_age_of_50_the_message_with_the_tags_65_to_69_is_old() -> None:
    harness = harness_with(REASONING, Limits(protected_tags=2))
    for _ in range(64):
        harness.user("more")
    named = [harness.assistant(thought(WHY), *(text_part("so") for _ in range(5))) for _ in range(2)]
    for _ in range(46):
        harness.user("more")
    rebased(harness)
    assert harness.session.conversation.last_number == 120
    assert lanes_of(harness) == {f"part:{named[0]}.0": "reasoning"}


def test_what_was_left_out_stays_so_and_nothing_more_goes_without_a_rebase() -> None:
    harness = thinking()
    age(harness)
    harness.assistant(thought(WHY), text_part("late"))
    before = rebased(harness)
    age(harness)
    after = harness.step()
    assert after.causes == ()
    assert after.served[: len(before.served)] == before.served


def test_a_message_without_a_tag_is_never_old() -> None:
    harness = harness_with(REASONING)
    harness.assistant(thought(WHY))
    age(harness)
    rebased(harness)
    assert lanes_of(harness) == {}


def test_a_message_that_only_thinks_is_not_left_empty() -> None:
    harness = harness_with(REASONING)
    harness.assistant(thought(""), text_part(" "))
    age(harness)
    assert reasoning.rebase(view_of(harness)).edits == ()


# Signed thinking


def test_bound_thinking_goes_without_gaps_up_to_the_newest_old_message() -> None:
    harness = harness_with(REASONING, LIMITS, "binds_signed_thinking")
    harness.user("go")
    harness.assistant(thought(WHY, signed=True))
    harness.assistant(thought(WHY, signed=True), text_part("ok"))
    age(harness, 1)
    harness.assistant(thought(WHY, signed=True), text_part("young"))
    age(harness, 1)
    harness.step()
    edits = reasoning.rebase(view_of(harness)).edits
    assert [edit.part for edit in edits if isinstance(edit, OmitPart)] == ["m2.0", "m3.0"]


@pytest.mark.parametrize("capabilities", [("binds_signed_thinking",), ("caches_exact_prefix",)])
def test_signed_thinking_of_the_running_turn_stays(capabilities: tuple[Capability, ...]) -> None:
    harness = thinking(*capabilities, signed=True)
    for _ in range(6):
        harness.assistant(text_part("so"))
    harness.step()
    assert reasoning.rebase(view_of(harness)).edits == ()


def test_unsigned_reasoning_of_a_long_turn_goes_with_age() -> None:
    harness = thinking()
    for _ in range(6):
        harness.assistant(text_part("so"))
    rebased(harness)
    assert lanes_of(harness) == {"part:m2.0": "reasoning"}


def test_older_thinking_is_all_that_is_signed_from_a_place_to_the_running_turn() -> None:
    harness = harness_with(REASONING, LIMITS, "binds_signed_thinking")
    for _ in range(4):
        harness.user("go")
        harness.assistant(thought(WHY, signed=True), thought(WHY), text_part("ok"))
    harness.step()
    found = reasoning.older_thinking(view_of(harness), before=3)
    assert [(edit.part, edit.lane) for edit in found] == [("m4.0", "admission"), ("m6.0", "admission")]


def test_older_thinking_takes_a_message_with_it_that_says_nothing_else() -> None:
    harness = harness_with(REASONING, LIMITS, "binds_signed_thinking")
    harness.user("go")
    harness.assistant(thought(WHY, signed=True), text_part(" "))
    harness.user("on")
    harness.step()
    assert [edit.part for edit in reasoning.older_thinking(view_of(harness), before=1)] == ["m2.0", "m2.1"]


def test_older_thinking_leaves_a_message_that_says_nothing_else_where_turns_must_alternate() -> None:
    harness = harness_with(REASONING, LIMITS, "binds_signed_thinking", "requires_alternation")
    harness.user("go")
    harness.assistant(thought(WHY, signed=True))
    harness.user("on")
    harness.step()
    assert tuple(reasoning.older_thinking(view_of(harness), before=1)) == ()


def test_a_late_thought_of_a_turn_with_signed_thinking_comes_back_with_a_rebase_behind_that_turn() -> None:
    harness = harness_with(REASONING, LIMITS, "binds_signed_thinking")
    harness.user("go")
    harness.assistant(thought(WHY, signed=True), ran("FILE " * 500))
    harness.assistant(thought("[cleared]"), ran("FILE", call="d"))
    harness.step()
    harness.change("m3.0", text="a late thought")
    call = harness.step()
    assert (call.causes, kinds(call.served)["m3"]) == (("changed",), ["tool"])

    harness.user("on")
    harness.drop(2)
    assert kinds(rebased(harness).served)["m3"] == ["reasoning", "tool"]


# Reasoning on tool calls


def test_reasoning_of_a_call_stays_where_it_is_required() -> None:
    harness = harness_with(REASONING, LIMITS, "requires_reasoning_on_tool_calls")
    harness.user("go")
    harness.assistant(thought(WHY), ran("FILE"))
    harness.assistant(thought(WHY), text_part("ok"))
    harness.assistant(thought(""), ran("FILE", call="d"))
    age(harness)
    rebased(harness)
    assert lanes_of(harness) == {"part:m3.0": "reasoning"}


def test_reasoning_comes_back_when_another_model_requires_it() -> None:
    harness = harness_with(REASONING)
    harness.user("go")
    harness.assistant(thought(WHY), ran("FILE " * 500))
    age(harness)
    rebased(harness)
    harness.capabilities = ("requires_reasoning_on_tool_calls",)
    harness.model = "deep"
    harness.drop(2)
    call = rebased(harness)
    assert kinds(call.served)["m2"] == ["reasoning", "tool"]


def test_a_bound_run_ends_before_reasoning_that_is_required() -> None:
    harness = harness_with(REASONING, LIMITS, "binds_signed_thinking", "requires_reasoning_on_tool_calls")
    for call in "ab":
        harness.user("go")
        harness.assistant(thought(WHY, signed=True), text_part("ok"))
        harness.assistant(thought(WHY, signed=True), ran("FILE", call=call))
    age(harness)
    harness.step()
    assert [edit for edit in reasoning.rebase(view_of(harness)).edits if isinstance(edit, OmitPart)] == [
        OmitPart(part="m2.0", by=(harness.session.conversation.parts["m2.0"].seq,), lane="reasoning")
    ]


# Reasoning without a thought


def test_cleared_reasoning_is_left_out_from_the_first_time_on() -> None:
    harness = harness_with(REASONING)
    harness.user("go")
    harness.assistant(thought("[cleared]"), text_part("ok"))
    assert kinds(harness.step().served)["m2"] == ["text"]


def test_reasoning_without_words_may_be_sealed_and_stays_in_a_running_turn() -> None:
    harness = harness_with(REASONING)
    harness.user("go")
    harness.assistant(thought(""), text_part("ok"))
    assert kinds(harness.step().served)["m2"] == ["reasoning", "text"]
    harness.user("on")
    harness.step()
    assert [edit.lane for edit in reasoning.rebase(view_of(harness)).edits] == ["reasoning:empty"]


def test_signed_reasoning_without_words_is_not_empty() -> None:
    harness = harness_with(REASONING)
    harness.user("go")
    harness.assistant(thought("", signed=True), text_part("ok"))
    harness.user("on")
    harness.step()
    assert reasoning.rebase(view_of(harness)).edits == ()


def test_a_thought_that_comes_late_is_served() -> None:
    harness = harness_with(REASONING)
    harness.user("go")
    harness.assistant(thought("[cleared]"), text_part("ok"))
    harness.step()
    harness.change("m2.0", text=WHY)
    call = harness.step()
    assert (call.causes, kinds(call.served)["m2"]) == (("changed",), ["reasoning", "text"])


def test_a_late_thought_comes_back_with_one_edit() -> None:
    harness = harness_with(REASONING)
    harness.user("go")
    harness.assistant(thought("[cleared]"), text_part("ok"))
    harness.step()
    harness.change("m2.0", text=WHY)
    harness.report_step()
    assert reasoning.rebase(view_of(harness)).edits == (
        Restore(part="m2.0", by=(harness.session.conversation.parts["m2.0"].seq,)),
    )


def test_words_that_come_late_come_back_with_their_message() -> None:
    harness = harness_with(REASONING, LIMITS, "binds_signed_thinking", "accepts_empty_content")
    harness.user("go")
    harness.assistant(thought(WHY, signed=True), text_part(" "))
    harness.assistant(text_part("ok"))
    age(harness)
    assert "m2" not in kinds(rebased(harness).served)
    harness.change("m2.1", text="late words")
    harness.step()
    assert kinds(harness.step().served)["m2"] == ["text"]


# Reasoning about what was dropped


def test_reasoning_goes_with_all_that_it_led_to() -> None:
    harness = thinking()
    harness.user("on")
    harness.assistant(text_part("so"))
    harness.step()
    harness.drop(2)
    call = rebased(harness)
    assert [part.text for part in call.served[1].parts] == ["[dropped §2§]"]
    assert lanes_of(harness) == {"part:m2.0": "reasoning:dropped"}


def test_reasoning_stays_with_what_is_left_of_its_message() -> None:
    harness = harness_with(REASONING)
    harness.user("go")
    harness.assistant(thought(WHY), text_part("ok"), ran("FILE " * 500))
    harness.user("on")
    harness.assistant(text_part("so"))
    harness.step()
    harness.drop(3)
    assert kinds(rebased(harness).served)["m2"] == ["reasoning", "text", "tool"]


# Answers that a provider merges


def merged(*capabilities: Capability, signed: bool = False) -> Harness:
    harness = harness_with(REASONING, Limits(protected_tags=2), "merges_adjacent_assistants", *capabilities)
    harness.user("go")
    first, second, third = (thought(f"{WHY}{n}", signed=signed) for n in range(3))
    harness.assistant(first, text_part("t"), second)
    harness.assistant(third, ran("FILE"))
    return harness


def test_of_merged_answers_only_the_thought_that_they_begin_with_stays() -> None:
    call = rebased(harness := merged())
    assert kinds(call.served) == {"m1": ["text"], "m2": ["reasoning", "text"], "m3": ["tool"]}
    assert lanes_of(harness) == {"part:m2.2": "reasoning:merged", "part:m3.0": "reasoning:merged"}


def test_merged_answers_that_begin_with_words_keep_no_thought() -> None:
    harness = harness_with(REASONING, Limits(), "merges_adjacent_assistants")
    harness.user("go")
    harness.assistant(
        replace(text_part("shown to you only"), ignored=True), text_part(" "), text_part("t"), thought(WHY)
    )
    harness.assistant(thought(WHY), text_part("u"))
    rebased(harness)
    assert [*lanes_of(harness)] == ["part:m2.3", "part:m3.0"]


def test_signed_thinking_of_the_running_turn_is_not_merged_away() -> None:
    harness = merged("binds_signed_thinking", signed=True)
    harness.step()
    assert reasoning.rebase(view_of(harness)).edits == ()
    harness.user("on")
    harness.step()
    edits = reasoning.rebase(view_of(harness)).edits
    assert [edit.part for edit in edits if isinstance(edit, OmitPart)] == ["m2.2", "m3.0"]


def test_a_late_thought_between_merged_answers_does_not_come_back() -> None:
    harness = harness_with(REASONING, Limits(), "merges_adjacent_assistants")
    harness.user("go")
    harness.assistant(text_part("t"))
    harness.assistant(thought("[cleared]"), text_part("u"))
    harness.step()
    harness.change("m3.0", text=WHY)
    call = harness.step()
    assert (call.causes, kinds(call.served)["m3"]) == (("changed",), ["text"])
    assert reasoning.rebase(view_of(harness)).edits == ()


def test_answers_are_not_merged_over_a_prompt_between_them() -> None:
    harness = harness_with(REASONING, Limits(), "merges_adjacent_assistants")
    for _ in range(2):
        harness.user("go")
        harness.assistant(thought(WHY), text_part("ok"))
    harness.step()
    assert reasoning.rebase(view_of(harness)).edits == ()


def test_what_was_merged_away_stays_so_when_its_neighbour_is_removed() -> None:
    harness = merged()
    rebased(harness)
    harness.without("m2")
    call = harness.step()
    assert "unlisted" in call.causes
    assert kinds(call.served)["m3"] == ["tool"]


def test_of_two_thoughts_the_second_goes_in_the_rebase_that_brings_back_the_first() -> None:
    harness = harness_with(REASONING, Limits(), "merges_adjacent_assistants")
    harness.user("go")
    harness.assistant(thought("[cleared]"), thought(WHY))
    harness.step()
    harness.change("m2.0", text="a late thought")
    harness.step()
    assert lanes_of(harness) == {"part:m2.1": "reasoning:merged"}
    assert reasoning.rebase(view_of(harness)).edits == ()


def test_a_thought_goes_in_the_rebase_that_brings_back_the_words_before_it() -> None:
    harness = harness_with(REASONING, Limits(), "merges_adjacent_assistants", "binds_signed_thinking")
    harness.user("go")
    harness.assistant(thought(""), text_part(" "))
    harness.assistant(thought(WHY), text_part("ok"))
    harness.user("on")
    assert kinds(rebased(harness).served) == {"m1": ["text"], "m3": ["reasoning", "text"], "m4": ["text"]}

    harness.change("m2.1", text="late words")
    assert kinds(harness.step().served) == {"m1": ["text"], "m2": ["text"], "m3": ["text"], "m4": ["text"]}
    assert reasoning.rebase(view_of(harness)).edits == ()


SHORT = asking("short", with_image=False)
A_THOUGHT_THAT_COMES_LATE = Story(
    abilities=("merges_adjacent_assistants", "caches_exact_prefix"),
    protected=LIMITS.protected_tags,
    around=[
        (
            [
                answering(["plain", "plain"], ["short", "short"], ["fine"]),
                SHORT,
                answering(["cleared", "plain"], [], []),
            ],
            [],
        ),
        ([SHORT] * 4, [changing(20, "short")]),
    ],
)
A_THOUGHT_THAT_COMES_LATE_IN_A_BOUND_TURN = Story(
    abilities=("merges_adjacent_assistants", "binds_signed_thinking", "accepts_empty_content"),
    protected=LIMITS.protected_tags,
    around=[
        ([answering(["signed"], [], ["fine"]), answering(["cleared"], [], ["fine"])], []),
        ([], [changing(3, "short")]),
    ],
)
EXAMPLES = (A_THOUGHT_THAT_COMES_LATE, A_THOUGHT_THAT_COMES_LATE_IN_A_BOUND_TURN)
