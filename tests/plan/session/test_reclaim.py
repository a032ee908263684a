from collections.abc import Sequence

from hypothesis import given

from schemas.codec import encode_edits
from schemas.events import PlanExtended
from schemas.plan import AnyEdit, Cut, CutBefore, OmitArc, ReplaceOutput, Restore, Withdraw
from services.domain.tokens import tokens
from services.plan.lanes import DROPS, TAGS, Lane, eviction, reclaim_nudge, todo
from services.plan.session.reclaim import OUTPUTS, worth
from services.plan.session.state import Session
from tests.helpers.adding import STORIES, Story, play, wildly, with_lane
from tests.helpers.harness import Harness, answered, asked, folds, ran, replace, text_part, with_picture
from tests.helpers.tool_calls import called

OUTPUT = "x" * 400
"""100 tokens."""


def working(*outputs: str) -> Harness:
    """A question, and a message for each output (tags 2, 3, ...)."""
    harness = with_lane(Lane("none"))
    harness.user("go")
    for n, output in enumerate(outputs):
        harness.assistant(ran(output, call=f"c{n}"))
    harness.step()
    return harness


def plan(harness: Harness, *edits: AnyEdit, inherited: Sequence[int] = (), queued: Sequence[int] = ()) -> None:
    """The next revision."""
    extended = PlanExtended(
        revision=harness.session.revision + 1,
        step="s1",
        as_of=harness.session.seq,
        edits=encode_edits(edits),
        edit_count=len(edits),
        tokens_before=0,
        tokens_after=0,
        inherited=list(inherited),
        queued=list(queued),
    )
    harness.append_plan([extended], ())


def counts(harness: Harness) -> tuple[int, int, int]:
    found = harness.session.reclaim
    return found.tokens, found.count, found.oldest


def test_outputs_count_and_texts_do_not() -> None:
    harness = working(OUTPUT, OUTPUT)
    harness.assistant(text_part("x" * 4000))
    harness.step()
    assert (200, 2, 2) == counts(harness)


def test_pictures_in_outputs_count_by_their_pixels() -> None:
    harness = working(OUTPUT)
    harness.assistant(with_picture(ran(OUTPUT, call="p")), with_picture(ran("", call="q")))
    harness.step()
    assert (100 + (100 + 1080) + 1080, 3, 2) == counts(harness)
    harness.drop(3)
    assert (100 + 1080, 2, 2) == counts(harness)


def test_a_call_that_has_no_answer_yet_counts_when_it_has_one() -> None:
    harness = working("")
    assert (0, 0) == counts(harness)[:2]
    harness.change("m2.0", output=OUTPUT)
    harness.step()
    assert (100, 1, 2) == counts(harness)


def test_what_is_to_be_dropped_counts_no_more() -> None:
    harness = working(OUTPUT, OUTPUT)
    harness.drop(2)
    assert (100, 1, 3) == counts(harness)


def test_what_is_not_listed_counts_when_it_is_again() -> None:
    harness = working(OUTPUT, OUTPUT)
    gone = harness.messages[1]
    harness.without("m2")
    harness.step()
    assert (100, 1, 3) == counts(harness)
    harness.messages.insert(1, gone)
    harness.step()
    assert (200, 2, 2) == counts(harness)


def test_what_was_summarised_away_counts_no_more_and_what_the_harness_keeps_does() -> None:
    harness = working(OUTPUT, OUTPUT)
    harness.compact()
    harness.without("m2")
    harness.assistant(ran(OUTPUT, call="d"))
    harness.step()
    assert (200, 2, 3) == counts(harness)


def test_a_request_to_drop_what_was_summarised_away_ends_with_the_next_rebase() -> None:
    harness = working(OUTPUT, OUTPUT)
    harness.drop(2)
    harness.compact()
    harness.without("m2")
    harness.step()
    assert (100, 1, 3) == counts(harness)
    assert [] == list(harness.session.drops.queued)


def test_what_a_plan_says_to_be_dropped_counts_no_more() -> None:
    harness = working(OUTPUT, OUTPUT)
    plan(harness, inherited=[2])
    assert (100, 1, 3) == counts(harness)


def test_what_a_copy_takes_over_as_to_be_dropped_counts_no_more() -> None:
    harness = working(OUTPUT, OUTPUT)
    plan(harness, queued=(2,))
    assert (100, 1, 3) == counts(harness)


def test_a_drop_by_a_lane_counts_as_one_by_the_agent() -> None:
    harness = Harness(
        replace(with_lane(Lane("none")).limits, auto_drop_tool_age=1),
        lanes=(TAGS, DROPS, eviction.LANE),
    )
    harness.user("go")
    for n in range(6):
        harness.assistant(called("bash", {"command": "ls"}, OUTPUT, call=f"c{n}"))
    harness.step()
    before = counts(harness)
    harness.use(1000)
    harness.wait(301)
    assert ("idle",) == harness.step().causes
    assert (600, 6) == before[:2]
    assert recount(harness.session) == counts(harness)[:2]
    assert counts(harness)[0] < 600


def test_what_has_no_tag_cannot_be_dropped() -> None:
    harness = working(OUTPUT)
    harness.assistant(replace(ran(OUTPUT), status="error"))
    harness.step()
    assert (100, 1, 2) == counts(harness)


def test_an_answer_that_says_something_else_now_counts_no_more() -> None:
    harness = working(OUTPUT, OUTPUT)
    plan(harness, ReplaceOutput(part="m2.0", text="short", lane="errors"))
    assert (100, 1, 3) == counts(harness)


def test_a_call_that_is_left_out_with_its_answer_counts_when_it_is_served_again() -> None:
    harness = working(OUTPUT)
    harness.assistant(asked("a"))
    harness.add_message("tool", answered("a", OUTPUT))
    harness.step()
    plan(harness, OmitArc(part="m3.0", parts=("m3.0", "m4.0")))
    assert (100, 1, 2) == counts(harness)
    plan(harness, Restore(part="m3.0"))
    assert (200, 2, 2) == counts(harness)


def test_what_history_stands_for_counts_no_more_unless_it_stays() -> None:
    harness = working(OUTPUT, OUTPUT, OUTPUT)
    plan(harness, CutBefore(message="m4", remaining=("m3.0",)))
    assert (200, 2, 3) == counts(harness)
    plan(harness, CutBefore(message="m4"))
    assert (100, 1, 4) == counts(harness)
    plan(harness, Withdraw(what=str(Cut())))
    assert (300, 3, 2) == counts(harness)


def test_what_was_cut_away_counts_when_the_message_of_the_cut_is_gone() -> None:
    harness = working(OUTPUT, OUTPUT, OUTPUT)
    plan(harness, CutBefore(message="m4"))
    harness.without("m4")
    harness.step()
    assert (200, 2, 2) == counts(harness)


def recount(session: Session) -> tuple[int, int]:
    """The same from scratch, the slow way."""
    found = [worth(session, name) for name in session.conversation.parts]
    return sum(found), sum(one > 0 for one in found)


def slow(session: Session) -> int:
    """The same once more, as a sentence: sent, numbered, not summarised away, not wished away, and shown whole."""
    total = 0
    for name, part in session.conversation.parts.items():
        is_numbered = part.number and part.number not in {*session.drops.dropped, *session.drops.queued}
        edit = session.plan.content(name)
        is_whole = edit is None or type(edit).__name__ in {"PrefixText", "Restore"}
        is_left_out = name in session.plan.in_arcs or part.recorded.message in session.plan.left_out
        if (
            part.recorded.kind in OUTPUTS
            and is_numbered
            and is_whole
            and not is_left_out
            and (session.conversation.place(name) >= max(1, session.cut) or name in _remaining(session))
        ):
            total += tokens(part.recorded.bytes) + part.recorded.attachment_tokens
    return total


def _remaining(session: Session) -> frozenset[str]:
    cut = session.plan.cut
    return frozenset(cut.remaining if cut is not None else ()) & {*session.conversation.parts}


@wildly
@given(STORIES)
def test_the_count_is_that_of_all_outputs_at_any_time(story: Story) -> None:
    moments = play(story, replace(reclaim_nudge.LANE, rebase=todo.rebase))
    for moment, folded in zip(moments, folds(moment.facts for moment in moments), strict=True):
        for session in (moment.session, moment.call.state):
            assert recount(session) == (session.reclaim.tokens, session.reclaim.count)
            assert slow(session) == session.reclaim.tokens
            first = session.reclaim.oldest
            assert not any(worth(session, session.conversation.numbered.get(number, "")) for number in range(1, first))
        nudge = moment.session.reclaim.nudge
        if nudge:
            newer = range(nudge.number + 1, moment.session.conversation.last_number + 1)
            assert nudge.since == sum(
                worth(moment.session, moment.session.conversation.numbered.get(n, "")) for n in newer
            )
        assert folded.reclaim == moment.session.reclaim
