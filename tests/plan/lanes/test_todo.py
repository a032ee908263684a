import json

import pytest
from hypothesis import given

from schemas.events import TodoCaptured
from schemas.inbox import Mode, Todo, TodoSeen
from schemas.plan import CutBefore, InsertPair, OmitMessage, ReplaceText, Withdraw
from services.domain.limits import Limits
from services.domain.tokens import tokens
from services.plan.lanes import Change, todo
from services.plan.session.state import with_edits
from tests.helpers.adding import (
    A_TODO,
    B_TODO,
    C_TODO,
    STORIES,
    Story,
    play,
    wildly,
    with_lane,
)
from tests.helpers.harness import Harness, asked, edits_of, ran, replace, text_part, thought
from tests.helpers.tool_calls import after_a_pause, called, requested, returned, view_of

TODO = todo.LANE
STATE = (
    '[{"content":"A","status":"in_progress","priority":"high"},'
    '{"content":"B","status":"completed","priority":"medium"},'
    '{"content":"C","status":"cancelled","priority":"medium"}]'
)
PRETTY = """\
[
  {
    "content": "A",
    "status": "in_progress",
    "priority": "high"
  },
  {
    "content": "B",
    "status": "completed",
    "priority": "medium"
  },
  {
    "content": "C",
    "status": "cancelled",
    "priority": "medium"
  }
]"""
FILLER = "line\n" * 4_000


def planned(*todos: Todo, output: str = "written") -> Harness:
    """A turn in which the agent has written its list (m2, tag 2), and done much (m3, tag 3)."""
    harness = with_lane(TODO)
    harness.user("go")
    harness.assistant(called("todowrite", {"todos": []}, output))
    harness.report(TodoSeen(todos))
    harness.assistant(ran(FILLER, call="d"))
    harness.assistant(text_part("done"))
    return harness


def rebased(harness: Harness, *drops: int) -> Harness:
    """All is sent, and sent once more with these tags dropped."""
    harness.user("next")
    harness.step()
    if drops:
        harness.drop(*drops)
    after_a_pause(harness)
    return harness


def pairs(harness: Harness) -> dict[str, InsertPair]:
    """Message -> the pair that the harness holds for it."""
    return {edit.message: edit for edit in harness.edits.values() if isinstance(edit, InsertPair)}


def lists(harness: Harness) -> dict[str, list[str]]:
    """Message -> what the list at its end says."""
    return {name: [line["content"] for line in json.loads(pair.output)] for name, pair in pairs(harness).items()}


def test_the_state_and_its_id_are_pure_functions_of_the_list() -> None:
    captured = TodoCaptured(
        contents=["A", "B", "C"], statuses=["in_progress", "completed", "cancelled"], priorities=["high", "", "medium"]
    )
    state = todo.json_of(todo.lines_of(captured))
    assert STATE == state
    assert "annals_todo_b2ade00b8fa46443" == todo.call_id(state)


def test_a_list_whose_call_was_dropped_stands_behind_the_newest_answer() -> None:
    """Both calls are dropped (tags 2 and 3) at one rebase."""
    harness = rebased(planned(A_TODO, B_TODO, C_TODO), 2, 3)
    assert pairs(harness) == {
        "m4": InsertPair(
            message="m4",
            call="annals_todo_b2ade00b8fa46443",
            tool="todowrite",
            input=f'{{"todos":{STATE}}}',
            output=PRETTY,
            by=(harness.session.conversation.parts["m2.0"].seq,),
            lane="todo",
        )
    }
    assert ["text", "tool"] == [part.kind for part in harness.step().served[3].parts]


def test_a_list_is_shown_with_the_next_rebase_after_its_call_has_gone() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    assert {"m4": ["A"]} == lists(harness)


@pytest.mark.parametrize("output", ["Todos have been modified.", json.dumps([{"content": "A", "status": "pending"}])])
def test_a_list_that_the_agent_sees_in_its_own_call_is_not_shown_twice(output: str) -> None:
    harness = rebased(planned(Todo("A"), output=output), 3)
    assert {} == pairs(harness)


def test_a_list_is_shown_where_the_visible_call_wrote_another_one() -> None:
    old = json.dumps([{"content": "old", "status": "pending", "priority": "low"}], indent=2)
    harness = rebased(planned(Todo("A"), output=old), 3)
    assert {"m4": ["A"]} == lists(harness)


def test_only_the_answer_of_the_newest_call_is_asked_for() -> None:
    harness = planned(A_TODO)
    harness.assistant(called("TodoWrite", {}, "again", call="e"))
    harness.step()
    assert ("m5.0",) == todo.needs(view_of(harness.session, Limits()))
    harness.report(TodoSeen((B_TODO,)))
    assert () == todo.needs(view_of(harness.session, Limits()))


def test_where_the_list_is_shown_already_nothing_is_asked_for() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    harness.assistant(called("todowrite", {}, "again", call="e"))
    harness.step()
    assert () == todo.needs(view_of(harness.session, Limits()))


def test_a_call_that_failed_has_written_nothing() -> None:
    harness = planned(A_TODO)
    harness.assistant(called("todowrite", {}, "no such tool", call="e", status="error"))
    harness.step()
    assert ("m2.0",) == todo.needs(view_of(harness.session, Limits()))


def test_a_list_whose_call_was_summarised_away_is_shown() -> None:
    harness = planned(A_TODO)
    harness.step()
    harness.compact()
    harness.without("m2")
    assert ["m4"] == [edit.message for edit in edits_of(harness.step().made) if isinstance(edit, InsertPair)]


def test_a_list_does_not_stand_behind_words_that_were_dropped() -> None:
    harness = planned(A_TODO)
    harness.step()
    text = ReplaceText(part="m4.0", text="[dropped §4§]", lane="drops")
    view = view_of(with_edits(harness.session, [text]), Limits(), {"m2.0": "[]"})
    assert ["m3"] == [edit.message for edit in todo.rebase(view).edits if isinstance(edit, InsertPair)]


def test_the_call_has_the_name_that_the_harness_gives_to_the_tool() -> None:
    harness = with_lane(TODO)
    harness.user("go")
    harness.assistant(requested("TodoWrite", {}, call="t"))
    harness.add_message("user", returned("TodoWrite", call="t", output="ok"))
    harness.report(TodoSeen((A_TODO,)))
    harness.assistant(ran(FILLER))
    rebased(harness, 2, 3)
    assert ["TodoWrite"] == [pair.tool for pair in pairs(harness).values()]


@pytest.mark.parametrize("todos", [(), (B_TODO, C_TODO)])
def test_a_list_of_which_nothing_is_open_is_not_shown(todos: tuple[Todo, ...]) -> None:
    assert {} == pairs(rebased(planned(*todos), 2, 3))


def test_between_rebases_the_list_stays_as_it_was_shown() -> None:
    """S1 at m4; the agent writes S2; S1 stays at m4; at a rebase S2 is at the newest answer, and m4 has none."""
    harness = rebased(planned(A_TODO), 2, 3)
    harness.report(TodoSeen((A_TODO, Todo("D"))))
    harness.assistant(ran(FILLER, call="f"))
    harness.user("on")
    assert () == harness.step().causes
    harness.restart()
    harness.restart_harness()
    assert {"m4": ["A"]} == lists(harness)
    last = harness.assistant(text_part("so"))
    rebased(harness, 6)
    assert {last: ["A", "D"]} == lists(harness)


def test_a_list_that_is_the_same_does_not_move() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    harness.assistant(ran(FILLER, call="f"))
    harness.assistant(text_part("so"))
    rebased(harness, 6)
    assert {"m4": ["A"]} == lists(harness)


def test_a_list_that_is_done_is_taken_away() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    harness.report(TodoSeen((B_TODO,)))
    harness.user("on")
    call = after_a_pause(harness)
    (edit,) = [edit for edit in edits_of(call.made) if isinstance(edit, Withdraw)]
    assert ("pair:m4", "todo") == (edit.what, edit.lane)
    assert {} == pairs(harness)


def test_what_a_list_costs_is_saved_with_it() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    (pair,) = pairs(harness).values()
    assert 0 == todo.rebase(view_of(harness.session, Limits())).reclaimed
    harness.report(TodoSeen(()))
    saved = todo.rebase(view_of(harness.session, Limits())).reclaimed
    assert tokens(len(pair.input) + len(pair.output)) == saved


def test_a_change_of_the_list_alone_is_no_reason_for_a_rebase() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    harness.report(TodoSeen((Todo("D"), Todo("E"))))
    harness.user("on")
    assert () == harness.step().causes
    assert {"m4": ["A"]} == lists(harness)


def test_a_list_moves_where_its_message_is_served_no_more() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    last = harness.assistant(text_part("later"))
    harness.without("m4")
    harness.step()
    assert {last: ["A"]} == lists(harness)


def test_a_list_comes_back_with_no_message_that_has_gone_with_it() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    gone = harness.messages[3]
    harness.without("m4")
    harness.step()
    harness.messages.append(gone)
    harness.user("on")
    call = harness.step()
    assert 1 == sum(part.id.startswith("annals:pair:") for message in call.served for part in message.parts)


def test_a_list_stays_though_the_agent_writes_the_same_again() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    harness.assistant(called("todowrite", {}, "written", call="e"), ran(FILLER, call="f"))
    harness.report(TodoSeen((A_TODO,)))
    harness.assistant(text_part("so"))
    rebased(harness, 6)
    assert {"m4": ["A"]} == lists(harness)


def test_a_list_stands_behind_no_answer_that_is_left_out() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    without = with_edits(harness.session, [OmitMessage(message="m4")])
    change = todo.rebase(view_of(without, Limits()))
    assert ["m3"] == [edit.message for edit in change.edits if isinstance(edit, InsertPair)]
    assert ["pair:m4"] == [edit.what for edit in change.edits if isinstance(edit, Withdraw)]
    change = todo.rebase(view_of(with_edits(harness.session, [CutBefore(message="m5")]), Limits()))
    assert ["pair:m4"] == [edit.what for edit in change.edits if isinstance(edit, Withdraw)]


def test_a_list_whose_call_was_cut_away_is_shown() -> None:
    harness = planned(A_TODO)
    harness.step()
    view = view_of(harness.session, Limits(), {"m2.0": "written"})
    assert () == todo.rebase(view).edits
    cut = with_edits(harness.session, [CutBefore(message="m3")])
    assert 1 == len(todo.rebase(replace(view, session=cut)).edits)


def test_a_call_whose_result_is_another_message_is_not_torn_from_it() -> None:
    harness = with_lane(TODO)
    harness.user("go")
    first = harness.assistant(text_part("look"))
    harness.assistant(asked("c1"))
    harness.add_message("tool", replace(ran(FILLER, call="c1"), type="tool_result"))
    harness.report(TodoSeen((A_TODO,)))
    harness.step()
    change = todo.rebase(view_of(harness.session, Limits()))
    assert [first] == [edit.message for edit in change.edits if isinstance(edit, InsertPair)]


def test_where_calls_need_thinking_the_list_stands_behind_an_answer_that_has_both() -> None:
    harness = with_lane(TODO)
    harness.capabilities = ("requires_reasoning_on_tool_calls",)
    harness.user("go")
    harness.assistant(thought(), text_part("plain"))
    harness.step()
    harness.report(TodoSeen((A_TODO,)))
    assert () == todo.rebase(view_of(harness.session, Limits())).edits
    both = harness.assistant(thought(), ran("FILE"))
    harness.assistant(ran("FILE", call="d"))
    harness.step()
    change = todo.rebase(view_of(harness.session, Limits()))
    assert [both] == [edit.message for edit in change.edits if isinstance(edit, InsertPair)]


def test_a_list_waits_for_the_end_of_a_turn_whose_thinking_is_signed() -> None:
    harness = planned(A_TODO)
    harness.capabilities = ("binds_signed_thinking",)
    harness.user("go")
    harness.assistant(thought(signed=True), ran("FILE", call="e"))
    harness.drop(2)
    harness.step()
    change = todo.rebase(view_of(harness.session, Limits()))
    assert ((), 1) == (change.edits, len(change.delays))
    harness.user("next")
    harness.step()
    assert 1 == len(todo.rebase(view_of(harness.session, Limits())).edits)


def test_a_list_that_stands_waits_for_nothing() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    harness.capabilities = ("binds_signed_thinking",)
    harness.assistant(thought(signed=True), ran("FILE", call="e"))
    harness.report_step()
    assert Change() == todo.rebase(view_of(harness.session, Limits()))


@pytest.mark.parametrize(("mode", "is_shown"), [("primary", True), ("reduce_off", True), ("subagent", False)])
def test_only_primary_sessions_are_shown_a_list(mode: Mode, is_shown: bool) -> None:  # noqa: FBT001 - parametrized
    harness = planned(A_TODO)
    harness.mode = mode
    assert is_shown == (pairs(rebased(harness, 2, 3)) != {})


def test_it_can_be_switched_off() -> None:
    harness = rebased(planned(A_TODO), 2, 3)
    harness.limits = replace(harness.limits, todo=False)
    assert ["pair:m4"] == [
        edit.what for edit in todo.rebase(view_of(harness.session, harness.limits)).edits if isinstance(edit, Withdraw)
    ]


@wildly
@given(STORIES)
def test_over_any_session_it_shows_one_list_at_most(story: Story) -> None:
    for moment in play(story, TODO):
        shown = [*moment.session.plan.pairs]
        assert len(shown) <= 1
