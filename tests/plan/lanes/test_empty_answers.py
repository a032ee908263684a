import pytest

from schemas.inbox import Capability, PartSeen
from schemas.plan import AppendText, CutBefore, InsertPair, OmitMessage, SetHead, Withdraw
from services.plan.lanes import DROPS, TAGS, empty_answers, reasoning
from services.plan.session.state import with_edits
from tests.helpers.harness import Harness, attached, ran, replace, text_part, thought
from tests.helpers.stripping import (
    LIMITS,
    age,
    harness_with,
    rebased,
    view_of,
)

EMPTIED = empty_answers.LANE
REASONING = reasoning.LANE
LONG = "word " * 300
ALTERNATING: tuple[Capability, ...] = ("requires_alternation",)


def answered(*parts: PartSeen, capabilities: tuple[Capability, ...] = ()) -> Harness:
    """A question (tag 1), an answer (tags from 2 on), and enough behind it."""
    harness = harness_with(EMPTIED, LIMITS, *capabilities)
    harness.user("go")
    harness.assistant(*parts)
    age(harness)
    harness.step()
    return harness


def served(harness: Harness) -> list[str]:
    return [message.id for message in rebased(harness).served]


def test_an_answer_goes_with_the_last_of_its_texts() -> None:
    harness = answered(text_part(LONG), text_part(LONG))
    harness.drop(2)
    assert "m2" in served(harness)
    harness.drop(3)
    assert "m2" not in served(harness)


def test_an_answer_that_is_nothing_but_a_placeholder_goes() -> None:
    harness = answered(text_part("[dropped §3§]"), text_part(" "))
    assert [edit for edit in empty_answers.rebase(view_of(harness)).edits if isinstance(edit, OmitMessage)] != []


@pytest.mark.parametrize(
    "part",
    [attached(), ran("FILE"), text_part("more"), text_part("[dropped §3§] and more")],
    ids=lambda one: one.text,
)
def test_what_else_it_holds_keeps_it(part: PartSeen) -> None:
    harness = answered(text_part("[dropped §3§]"), part)
    assert empty_answers.rebase(view_of(harness)).edits == ()


def test_reasoning_that_stays_keeps_it() -> None:
    harness = answered(text_part("[dropped §3§]"), thought("hm"))
    young = view_of(harness)
    old = replace(young, limits=replace(LIMITS, clear_reasoning_age=3))
    young = replace(young, limits=replace(LIMITS, clear_reasoning_age=50))
    assert (len(empty_answers.rebase(old).edits), empty_answers.rebase(young).edits) == (1, ())


def test_what_only_a_person_sees_does_not_keep_it() -> None:
    harness = answered(text_part("[dropped §3§]"), text_part("a notice", ignored=True))
    assert empty_answers.rebase(view_of(harness)).edits != ()


def test_a_turn_of_a_person_is_never_left_out() -> None:
    harness = harness_with(EMPTIED)
    harness.user("[dropped §3§]")
    age(harness)
    harness.step()
    assert empty_answers.rebase(view_of(harness)).edits == ()


def test_reasoning_that_goes_with_what_was_dropped_does_not_keep_it() -> None:
    harness = answered(thought("because"), text_part(LONG))
    harness.lanes = (TAGS, DROPS, REASONING, EMPTIED)
    harness.drop(2)
    assert "m2" not in served(harness)
    assert {"part:m2.0", "message:m2"} <= harness.edits.keys()


@pytest.mark.parametrize(
    "edit",
    [
        AppendText(part="m2.0", text="a reminder"),
        InsertPair(message="m2", call="c", tool="todowrite", input="{}", output="[]"),
    ],
    ids=lambda edit: type(edit).__name__,
)
def test_what_was_added_to_it_keeps_it(edit: AppendText | InsertPair) -> None:
    harness = answered(text_part("[dropped §3§]"))
    view = view_of(harness)
    assert empty_answers.rebase(view).edits != ()
    assert empty_answers.rebase(replace(view, session=with_edits(view.session, [edit]))).edits == ()


# Where turns must alternate


def test_an_answer_between_two_prompts_stays_where_turns_must_alternate() -> None:
    harness = answered(text_part(LONG), capabilities=ALTERNATING)
    harness.drop(2)
    assert served(harness)[:3] == ["m1", "m2", "m3"]


def test_of_two_answers_one_may_go() -> None:
    harness = harness_with(EMPTIED, LIMITS, *ALTERNATING)
    harness.user("go")
    harness.assistant(text_part(LONG))
    harness.assistant(text_part(LONG))
    age(harness)
    harness.step()
    harness.drop(2, 3)
    assert served(harness)[:3] == ["m1", "m3", "m4"]


def test_an_answer_comes_back_when_two_prompts_would_meet_without_it() -> None:
    harness = harness_with(EMPTIED, LIMITS, *ALTERNATING)
    harness.user("go")
    harness.assistant(text_part(LONG))
    harness.assistant(text_part("ok"))
    age(harness)
    harness.step()
    harness.drop(2)
    assert "m2" not in served(harness)
    harness.without("m3")
    assert [message.id for message in harness.step().served][:3] == ["m1", "m2", "m4"]


def test_neither_the_first_nor_the_last_message_goes_where_turns_must_alternate() -> None:
    harness = harness_with(EMPTIED, LIMITS, *ALTERNATING)
    harness.assistant(text_part("[dropped §3§]"))
    harness.user("go")
    harness.assistant(text_part("[dropped §3§]"))
    harness.step()
    assert empty_answers.rebase(view_of(harness)).edits == ()


def test_a_head_and_a_cut_count_as_what_stands_before() -> None:
    harness = harness_with(EMPTIED, LIMITS, *ALTERNATING)
    harness.user("go")
    harness.assistant(text_part("so"))
    harness.assistant(text_part("[dropped §3§]"))
    harness.user("on")
    harness.step()
    view = view_of(harness)
    assert empty_answers.rebase(view).edits != ()
    cut = with_edits(view.session, [CutBefore(message="m3"), SetHead(slot=0, text="head")])
    assert empty_answers.rebase(replace(view, session=cut)).edits == ()


# What comes late


def test_an_answer_that_says_something_again_comes_back() -> None:
    harness = answered(text_part(LONG))
    harness.drop(2)
    assert "m2" not in served(harness)
    message = harness.messages[1]
    more = replace(text_part("late"), message="m2", part="m2.1", position=1)
    harness.messages[1] = replace(message, parts=(*message.parts, more))
    call = harness.step()
    assert [part.text for part in call.served[1].parts] == [
        "[dropped §2§]",
        f"§{harness.session.conversation.last_number}§ late",
    ]
    assert any(isinstance(edit, Withdraw) for revision in call.took for edit in revision.edits)
