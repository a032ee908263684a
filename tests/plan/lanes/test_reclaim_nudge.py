import re

import pytest
from hypothesis import given

from schemas.inbox import Mode, ToolStatus
from schemas.plan import AppendText, SetHead
from services.domain.conversation import Message
from services.plan.lanes import DROPS, TAGS, Lane, View, reclaim_nudge, reminders
from services.plan.session.drops import served
from services.plan.session.reclaim import Nudge
from services.plan.session.state import with_edits
from tests.helpers.adding import STORIES, Story, edits_by, play, wildly, with_lane
from tests.helpers.harness import Harness, answered, asked, edits_of, replace, text_part
from tests.helpers.tool_calls import called

CHANNEL = reclaim_nudge.LANE
CLOSE = "This is a notice of the service that keeps your context, and no request of a person."


def output(count: int) -> str:
    """An output of so many tokens."""
    return "abc\n" * count


def working(words: int, *reads: int, mode: Mode = "primary") -> Harness:
    """A session with so many tokens of words, and reads of so many tokens, all sent in one call."""
    harness = with_lane(CHANNEL)
    harness.mode = mode
    harness.user("x" * 4 * words)
    for n, count in enumerate(reads):
        harness.assistant(called("read", {}, output(count), call=f"r{n}"))
    harness.limits = replace(harness.limits, reminders=False)
    harness.step()
    harness.limits = replace(harness.limits, reminders=True)
    return harness


def read(harness: Harness, count: int = 10) -> str:
    """One more read, in a call of its own; what stands behind it."""
    name = harness.assistant(called("read", {}, output(count), call=f"n{len(harness.log)}"))
    harness.step()
    return nudge(harness, f"{name}.0")


def asks(harness: Harness, text: str = "next") -> str:
    name = harness.user(text)
    harness.step()
    return nudge(harness, f"{name}.0")


def nudge(harness: Harness, part: str) -> str:
    edit = harness.edits.get(f"append:{part}")
    return edit.text if isinstance(edit, AppendText) else ""


def nudges(harness: Harness) -> dict[str, str]:
    """Part -> the lane of what was appended to it."""
    return {edit.part: edit.lane for edit in harness.edits.values() if isinstance(edit, AppendText)}


@pytest.mark.parametrize(
    ("found", "tail", "level"),
    [
        (25_000, 59_999, None),
        (24_999, 60_000, None),
        (25_000, 60_000, "firm"),
        (25_000, 125_000, "gentle"),
        (25_000, 125_001, None),
        (39_999, 100_000, "gentle"),
        (40_000, 100_000, "firm"),
        (60_000, 100_000, "urgent"),
    ],
)
def test_the_level_is_the_share_of_what_could_go(found: int, tail: int, level: str | None) -> None:
    assert level == reclaim_nudge.level_of(found, tail)


def test_it_is_announced_behind_the_newest_output() -> None:
    """Four reads of 10,000 tokens in a tail of 140,000; the fifth is protected."""
    harness = working(100_000, 10_000, 10_000, 10_000, 10_000)
    text = read(harness)
    assert text == (
        '\n\n<instruction name="old_tool_outputs">\n'
        "4 older tool outputs, about 40,000 tokens, could leave this conversation. At the next natural pause of your "
        "work, name those that you are done with to `ctx_reduce`.\n"
        "The oldest:\n"
        "- tag 2: read, about 10,000 tokens\n"
        "- tag 3: read, about 10,000 tokens\n"
        "- tag 4: read, about 10,000 tokens\n"
        "- tag 5: read, about 10,000 tokens\n"
        f"{CLOSE}\n"
        "</instruction>"
    )
    assert {"m6.0": "channel:gentle:40000"} == nudges(harness)


def test_it_is_never_in_percent() -> None:
    assert reclaim_nudge.URGES
    for urge in reclaim_nudge.URGES.values():
        assert "%" not in urge
        assert "percent" not in urge


def test_a_short_tail_is_no_matter() -> None:
    assert "" == read(working(1_000, 27_000, 27_000))
    assert "" != read(working(10_000, 27_000, 27_000))


def test_protected_outputs_cannot_go() -> None:
    harness = working(100_000, 10_000, 10_000, 10_000, 10_000)
    harness.limits = replace(harness.limits, protected_tags=4)
    assert "" == read(harness)


def test_it_is_not_announced_again_before_much_has_come() -> None:
    harness = working(100_000, 15_000, 15_000)
    assert "" != read(harness)
    assert "" == read(harness, 20_000)
    assert "" == read(harness, 4_000)


def test_it_is_announced_again_when_it_becomes_more_urgent() -> None:
    harness = working(60_000, 15_000, 15_000)
    assert "natural pause" in read(harness)
    assert "" == read(harness, 20_000)
    assert "next larger step" in read(harness)
    assert ["gentle", "firm"] == [lane.split(":")[1] for lane in nudges(harness).values()]


def test_much_that_came_anew_is_announced_in_short_within_three_turns() -> None:
    harness = working(150_000, 25_000, 25_000)
    read(harness)
    read(harness, 25_000)
    assert read(harness) == (
        '\n\n<instruction name="old_tool_outputs">\n'
        "4 older tool outputs, about 75,000 tokens, could still be dropped with `ctx_reduce`. "
        f"{CLOSE}\n"
        "</instruction>"
    )


@pytest.mark.parametrize(("turns", "is_short"), [(2, True), (3, False)])
def test_after_three_turns_it_is_announced_at_length_again(turns: int, is_short: bool) -> None:  # noqa: FBT001 - parametrized
    harness = working(150_000, 25_000, 25_000)
    read(harness)
    for _ in range(turns):
        asks(harness)
    read(harness, 25_000)
    assert is_short == ("could still be dropped" in read(harness))


def test_what_was_dropped_since_is_no_growth() -> None:
    """50,000 could go; 25,000 are named; then as many come anew."""
    harness = working(150_000, 25_000, 25_000)
    read(harness)
    harness.drop(2)
    assert "" == read(harness, 24_000)
    assert "" == read(harness)
    assert "" == read(harness, 1_000)
    assert "" != read(harness)


def test_right_after_a_drop_there_is_no_reminder() -> None:
    harness = working(100_000, 15_000, 15_000)
    harness.assistant(called("annals_ctx_reduce", {"drop": "9"}, "noted", call="d"))
    for _ in range(9):
        assert "" == read(harness)
    assert "" != read(harness)


def test_a_reminder_that_was_taken_back_with_its_message_was_never_announced() -> None:
    harness = working(100_000, 15_000, 15_000)
    assert "" != read(harness)
    harness.without("m4")
    harness.user("once more")
    assert "" != read(harness)


def test_only_outputs_that_are_worth_it_are_named() -> None:
    harness = with_lane(CHANNEL)
    harness.limits = replace(harness.limits, reminders=False)
    harness.user("x" * 400_000)
    reads = [("todowrite", 9_000), ("read", 249), ("ctx_search", 9_000), ("<b>", 250), ("bash", 9_000)]
    for n, (tool, count) in enumerate(reads):
        harness.assistant(called(tool, {}, output(count), call=f"r{n}"))
    harness.step()
    harness.limits = replace(harness.limits, reminders=True)
    assert ["- tag 5: &lt;b&gt;, about 200 tokens", "- tag 6: bash, about 9,000 tokens"] == re.findall(
        r"^- .*$", read(harness), re.MULTILINE
    )


def test_the_oldest_four_that_are_left_are_named() -> None:
    harness = working(50_000, *(6_000 for _ in range(9)))
    harness.drop(2, 4)
    assert ["3", "5", "6", "7"] == re.findall(r"tag (\d+)", read(harness))


def test_words_are_no_place_for_it() -> None:
    harness = working(100_000, 15_000, 15_000)
    harness.assistant(text_part("so"))
    harness.step()
    assert "" == asks(harness)
    assert {} == nudges(harness)


def test_of_several_new_outputs_the_last_bears_it() -> None:
    harness = working(100_000, 15_000, 15_000)
    name = harness.assistant(called("read", {}, call="a"), called("read", {}, call="b"), text_part("so"))
    harness.user("on")
    harness.step()
    assert [f"{name}.1"] == [*nudges(harness)]


def test_a_result_in_a_message_of_its_own_bears_it() -> None:
    harness = working(100_000, 15_000, 15_000)
    harness.assistant(asked("a"))
    name = harness.add_message("tool", answered("a", "FILE"))
    harness.step()
    assert [f"{name}.0"] == [*nudges(harness)]


@pytest.mark.parametrize("status", ["pending", "error"])
def test_a_call_without_an_answer_bears_nothing(status: ToolStatus) -> None:
    harness = working(100_000, 15_000, 15_000)
    harness.assistant(called("read", {}, "", call="a", status=status))
    harness.step()
    assert {} == nudges(harness)


def test_what_is_protected_is_not_named() -> None:
    harness = working(100_000, 15_000, 15_000, 15_000)
    harness.limits = replace(harness.limits, protected_tags=2)
    assert ["2", "3"] == re.findall(r"tag (\d+)", read(harness, 300))


def test_of_a_long_tail_more_must_have_come_anew() -> None:
    """8 % of 403,000 tokens are 32,000."""
    harness = working(250_000, 60_000, 60_000)
    assert "" != read(harness)
    read(harness, 30_000)
    assert "" == read(harness, 3_000)
    assert "" != read(harness)


def fresh_output(harness: Harness, *, also: str = "") -> tuple[View, list[Message]]:
    """A new read that is reported and not yet decided on, and another message of the person if there is one."""
    harness.assistant(called("read", {}, "FILE", call=f"f{len(harness.log)}"))
    if also:
        harness.user(also)
    harness.report_step()
    session = harness.session
    return View(session, harness.limits), list(
        session.conversation.after(session.step.unchanged if session.step else 0)
    )


def test_the_head_is_no_part_of_the_tail() -> None:
    harness = working(40_000, 12_500, 12_500)
    view, new = fresh_output(harness)
    head = SetHead(slot=0, text=output(100_000))
    headed = replace(view, session=with_edits(view.session, [head]))
    assert (
        [edit.text for edit in reclaim_nudge.extend(view, new)]
        == [edit.text for edit in reclaim_nudge.extend(headed, new)]
        != []
    )


def test_at_a_rebase_there_is_no_reminder_since_much_goes_with_it() -> None:
    view, new = fresh_output(working(100_000, 15_000, 15_000))
    assert () != reclaim_nudge.extend(view, new)
    assert () == reclaim_nudge.extend(replace(view, causes=frozenset({"idle"})), new)


def test_an_output_that_comes_back_dropped_bears_nothing() -> None:
    harness = working(100_000, 15_000, 15_000)
    view, new = fresh_output(harness)
    dropped = served(view.session.drops, [harness.session.conversation.last_number])
    assert () != reclaim_nudge.extend(view, new)
    assert () == reclaim_nudge.extend(replace(view, session=replace(view.session, drops=dropped)), new)


@pytest.mark.parametrize(("words", "also"), [(100_000, ""), (1_000, "next")])
def test_what_stands_there_already_is_not_replaced(words: int, also: str) -> None:
    view, new = fresh_output(working(words, 30_000, 30_000), also=also)
    ((edit,),) = (reclaim_nudge.extend(view, new),)
    other = AppendText(part=edit.part, text="!", lane="other")
    assert () == reclaim_nudge.extend(replace(view, session=with_edits(view.session, [other])), new)


# Where most could go


def test_a_reminder_of_most_of_the_prompt_is_behind_the_message_of_the_person() -> None:
    harness = working(1_000, 30_000, 30_000)
    assert "Before you work on this message" in asks(harness)
    assert {"m4.0": "channel:notice:60000"} == nudges(harness)


def test_it_is_announced_once_in_a_turn_and_again_in_the_next() -> None:
    harness = working(1_000, 30_000, 30_000)
    asks(harness)
    assert "" == read(harness, 20_000)
    assert "" != asks(harness)


@pytest.mark.parametrize("reads", [(24_000, 25_900), (30_000, 30_000)])
def test_there_is_no_reminder_below_50_000_tokens_or_three_quarters(reads: tuple[int, ...]) -> None:
    words = 25_000 if sum(reads) > 50_000 else 12_000
    assert "" == asks(working(words, *reads))


def test_in_a_long_loop_of_tools_it_is_announced_without_a_message_of_a_person() -> None:
    harness = working(1_000)
    outputs = [read(harness, 10_000) for _ in range(12)]
    spoken = [n for n, text in enumerate(outputs) if text]
    assert spoken
    assert "now, before you call other tools" in outputs[spoken[0]]
    assert len(spoken) < len(outputs) / 2


def test_it_is_announced_once_for_an_output_and_a_message() -> None:
    harness = working(1_000, 30_000, 30_000)
    harness.assistant(called("read", {}, "FILE", call="a"))
    asks(harness)
    assert ["channel:notice:60001"] == [*nudges(harness).values()]


def test_with_it_there_is_no_other_reminder() -> None:
    lane = reminders.LANE
    harness = working(1_000, *(10_000 for _ in range(7)))
    harness.lanes = (TAGS, DROPS, lane, CHANNEL)
    asks(harness)
    assert ["channel:notice:70000"] == [*nudges(harness).values()]


def test_two_lanes_at_one_place_do_not_hide_what_was_announced() -> None:
    other = Lane("other", extend=lambda _, fresh: [AppendText(part=fresh[-1].parts[0], text="!", lane="other")])
    harness = working(1_000, 30_000, 30_000)
    harness.lanes = (TAGS, DROPS, other, CHANNEL)
    name = harness.user("next")
    harness.step()
    assert {f"{name}.0": "other+channel:notice:60000"} == nudges(harness)
    assert Nudge(f"{name}.0", "notice", 4) == harness.session.reclaim.nudge


@pytest.mark.parametrize("mode", ["reduce_off", "subagent"])
def test_an_agent_that_cannot_drop_gets_no_reminder(mode: Mode) -> None:
    harness = working(1_000, 30_000, 30_000, mode=mode)
    asks(harness)
    read(harness)
    assert {} == nudges(harness)


@wildly
@given(STORIES)
def test_over_any_session_it_appends_once_in_a_call_and_nothing_else(story: Story) -> None:
    moments = play(story, CHANNEL)
    for moment in moments:
        assert sum(edit.lane.startswith("channel") for edit in edits_of(moment.call.made)) <= 1
    for edit in edits_by(moments, "channel"):
        assert isinstance(edit, AppendText)
