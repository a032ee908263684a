"""What is cut away: no lane edits it, and nothing of it is counted."""

import pytest
from hypothesis import given

from schemas.plan import AnyEdit, AppendText, CutBefore, InsertPair, SetHead, Withdraw
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS, Change, Lane, View
from services.plan.lanes.index import in_order
from services.plan.planner.plan import decide
from services.plan.provider_rules.signed_thinking import place
from services.plan.session.costs import cost, heads
from services.plan.session.state import Session, served_tokens, with_edits
from tests.helpers.adding import STORIES, Story, play, wildly
from tests.helpers.harness import Call, Harness, edits_of, folds, ran, rebases, replace, text_part, thought
from tests.helpers.tool_calls import called

LIMITS = Limits(protected_tags=1, clear_reasoning_age=1, min_reclaim=1, smart_drops=True, caveman=True)
BIG = "FILE\n" * 500
OTHERS = tuple(lane for lane in LANES if lane.name != "history")
"""All lanes but the one that cuts."""


def cutting(message: str) -> Lane:
    """Cuts before this message, as soon as there is a rebase."""

    def rebase(view: View) -> Change:
        edit = CutBefore(message=message)
        return Change() if view.session.plan.cut == edit else Change(edits=(edit,))

    return Lane("cutting", rebase=rebase)


def working(*lanes: Lane) -> Harness:
    """Four turns (m1 to m8), in each of them all that lanes want to change; the last tag is the highest of eight."""
    harness = Harness(LIMITS, lanes)
    for turn in range(4):
        harness.user("look\n<system-reminder>be quick</system-reminder>")
        failed = replace(ran("no such file: " + "x" * 300, call=f"e{turn}"), status="error")
        read = called("read", {"filePath": "a.py"}, BIG, call=f"r{turn}")
        harness.assistant(thought("because " * 40), text_part("<think>well</think>so it is"), read, failed)
    return harness


def rebased(harness: Harness) -> Call:
    """All is sent, and sent once more when no cache is left."""
    harness.step()
    harness.use(1000)
    harness.wait(301)
    return harness.step()


def edited(harness: Harness, edits: list[AnyEdit]) -> list[int]:
    """The places of the messages that these are about, without heads and cuts."""
    return [place(harness.session, edit) for edit in edits if not isinstance(edit, CutBefore | SetHead)]


def test_no_lane_edits_what_was_cut_away() -> None:
    harness = working(cutting("m5"), *OTHERS)
    harness.drop(2, 3, 9)
    call = rebased(harness)

    assert min(edited(harness, edits_of(call.made))) == 5
    assert {2, 3, 9} <= set(harness.session.drops.dropped)
    assert [message.id for message in call.served][:1] == ["m5"]
    assert next(in_order(harness.session)).name == "m5"


def test_without_the_cut_the_same_lanes_edit_all_of_it() -> None:
    harness = working(*OTHERS)
    harness.drop(2, 3, 9)
    assert min(edited(harness, edits_of(rebased(harness).made))) == 1


def test_a_harness_that_starts_anew_gets_nothing_for_what_was_cut_away() -> None:
    harness = working(cutting("m5"), TAGS, DROPS)
    rebased(harness)
    harness.restart_harness()
    harness.user("on")
    assert min(edited(harness, edits_of(harness.step().made))) > 5


def test_only_what_is_behind_the_cut_is_counted() -> None:
    harness = working(cutting("m5"), TAGS, DROPS)
    call = rebased(harness)
    messages = harness.session.conversation

    assert served_tokens(harness.session) == cost(messages, harness.session.plan, messages.after(4))
    assert [event.tokens_after for event in rebases(call.made)] == [served_tokens(harness.session)]
    harness.without("m5")
    harness.step()
    assert harness.session.cut == 0
    assert served_tokens(harness.session) == cost(
        harness.session.conversation, harness.session.plan, harness.session.conversation.after(0)
    )


@pytest.mark.parametrize(
    "edit",
    [AppendText(part="m2.1", text="more " * 100), InsertPair(message="m2", call="c", tool="t", input="{}", output=BIG)],
    ids=["a text", "a call"],
)
def test_what_was_added_to_it_is_not_counted_either(edit: AnyEdit) -> None:
    harness = working(TAGS, DROPS)
    harness.step()
    before = with_edits(harness.session, [CutBefore(message="m5")])
    after = with_edits(before, [edit])
    assert served_tokens(after) == served_tokens(before)
    assert served_tokens(with_edits(after, [Withdraw(what="cut")])) > served_tokens(harness.session)


def listed(session: Session) -> int:
    """The prompt, message by message."""
    return cost(session.conversation, session.plan, session.conversation.after(session.cut - 1)) + heads(session.plan)


@wildly
@given(STORIES)
def test_in_any_session_the_messages_and_the_heads_make_up_the_prompt(story: Story) -> None:
    moments = play(story, cutting("m4"))
    for moment, folded in zip(moments, folds(moment.facts for moment in moments), strict=True):
        assert served_tokens(moment.session) == max(0, listed(moment.session))
        assert moment.session.plan.saved == folded.plan.saved
        if moment.session.cut:
            placed = [*in_order(moment.session)]
            assert all(one.ordinal >= moment.session.cut for one in placed)


def test_what_the_lanes_have_looked_at_serves_again_when_the_texts_are_there() -> None:
    harness = working(*LANES)
    harness.step()
    harness.drop(1)
    harness.flush()
    harness.report_step()
    view = View(harness.session, LIMITS)
    made = decide(view)
    texts = dict.fromkeys(made.needs, BIG)

    assert made.needs != ()
    assert [*made.index.placed] == [*in_order(harness.session)]
    assert decide(replace(view, texts=texts, index=made.index)) == decide(replace(view, texts=texts))
