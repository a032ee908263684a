"""Answers of tools go by age and, under pressure, in turn: the cheapest to get again first, in each tier the oldest."""

import pytest

from schemas.inbox import Mode
from services.plan.lanes import eviction
from services.plan.lanes.base import Change
from services.plan.lanes.eviction import SUBAGENT_AGE
from tests.helpers.harness import Harness, text_part
from tests.helpers.random_sessions import Story, calling, compacting, idling
from tests.helpers.random_sessions import using as counting
from tests.helpers.tool_calls import LINES, after_a_pause, answers, called, view_of, with_lane

EVICTION = eviction.LANE
SAVING = 96
"""Tokens that each of these drops saves."""


def using(harness: Harness, *tools: str) -> None:
    for n, tool in enumerate(tools):
        harness.assistant(called(tool, {}, call=f"c{len(harness.messages)}.{n}"))


def pressed(harness: Harness, target: int, *causes: str) -> Change:
    """What goes when so many tokens are to be reclaimed."""
    harness.step()
    return eviction.rebase(view_of(harness.session, harness.limits, target=target, causes=causes or ("pressure",)))


def test_by_default_age_alone_drops_nothing() -> None:
    harness = with_lane(EVICTION)
    using(harness, *["bash"] * 30)

    assert answers(after_a_pause(harness)) == [LINES] * 30


def test_what_is_older_than_the_age_goes_and_what_is_protected_stays() -> None:
    """Tags 1 to 150, 20 of them protected, age 100: of the tools 12, 48, 51 and 140 the first two go."""
    harness = with_lane(EVICTION, protected=20, auto_drop_tool_age=100)
    for number in range(2, 151):
        is_tool = number in (12, 48, 51, 140)
        harness.assistant(called("bash", {}, call=f"c{number}") if is_tool else text_part(f"words {number}"))
    harness.step()
    view = view_of(harness.session, harness.limits)

    assert harness.session.conversation.last_number == 150
    assert eviction.rebase(view).dropped == (12, 48)
    assert answers(after_a_pause(harness)) == ["[dropped §12§]", "[dropped §48§]", LINES, LINES]


def test_under_force_all_but_the_protected_goes_if_the_target_wants_it() -> None:
    """The same session at 85 %: 12, 48 and 51 go, 140 is protected."""
    harness = with_lane(EVICTION, protected=20)
    for number in range(2, 151):
        is_tool = number in (12, 48, 51, 140)
        harness.assistant(called("bash", {}, call=f"c{number}") if is_tool else text_part(f"words {number}"))

    assert pressed(harness, 10**6, "force").dropped == (12, 48, 51)


def test_no_more_goes_than_the_target_wants_and_the_oldest_goes_first() -> None:
    harness = with_lane(EVICTION)
    using(harness, *["bash"] * 10)

    assert pressed(harness, 3 * SAVING).dropped == (2, 3, 4)
    assert pressed(harness, 3 * SAVING + 1).dropped == (2, 3, 4, 5)


def test_the_tiers_take_turns_and_the_newest_fifth_of_the_better_ones_stays() -> None:
    """Tags 2 to 6 navigate, 7 to 11 search and change, 12 to 16 are the rest; 17 is protected."""
    harness = with_lane(EVICTION)
    using(harness, "read", "glob", "list", "mcp_Read", "lsp_hover", "grep", "edit", "write", "patch", "websearch")
    using(harness, "bash", "task", "webfetch", "mcp__wiki__read", "anything")
    harness.user("so")

    assert pressed(harness, 10**6).dropped == (12, 13, 14, 15, 16, 7, 8, 9, 10, 2, 3, 4, 5)
    assert pressed(harness, 7 * SAVING).dropped == (12, 13, 14, 15, 16, 7, 8)


def test_texts_are_never_evicted() -> None:
    harness = with_lane(EVICTION)
    harness.user("words " * 500)
    harness.assistant(text_part("words " * 500))
    using(harness, "bash", "bash")

    assert pressed(harness, 10**6, "overflow").dropped == (4,)


@pytest.mark.parametrize(("causes", "target"), [(("idle",), 1000), (("flush", "model"), 1000), (("pressure",), 0)])
def test_without_pressure_or_without_a_target_nothing_is_evicted(causes: tuple[str, ...], target: int) -> None:
    harness = with_lane(EVICTION)
    using(harness, *["bash"] * 10)

    assert pressed(harness, target, *causes) == Change()


def test_hardly_anything_is_not_worth_it_unless_it_is_all_that_is_wanted() -> None:
    harness = with_lane(EVICTION, min_reclaim=1000)
    using(harness, *["bash"] * 6)

    assert pressed(harness, 10**6) == Change()
    assert pressed(harness, 2 * SAVING).dropped == (2, 3)


def test_what_goes_by_age_counts_towards_the_target() -> None:
    harness = with_lane(EVICTION, auto_drop_tool_age=8)
    using(harness, "read", "read", "read", *["bash"] * 7)

    assert harness.session.conversation.last_number == 0
    assert pressed(harness, 2 * SAVING).dropped == (2, 3)
    assert pressed(harness, 3 * SAVING).dropped == (2, 3, 5)


def test_what_the_agent_wants_to_drop_is_left_to_it() -> None:
    harness = with_lane(EVICTION)
    using(harness, *["bash"] * 4)
    harness.step()
    harness.drop(2)

    assert pressed(harness, 10**6).dropped == (3, 4)


@pytest.mark.parametrize(("mode", "evicted"), [("primary", 120), ("reduce_off", 120), ("subagent", 21)])
def test_from_a_subagent_only_what_is_old_goes(mode: Mode, evicted: int) -> None:
    """A subagent under pressure drops by age alone; here tags 2 to 121 could go, and 122 is the newest."""
    harness = with_lane(EVICTION)
    harness.mode = mode
    using(harness, *["bash"] * 121)

    assert harness.session.conversation.last_number == 0
    assert len(pressed(harness, 10**6).dropped) == evicted
    assert 122 - SUBAGENT_AGE - 1 == 21


def test_a_full_window_is_relieved_down_to_its_headroom() -> None:
    """At 70 % of the window pressure takes effect at the next turn, once for the sample that reported it."""
    harness = with_lane(EVICTION)
    harness.context_limit = 35_000
    using(harness, *["bash"] * 140)
    harness.user("so")
    harness.step()
    harness.use(24_500)
    harness.user("go on")
    call = harness.step()

    assert "pressure" in call.causes
    assert answers(call)[0] == "[dropped §2§]"
    assert answers(call)[-1] == LINES
    assert harness.step().made.kind != "rebase"


def test_what_it_drops_bears_its_name_and_is_counted() -> None:
    harness = with_lane(EVICTION, auto_drop_tool_age=3)
    using(harness, *["bash"] * 10)
    state = after_a_pause(harness).state
    made = eviction.rebase(view_of(state, harness.limits))

    assert made.dropped == (2, 3, 4, 5, 6, 7, 8)
    assert {edit.lane for edit in made.edits} == {"eviction"}


NO_ROOM = Story(
    around=[
        ([], [idling]),
        ([calling("words", [("read", "a", "big")])], []),
        ([calling("words", [("bash", "a", "lines"), ("read", "a", "big")])], [compacting, counting(90_000)]),
    ],
    abilities=("accepts_empty_content",),
    protected=3,
)
"""What is protected is longer than what a prompt is to keep."""
EXAMPLES = (NO_ROOM,)
