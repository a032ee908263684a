"""Calls that steered the work and are spent leave no trace."""

import pytest

from schemas.inbox import PartSeen
from schemas.plan import ReplaceOutput
from services.domain.edits import faults
from services.plan.lanes import control_calls
from tests.helpers.harness import Harness, edits_of, text_part, thought
from tests.helpers.tool_calls import LINES, after_a_pause, answers, called, requested, returned, view_of, with_lane

SPENT = control_calls.LANE
RECEIPT = (
    "Queued to be dropped: 11-12, 15, 47. "
    "Queued, and kept while among the newest 20 and there is room for it: 65, 68, 78, 80."
)
TODOS = {"todos": [{"content": "Mend the steps", "status": "pending", "priority": "medium"}]}


def opted_in() -> Harness:
    return with_lane(SPENT, smart_drops=True)


@pytest.mark.parametrize("tool", ["ctx_reduce", "annals_ctx_reduce", "mcp__annals__ctx_reduce", "mcp_ctx_reduce"])
def test_a_drop_request_goes_with_its_answer(tool: str) -> None:
    harness = with_lane(SPENT)
    harness.assistant(text_part("tidy"), called(tool, {"drop": "11,12"}, RECEIPT))
    harness.user("so")

    call = after_a_pause(harness)

    assert [[part.kind for part in message.parts] for message in call.served] == [["text"], ["text"], ["text"]]


def test_a_message_that_only_made_the_request_goes_with_its_thinking() -> None:
    harness = with_lane(SPENT)
    harness.assistant(thought(), called("ctx_reduce", {"drop": "11"}, RECEIPT))
    harness.assistant(text_part("done"))
    harness.user("so")

    assert [message.id for message in after_a_pause(harness).served] == ["m1", "m3", "m4"]


def test_two_wishes_in_one_message_leave_nothing_of_it() -> None:
    harness = with_lane(SPENT)
    harness.assistant(
        thought(),
        called("ctx_reduce", {"drop": "11"}, RECEIPT, call="c1"),
        called("ctx_reduce", {"drop": "12"}, RECEIPT, call="c2"),
    )
    harness.assistant(text_part("done"))
    harness.user("so")

    assert [message.id for message in after_a_pause(harness).served] == ["m1", "m3", "m4"]


def test_signed_thinking_of_the_running_turn_keeps_the_request_next_to_it() -> None:
    harness = with_lane(SPENT)
    harness.assistant(thought(signed=True), called("ctx_reduce", {"drop": "11"}, RECEIPT))
    harness.assistant(text_part("done"))

    call = after_a_pause(harness)

    assert [part.kind for part in call.served[1].parts] == ["reasoning", "tool"]


def test_signed_thinking_of_an_older_turn_goes_with_the_request() -> None:
    harness = with_lane(SPENT)
    harness.assistant(thought(signed=True), called("ctx_reduce", {"drop": "11"}, RECEIPT))
    harness.assistant(text_part("done"))
    harness.user("so")

    assert [message.id for message in after_a_pause(harness).served] == ["m1", "m3", "m4"]


def test_a_mark_of_the_harness_keeps_the_request_next_to_it() -> None:
    harness = with_lane(SPENT)
    mark = PartSeen(message="", type="compaction", text="summary")
    harness.assistant(mark, called("ctx_reduce", {"drop": "11"}, RECEIPT))
    harness.user("so")

    assert [part.kind for part in after_a_pause(harness).served[1].parts] == ["compaction", "tool"]


def test_an_answer_whose_call_is_listed_no_more_goes_without_it() -> None:
    harness = with_lane(SPENT)
    call = harness.assistant(text_part("tidy"), requested("ctx_reduce", {"drop": "11" * 1000}, call="c"))
    harness.add_message("tool", text_part("there"), returned("ctx_reduce", call="c", output=RECEIPT))
    harness.user("so")
    harness.step()
    harness.without(call)
    edits = edits_of(harness.step().made)

    assert [type(edit) for edit in edits if edit.lane == "spent"] == [ReplaceOutput]


def test_where_roles_must_alternate_the_only_answer_to_a_person_stays() -> None:
    harness = with_lane(SPENT)
    harness.capabilities = ("requires_alternation",)
    harness.assistant(called("ctx_reduce", {"drop": "11"}, RECEIPT * 4))
    harness.user("so")

    call = after_a_pause(harness)

    assert call.made.faults == ()
    assert answers(call) == ["[dropped §2§]"]


def test_of_calls_that_cannot_go_together_one_stays_and_the_others_go() -> None:
    """Without both of them two answers would stand side by side."""
    harness = with_lane(SPENT)
    harness.capabilities = ("requires_alternation",)
    for n in range(3):
        harness.assistant(
            text_part("tidy"), *(requested("ctx_reduce", {"drop": str(at)}, call=f"c{n}.{at}") for at in (1, 2))
        )
        harness.add_message("tool", *(returned("ctx_reduce", call=f"c{n}.{at}", output=RECEIPT) for at in (1, 2)))
    harness.assistant(text_part("done"))
    harness.user("so")

    call = after_a_pause(harness)

    assert call.made.faults == ()
    assert answers(call) == ["[dropped §4§]", "[dropped §7§]", "[dropped §10§]"]
    assert faults(call.served, harness.capabilities) == []


def test_a_fresh_request_stays() -> None:
    harness = with_lane(SPENT, protected=3)
    harness.assistant(called("ctx_reduce", {"drop": "1"}, RECEIPT))
    harness.user("so")

    assert answers(after_a_pause(harness)) == [RECEIPT]


def test_lists_of_things_to_do_go_when_a_newer_one_was_written() -> None:
    harness = opted_in()
    harness.assistant(text_part("a"), called("todowrite", TODOS, "first" + LINES, call="c1"))
    harness.assistant(text_part("b"), called("todoread", {}, "read" + LINES, call="c2"))
    harness.assistant(text_part("c"), called("TodoWrite", TODOS, "second" + LINES, call="c3"))
    harness.assistant(text_part("d"), called("todoread", {}, "after" + LINES, call="c4"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == ["second" + LINES, "after" + LINES]


@pytest.mark.parametrize("tool", ["todowrite", "todoread", "plan_exit"])
def test_without_consent_only_wishes_to_drop_are_spent(tool: str) -> None:
    harness = with_lane(SPENT)
    harness.assistant(text_part("a"), called(tool, {}, call="c1"))
    harness.assistant(text_part("b"), called("todowrite", TODOS, call="c2"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == [LINES, LINES]


@pytest.mark.parametrize(("output", "goes"), [("The plan is approved. " * 4, True), ("The plan: " + LINES, False)])
def test_a_receipt_goes_and_an_answer_that_says_something_stays(output: str, *, goes: bool) -> None:
    harness = opted_in()
    harness.assistant(text_part("a"), called("plan_exit", {}, output))
    harness.user("so")

    assert answers(after_a_pause(harness)) == ([] if goes else [output])


def test_other_tools_are_left_alone() -> None:
    harness = opted_in()
    harness.assistant(called("bash", {"command": "ls"}, call="c1"), called("task", {"prompt": "x"}, call="c2"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == [LINES, LINES]


def test_what_it_drops_bears_its_name_and_is_counted() -> None:
    harness = opted_in()
    for n in range(3):
        harness.assistant(text_part("x"), called("ctx_reduce", {"drop": "1"}, RECEIPT, call=f"c{n}"))
    harness.user("so")
    state = after_a_pause(harness).state
    made = control_calls.rebase(view_of(state, harness.limits))

    assert made.dropped == (3, 5, 7)
    assert {edit.lane for edit in made.edits} == {"spent"}
