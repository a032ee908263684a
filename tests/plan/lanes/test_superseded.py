"""Work on files goes when later work has overtaken it."""

import pytest

from services.domain.tools.uses import MAX_SURE_BYTES
from services.plan.lanes import superseded
from services.plan.lanes.superseded import MAX_READINGS
from tests.helpers.harness import Harness, text_part, thought
from tests.helpers.tool_calls import LINES, after_a_pause, answers, called, requested, returned, view_of, with_lane

SUPERSEDED = superseded.LANE
FILE = {"filePath": "a.py"}
LONG = "x" * 1500


def opted_in(**limits: object) -> Harness:
    return with_lane(SUPERSEDED, **{"smart_drops": True, **limits})  # type: ignore[arg-type]  # whatever a limit is


def played(*calls: tuple[str, dict[str, object], str], harness: Harness | None = None) -> list[str]:
    """The answers that are served after these calls, one in each message, and some words."""
    harness = harness or opted_in()
    for n, (tool, more, output) in enumerate(calls):
        harness.assistant(called(tool, {**FILE, **more}, output, call=f"c{n}"))
    harness.user("so")
    return answers(after_a_pause(harness))


def test_without_consent_nothing_is_overtaken() -> None:
    harness = with_lane(SUPERSEDED)

    assert played(("edit", {}, LINES), ("edit", {}, LINES), harness=harness) == [LINES, LINES]


@pytest.mark.parametrize("older", ["edit", "Edit", "multiedit", "NotebookEdit"])
@pytest.mark.parametrize("newer", ["edit", "write"])
def test_a_change_goes_when_the_file_was_changed_again(older: str, newer: str) -> None:
    assert played((older, {}, LINES), (newer, {}, LINES)) == ["[dropped §2§]", LINES]


def test_a_change_of_another_file_overtakes_nothing() -> None:
    assert played(("edit", {}, LINES), ("edit", {"filePath": "b.py"}, LINES)) == [LINES, LINES]


def test_a_file_that_was_written_whole_is_overtaken_only_by_being_written_again() -> None:
    assert played(("write", {}, LINES), ("edit", {}, LINES)) == [LINES, LINES]
    assert played(("write", {}, LINES), ("edit", {}, LINES), ("write", {}, LINES)) == [
        "[dropped §2§]", "[dropped §3§]", LINES
    ]  # fmt: skip


def test_a_failed_change_overtakes_nothing() -> None:
    harness = opted_in()
    harness.assistant(called("edit", FILE, call="c1"))
    harness.assistant(called("edit", FILE, "oldString not found", call="c2", status="error"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == [LINES, "oldString not found"]


@pytest.mark.parametrize(
    ("earlier", "later", "is_overtaken"),
    [
        ({}, {}, True),
        ({"offset": 100, "limit": 50}, {}, True),
        ({"offset": 100, "limit": 50}, {"offset": 50, "limit": 100}, True),
        ({"offset": 100, "limit": 50}, {"offset": 100, "limit": 49}, False),
        ({}, {"offset": 100, "limit": 50}, False),
        ({"offset": 5000, "limit": 50}, {}, False),
        ({"offset": -50}, {}, False),
        ({}, {"filePath": "b.py"}, False),
    ],
)
def test_a_reading_goes_when_all_its_lines_were_read_again(
    earlier: dict[str, object], later: dict[str, object], *, is_overtaken: bool
) -> None:
    assert played(("read", earlier, LINES), ("read", later, LINES)) == [
        "[dropped §2§]" if is_overtaken else LINES, LINES
    ]  # fmt: skip


def test_of_a_long_reading_nobody_knows_where_the_harness_has_cut_it() -> None:
    long = "y" * (MAX_SURE_BYTES + 1)

    assert played(("read", {"offset": 9, "limit": 9}, LINES), ("read", {}, long)) == [LINES, long]
    assert played(("read", {}, LINES), ("read", {"offset": 0}, long)) == ["[dropped §2§]", long]


def test_a_reading_before_a_change_goes_when_the_file_was_read_again_and_not_before() -> None:
    assert played(("read", {}, LINES), ("edit", {}, "ok")) == [LINES, "ok"]
    assert played(("read", {}, LINES), ("edit", {}, "ok"), ("read", {}, LINES)) == ["[dropped §2§]", "ok", LINES]


def test_what_was_read_of_a_file_goes_when_the_agent_has_written_it_whole() -> None:
    assert played(("read", {}, LINES), ("read", {"limit": 3}, LINES), ("write", {}, "ok")) == [
        "[dropped §2§]", "[dropped §3§]", "ok"
    ]  # fmt: skip


def test_long_arguments_go_with_their_call_and_short_ones_stay_real() -> None:
    harness = opted_in()
    harness.assistant(text_part("long"), called("edit", {**FILE, "newString": LONG}, "ok", call="c1"))
    harness.assistant(text_part("short"), called("edit", {**FILE, "newString": "x"}, call="c2"))
    harness.assistant(called("edit", FILE, "ok", call="c3"))
    harness.user("so")

    call = after_a_pause(harness)

    assert [[part.kind for part in message.parts] for message in call.served[1:4]] == [
        ["text"], ["text", "tool"], ["tool"]
    ]  # fmt: skip
    assert '"newString": "x"' in call.served[2].parts[1].input


def test_a_message_of_which_nothing_is_left_goes_with_its_thinking() -> None:
    harness = opted_in()
    harness.assistant(thought(), called("edit", {**FILE, "newString": LONG}, "ok", call="c1"))
    harness.assistant(thought(), called("edit", FILE, "ok", call="c2"))
    harness.user("so")

    assert [message.id for message in after_a_pause(harness).served] == ["m1", "m3", "m4"]


def test_signed_thinking_of_the_running_turn_keeps_its_call() -> None:
    """Without the capability nothing forbids an edit before it; what it was thought about must stay next to it."""
    harness = opted_in()
    harness.assistant(thought(signed=True), called("edit", {**FILE, "newString": LONG}, call="c1"))
    harness.assistant(called("edit", FILE, "ok", call="c2"))
    harness.assistant(text_part("so"))

    call = after_a_pause(harness)

    assert [part.kind for part in call.served[1].parts] == ["reasoning", "tool"]
    assert answers(call) == ["[dropped §2§]", "ok"]


def test_where_roles_must_alternate_a_message_between_two_of_a_person_stays() -> None:
    harness = opted_in()
    harness.capabilities = ("requires_alternation",)
    harness.assistant(called("edit", {**FILE, "newString": LONG}, call="c1"))
    harness.user("next")
    harness.assistant(called("edit", FILE, "ok", call="c2"))
    harness.user("so")

    call = after_a_pause(harness)

    assert call.made.faults == ()
    assert answers(call) == ["[dropped §2§]", "ok"]


def test_a_patch_of_several_files_goes_when_all_of_them_were_changed_again() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n*** Update File: b.py\n@@\n*** End Patch"
    harness = opted_in()
    harness.assistant(called("apply_patch", {"patchText": patch}, call="c1"))
    harness.assistant(called("edit", {"filePath": "a.py"}, call="c2"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == [LINES, LINES]

    harness.assistant(called("edit", {"filePath": "b.py"}, call="c3"))
    harness.user("so")

    assert answers(after_a_pause(harness)) == ["[dropped §2§]", LINES, LINES]


def test_calls_and_results_in_two_messages_go_together() -> None:
    harness = opted_in()
    for text in (LONG, "x"):
        harness.assistant(text_part("now"), requested("edit", {**FILE, "newString": text}, call="c"))
        harness.add_message("tool", returned("edit", call="c"))
    harness.user("so")

    call = after_a_pause(harness)

    assert [message.id for message in call.served] == ["m1", "m2", "m4", "m5", "m6"]
    assert [part.kind for part in call.served[1].parts] == ["text"]


def test_protected_work_stays_though_it_is_overtaken() -> None:
    assert played(("edit", {}, LINES), ("edit", {}, LINES), harness=opted_in(protected=4)) == [LINES, LINES]


def test_many_readings_of_one_file_cost_no_more_than_so_many_comparisons() -> None:
    """One in the window is found; those that are compared with too many are left alone."""
    spread: list[tuple[str, dict[str, object], str]] = [
        ("read", {"offset": 10 * n, "limit": 10}, LINES) for n in range(MAX_READINGS + 2)
    ]

    served = played(("read", {"offset": 0, "limit": 10}, LINES), *spread)

    assert served == [LINES] * (MAX_READINGS + 3)


def test_what_it_drops_bears_its_name_and_is_counted() -> None:
    harness = opted_in()
    for n in range(4):
        harness.assistant(called("edit", {**FILE, "newString": LONG if n % 2 else "x"}, call=f"c{n}"))
    harness.user("so")
    state = after_a_pause(harness).state
    made = superseded.rebase(view_of(state, harness.limits))

    assert made.dropped == (2, 3, 4)
    assert {edit.lane for edit in made.edits} == {"superseded"}
