"""Of equal questions only the newest answer stays."""

import pytest

from services.plan.lanes import duplicates
from tests.helpers.harness import rebases
from tests.helpers.tool_calls import LINES, after_a_pause, answers, called, requested, returned, view_of, with_lane

DUPLICATES = duplicates.LANE
SAME = {"filePath": "a.py"}


def test_the_older_of_two_equal_readings_is_dropped_wherever_they_stand() -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called("read", SAME, call="c1"))
    harness.step()
    harness.assistant(called("bash", {"command": "ls"}, call="c2"))
    harness.user("again")
    harness.assistant(called("read", SAME, call="c3"))
    harness.user("so")

    call = after_a_pause(harness)

    assert call.causes == ("idle",)
    assert answers(call) == ["[dropped §2§]", LINES, LINES]
    assert [event.dropped for event in rebases(call.made)] == [[2]]


def test_two_equal_calls_in_one_message_are_duplicates() -> None:
    """Tags 2 and 3: the older is dropped, the newer stays."""
    harness = with_lane(DUPLICATES)
    harness.assistant(called("mcp_read", SAME, call="c1"), called("mcp_read", SAME, call="c2"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == ["[dropped §2§]", LINES]


def test_the_newest_copy_lets_older_ones_go_though_it_is_protected_itself() -> None:
    harness = with_lane(DUPLICATES, protected=2)
    for n in range(3):
        harness.assistant(called("grep", {"pattern": "x"}, call=f"c{n}"))

    assert answers(after_a_pause(harness)) == ["[dropped §2§]", LINES, LINES]


def test_a_change_of_the_file_in_between_makes_the_older_reading_only_staler() -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called("read", SAME, call="c1"))
    harness.assistant(called("edit", {**SAME, "newString": "x"}, "done", call="c2"))
    harness.assistant(called("read", SAME, call="c3"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == ["[dropped §2§]", "done", LINES]


@pytest.mark.parametrize("tool", ["bash", "edit", "task", "mcp__wiki__read"])
def test_what_may_change_something_is_never_a_duplicate(tool: str) -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called(tool, SAME, call="c1"))
    harness.assistant(called(tool, SAME, call="c2"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == [LINES, LINES]


def test_an_answer_that_failed_does_not_stand_for_one_that_came() -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called("read", SAME, call="c1"))
    harness.assistant(called("read", SAME, "no such file", call="c2", status="error"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == [LINES, "no such file"]


def test_a_copy_that_turned_out_to_have_failed_does_not_stand_for_the_older_one_either() -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called("read", SAME, call="c1"))
    newest = harness.assistant(called("read", SAME, call="c2"))
    harness.user("so")
    harness.step()
    harness.change(f"{newest}.0", output="no such file", status="error")

    assert answers(after_a_pause(harness)) == [LINES, "no such file"]


def test_what_the_harness_keeps_behind_its_own_summary_is_dropped_like_all_else() -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called("read", SAME, call="c1"))
    harness.step()
    harness.compact()
    harness.assistant(called("read", SAME, call="c2"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == ["[dropped §2§]", LINES]


def test_a_copy_that_the_agent_wants_to_drop_does_not_stand_for_the_older_one() -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called("read", SAME, call="c1"))
    harness.assistant(called("read", SAME, call="c2"))
    harness.user("so")
    harness.step()
    harness.drop(3)

    assert answers(after_a_pause(harness)) == [LINES, "[dropped §3§]"]


def test_an_answer_too_short_to_save_anything_stays() -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called("read", SAME, "short", call="c1"))
    harness.assistant(called("read", SAME, "short", call="c2"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == ["short", "short"]


def test_calls_and_results_in_two_messages_are_distinguished_by_their_calls() -> None:
    """Call ids come back: only with the message that made it a call is the same one."""
    harness = with_lane(DUPLICATES)
    for arguments in (SAME, {"filePath": "b.py"}, SAME):
        harness.assistant(requested("read", arguments, call="c:1"))
        harness.add_message("tool", returned("read", call="c:1"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == ["[dropped §2§]", LINES, LINES]


def test_what_it_drops_bears_its_name_and_is_counted() -> None:
    harness = with_lane(DUPLICATES)
    for n in range(5):
        harness.assistant(called("read", SAME, call=f"c{n}"))
    harness.user("so")
    made = duplicates.rebase(view_of(after_a_pause(harness).state, harness.limits))

    assert made.dropped == (2, 3, 4, 5)
    assert made.reclaimed == 4 * (100 - 4)
    assert {edit.lane for edit in made.edits} == {"duplicates"}


def test_a_dropped_copy_does_not_come_back_when_the_newest_one_is_removed() -> None:
    harness = with_lane(DUPLICATES)
    harness.assistant(called("read", SAME, call="c1"))
    newest = harness.assistant(called("read", SAME, call="c2"))
    harness.user("so")
    after_a_pause(harness)
    harness.without(newest)
    harness.restart()

    assert answers(harness.step()) == ["[dropped §2§]"]
