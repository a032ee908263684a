import pytest
from hypothesis import given

from schemas.inbox import Mode
from schemas.plan import AppendText, Withdraw
from services.domain.limits import Limits
from services.plan.lanes import Lane, View, reminders
from services.plan.session.state import with_edits
from tests.helpers.adding import BIG, STORIES, Story, edits_by, play, wildly, with_lane
from tests.helpers.harness import Harness, attached, edits_of, ran, replace, text_part
from tests.helpers.tool_calls import after_a_pause, called, view_of

REMINDERS = reminders.LANE


def worked(calls: int, *, lane: Lane = REMINDERS, mode: Mode = "primary") -> Harness:
    """A turn that used so many tools, each in a step of its own."""
    harness = with_lane(lane)
    harness.mode = mode
    harness.user("go")
    for n in range(calls):
        harness.assistant(called("read", {"filePath": f"{n}.py"}, BIG[:4_000], call=f"c{n}"))
        harness.step()
    harness.assistant(text_part("done"))
    return harness


def reminded(harness: Harness) -> list[str]:
    """The parts that the harness holds a reminder for."""
    return [edit.part for edit in harness.edits.values() if isinstance(edit, AppendText)]


def test_after_a_turn_with_many_tools_the_next_message_reminds_of_it() -> None:
    """Seven calls in the turn, none of them to drop anything."""
    harness = worked(7)
    name = harness.user("next")
    call = harness.step()
    (edit,) = [edit for edit in edits_of(call.made) if isinstance(edit, AppendText)]
    assert edit.part == f"{name}.0"
    assert "reminders" == edit.lane
    assert (harness.session.conversation.parts[edit.part].seq,) == edit.by
    assert call.text[-1] == f"§10§ next\n\n{reminders.TEXT}"
    assert reminders.TEXT.startswith('<instruction name="last_turn_cleanup">\n')


@pytest.mark.parametrize(("calls", "is_reminded"), [(4, False), (5, True)])
def test_five_tools_are_many(calls: int, is_reminded: bool) -> None:  # noqa: FBT001 - parametrized
    harness = worked(calls)
    harness.user("next")
    harness.step()
    assert is_reminded == (reminded(harness) != [])


def test_a_turn_in_which_the_agent_has_dropped_something_needs_no_reminder() -> None:
    harness = worked(6)
    harness.assistant(called("mcp__annals__ctx_reduce", {"drop": "2"}, "noted", call="r"))
    harness.user("next")
    harness.step()
    assert [] == reminded(harness)


def test_an_agent_that_has_dropped_something_since_needs_no_reminder() -> None:
    harness = worked(6)
    harness.user("next")
    harness.assistant(called("ctx_reduce", {"drop": "2"}, "noted", call="r"))
    harness.step()
    assert [] == reminded(harness)


def test_tools_of_earlier_turns_do_not_count() -> None:
    harness = worked(7)
    harness.user("next")
    harness.step()
    harness.assistant(text_part("ok"))
    harness.user("and next")
    harness.step()
    assert ["m10.0"] == reminded(harness)


def test_where_nothing_can_be_dropped_there_is_no_reminder() -> None:
    harness = with_lane(REMINDERS, protected=20)
    harness.user("go")
    for n in range(7):
        harness.assistant(called("read", {}, BIG, call=f"c{n}"))
    harness.user("next")
    harness.step()
    assert [] == reminded(harness)


@pytest.mark.parametrize(("size", "is_reminded"), [(996, False), (1_000, True)])
def test_what_can_be_dropped_must_be_worth_it(size: int, is_reminded: bool) -> None:  # noqa: FBT001 - parametrized
    harness = with_lane(REMINDERS, protected=7)
    harness.user("go")
    for n in range(7):
        harness.assistant(called("read", {}, BIG[:size], call=f"c{n}"))
    harness.user("next")
    harness.step()
    assert is_reminded == (reminded(harness) != [])


def test_calls_without_an_answer_do_not_count() -> None:
    harness = worked(4)
    harness.assistant(ran("", call="p", pending=True))
    harness.user("next")
    harness.step()
    assert [] == reminded(harness)


def test_what_stands_there_already_is_not_replaced() -> None:
    harness = worked(7)
    name = harness.user("next")
    harness.report_step()
    view, fresh = View(harness.session, harness.limits), [harness.session.conversation.messages[name]]
    other = AppendText(part=f"{name}.0", text="!", lane="other")
    assert 1 == len(tuple(reminders.extend(view, fresh)))
    assert () == reminders.extend(replace(view, session=with_edits(view.session, [other])), fresh)


def test_two_messages_in_a_row_are_reminded_once() -> None:
    harness = worked(7)
    harness.user("next")
    last = harness.user("or rather")
    harness.step()
    assert [f"{last}.0"] == reminded(harness)
    harness.user("please")
    harness.step()
    assert [f"{last}.0"] == reminded(harness)


def test_only_what_a_person_wrote_is_reminded() -> None:
    harness = worked(7)
    harness.add_message("user", attached())
    harness.add_message("user", replace(text_part("added by the harness"), synthetic=True))
    harness.step()
    assert [] == reminded(harness)
    name = harness.add_message("user", attached(), text_part(""), text_part("look"), text_part("here"))
    harness.step()
    assert [f"{name}.2"] == reminded(harness)


def test_a_message_that_was_sent_is_never_reminded() -> None:
    harness = with_lane(REMINDERS)
    harness.limits = replace(harness.limits, reminders=False)
    harness.user("go")
    for n in range(7):
        harness.assistant(called("read", {}, BIG, call=f"c{n}"))
    harness.user("next")
    harness.step()
    harness.limits = replace(harness.limits, reminders=True)
    harness.assistant(ran("FILE", call="x"))
    harness.step()
    assert [] == reminded(harness)


def test_the_next_rebase_takes_it_back_when_it_was_followed() -> None:
    harness = worked(7)
    name = harness.user("next")
    harness.step()
    harness.assistant(called("ctx_reduce", {"drop": "2-3"}, "noted", call="r"))
    harness.drop(2, 3)
    call = after_a_pause(harness)
    (edit,) = [edit for edit in edits_of(call.made) if isinstance(edit, Withdraw)]
    assert (f"append:{name}.0", "reminders") == (edit.what, edit.lane)
    assert [] == reminded(harness)


def test_a_rebase_leaves_it_when_it_was_not_followed() -> None:
    harness = worked(7)
    harness.context_limit = 1_000_000
    harness.assistant(called("ctx_reduce", {"drop": "2"}, "noted", call="r"))
    harness.user("next")
    for n in range(6):
        harness.assistant(called("read", {}, BIG, call=f"d{n}"))
    name = harness.user("and next")
    harness.step()
    harness.drop(2, 3)
    assert "idle" in after_a_pause(harness).causes
    assert [f"{name}.0"] == reminded(harness)


def test_what_others_share_with_it_is_not_taken_back() -> None:
    harness = worked(7)
    name = harness.user("next")
    harness.step()
    harness.assistant(called("ctx_reduce", {"drop": "2"}, "noted", call="r"))
    harness.report_step()
    alone = reminders.rebase(view_of(harness.session, Limits()))
    shared = AppendText(part=f"{name}.0", text="...", lane="notices+reminders")
    session = with_edits(harness.session, [shared])
    assert (1, ()) == (len(alone.edits), reminders.rebase(view_of(session, Limits())).edits)


def test_in_a_turn_with_signed_thinking_nothing_is_taken_back() -> None:
    harness = worked(7)
    harness.capabilities = ("binds_signed_thinking",)
    harness.user("next")
    harness.step()
    reduce = called("ctx_reduce", {"drop": "2"}, "noted", call="r")
    harness.assistant(replace(text_part("hm"), type="reasoning", signed=True), reduce)
    harness.report_step()
    assert () == reminders.rebase(view_of(harness.session, Limits())).edits


@pytest.mark.parametrize("mode", ["reduce_off", "subagent"])
def test_an_agent_that_cannot_drop_is_not_reminded(mode: Mode) -> None:
    harness = worked(7, mode=mode)
    harness.user("next")
    harness.step()
    assert [] == reminded(harness)


@wildly
@given(STORIES)
def test_over_any_session_it_appends_and_takes_back_and_nothing_else(story: Story) -> None:
    for edit in edits_by(play(story, REMINDERS), "reminders"):
        assert isinstance(edit, AppendText | Withdraw)


def test_in_a_session_that_turns_out_to_be_an_agent_s_it_goes_with_the_next_rebase() -> None:
    harness = worked(7)
    name = harness.user("next")
    harness.step()
    assert [f"{name}.0"] == reminded(harness)
    harness.mode = "subagent"

    harness.assistant(text_part("on it"))
    harness.user("and?")
    assert () == harness.step().causes
    assert [f"{name}.0"] == reminded(harness)

    harness.model = "another"
    harness.assistant(text_part("yes"))
    harness.user("go on")
    assert ("model",) == harness.step().causes
    assert [] == reminded(harness)
