"""When a run is opened, and over which messages."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from schemas.events import (
    Event,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryFailed,
    HistoryOrdered,
    HistoryReplaced,
    HistoryRequested,
    MessageRemoved,
    OverflowDetected,
    SessionIdled,
    SessionOpened,
    TodoCaptured,
    ToolRan,
)
from schemas.inbox import Mode
from services.domain.limits import Limits as PlanLimits
from services.historian.core.context_pressure import HistoryLimits, context_pressure
from services.historian.core.state import HistorianSession
from services.historian.core.triggers import due, wanted
from tests.helpers.harness import Harness
from tests.helpers.historian_sessions import (
    NOW,
    PLAN,
    SMALL,
    WORDS,
    append,
    reason,
    sealed,
    state_of,
    talking,
    working,
)


def committing(harness: Harness, turns: int) -> None:
    """So many turns with a commit, the first ones of the session."""
    for turn in range(turns):
        append(harness, ToolRan(message=f"m{2 * turn + 2}", part="", tool="bash", target='git commit -m "more"'))


@pytest.mark.parametrize(
    ("context", "budget", "tail"), [(200_000, 6_500, 5_000), (1_000_000, 32_500, 5_000), (32_000, 5_000, 2_000)]
)
def test_the_budgets_follow_the_window(context: int, budget: int, tail: int) -> None:
    pressure = context_pressure(state_of(talking(1, context=context)), PlanLimits(threshold=65))
    assert (budget, tail) == (pressure.budget, pressure.tail(HistoryLimits()))


@pytest.mark.parametrize("count", [2**53 - 1, 10_000_001])
def test_a_count_that_no_prompt_has_is_no_reason(count: int) -> None:
    harness = talking(5)
    harness.use(9_000, "m10")
    harness.use(count, "m10")
    assert (9_000, "") == (state_of(harness).used, reason(harness))


def test_nothing_is_compressed_without_a_reason() -> None:
    assert "" == reason(talking(5))


def test_pressure_forces_a_run() -> None:
    harness = talking(5)
    harness.use(80_000)
    assert "force" == reason(harness)


def test_drops_that_are_enough_make_a_run_needless() -> None:
    harness = talking(5)
    harness.use(80_000)
    harness.drop(*range(1, 9))
    assert "" == reason(harness)


def test_drops_that_have_left_the_prompt_are_no_relief_any_more() -> None:
    harness = talking(5)
    harness.use(90_000, "a1")
    harness.drop(*range(1, 9))
    harness.use(80_000, "a2")
    assert "force" == reason(harness)


def test_history_that_waits_to_be_served_is_relief_as_drops_are() -> None:
    harness = talking(9)
    harness.use(80_000)
    append(harness, sealed(1, 14))
    harness.user(WORDS)
    harness.step()
    assert "" == reason(harness)


def test_commits_in_three_turns_are_a_reason() -> None:
    harness = talking(14)
    committing(harness, 2)
    assert "" == reason(harness)
    committing(harness, 3)
    assert "commit_clusters" == reason(harness)
    assert "" == reason(harness, replace(SMALL, commit_clusters=0))


def test_a_commit_that_failed_is_none() -> None:
    harness = talking(14)
    for turn in range(3):
        failed = ToolRan(message=f"m{2 * turn + 2}", part="", tool="bash", target="git commit", exit_code=1)
        append(harness, failed)
    assert "" == reason(harness)


def test_a_long_tail_is_a_reason_without_any_pressure() -> None:
    assert "tail_size" == reason(talking(40))


def test_near_the_threshold_a_full_tail_is_compressed_ahead() -> None:
    harness = talking(8)
    harness.use(47_000)
    assert "" == reason(harness)
    harness.use(48_000)
    assert "projected_headroom" == reason(harness)


def test_a_list_that_is_finished_closes_what_it_was_about() -> None:
    harness = talking(12)
    append(harness, ToolRan(message="m4", part="", tool="bash", target="ls"))
    append(harness, TodoCaptured(contents=["A"], statuses=["in_progress"], priorities=["high"]))
    assert "" == reason(harness)
    append(harness, TodoCaptured(contents=["A"], statuses=["completed"], priorities=["high"]))
    assert "closed_frame" == reason(harness)


def test_a_full_tail_is_compressed_while_nobody_waits() -> None:
    assert "" == reason(talking(12))
    assert "idle" == reason(resting(12))
    assert "" == reason(resting(3))


def resting(turns: int) -> Harness:
    """A session whose agent has finished its turn."""
    harness = talking(turns)
    append(harness, SessionIdled())
    return harness


def test_nobody_waits_until_the_next_model_call_whatever_is_reported_before_it() -> None:
    harness = resting(12)
    harness.use(10_000)
    assert "idle" == reason(harness)
    harness.step()
    assert "" == reason(harness)


def test_a_long_session_with_one_request_is_compressed() -> None:
    harness = working(120)
    harness.use(80_000)
    assert "force" == reason(harness)


def test_the_sessions_of_sub_agents_are_compressed_as_others_are() -> None:
    harness = talking(5, mode="subagent")
    append(harness, SessionOpened(harness="test", mode="subagent", parent="other"))
    assert "" == reason(harness)
    harness.use(80_000)
    assert "force" == reason(harness)


@pytest.mark.parametrize("mode", ["hidden", "additive"])
def test_nothing_is_compressed_where_nothing_would_be_served(mode: Mode) -> None:
    harness = talking(5, mode=mode)
    harness.use(80_000)
    assert "" == reason(harness)


def test_there_is_one_run_at_a_time_and_none_over_what_is_compressed() -> None:
    harness = talking(9)
    harness.use(80_000)
    request = wanted(state_of(harness), PLAN, SMALL, now=NOW)
    assert isinstance(request, HistoryRequested)
    assert (1, 16) == (request.first, request.last)
    append(harness, request)
    assert "" == reason(harness)
    done = HistoryAdvanced(run=request.run, generation=0, first=1, last=16)
    append(harness, sealed(1, 16, run=request.run), done)
    assert "" == reason(harness)


def test_who_decides_on_the_same_state_opens_the_same_run() -> None:
    harness = talking(5)
    harness.use(80_000)
    both = {wanted(state_of(harness), PLAN, SMALL, now=NOW + timedelta(days=n)) for n in range(2)}
    assert 1 == len(both)


def failing(harness: Harness, failures: int) -> None:
    request = wanted(state_of(harness), PLAN, SMALL, now=NOW)
    assert request is not None
    later = NOW + timedelta(minutes=failures)
    append(harness, request, HistoryFailed(run=request.run, code="timeout", failures=failures, retry_at=later))


def test_a_failure_holds_the_next_run_up_for_a_while() -> None:
    harness = talking(5)
    harness.use(80_000)
    failing(harness, 1)
    state = state_of(harness)
    assert wanted(state, PLAN, SMALL, now=NOW) is None
    again = wanted(state, PLAN, SMALL, now=NOW + timedelta(minutes=1))
    assert again is not None
    assert 1 == again.failures


def test_a_pause_that_no_clock_of_ours_can_have_written_holds_nothing_up() -> None:
    harness = talking(5)
    harness.use(80_000)
    failing(harness, 400 * 24 * 60)
    assert "force" == reason(harness)


def test_where_room_is_short_no_failure_holds_anything_up() -> None:
    harness = talking(5)
    harness.use(80_000)
    failing(harness, 5)
    harness.use(95_000, "later")
    assert "force" == reason(harness)


def test_a_limit_that_a_refusal_reported_counts() -> None:
    harness = talking(5)
    harness.use(40_000)
    assert "" == reason(harness)
    append(harness, OverflowDetected(message="", text="too long", limit=50_000))
    assert "force" == reason(harness)


def test_an_order_to_wrap_up_compresses_all_but_the_last_words() -> None:
    harness = talking(9)
    append(harness, HistoryOrdered(order="wrapup"))
    request = wanted(state_of(harness), PLAN, HistoryLimits(), now=NOW)
    assert request is not None
    assert ("wrapup", 1, 14) == (request.reason, request.first, request.last)


def test_an_order_with_nothing_to_do_opens_a_run_that_can_only_say_so() -> None:
    harness = talking(1)
    append(harness, HistoryOrdered(order="wrapup"))
    request = wanted(state_of(harness), PLAN, HistoryLimits(), now=NOW)
    assert request is not None
    assert request.last < request.first


@pytest.mark.parametrize(
    ("first", "last", "span"),
    [(0, 0, (1, 12)), (3, 3, (1, 4)), (4, 5, (1, 8)), (6, 100, (5, 12)), (9, 9, (9, 12)), (13, 20, None)],
)
def test_a_rebuild_is_moved_out_to_whole_compartments(first: int, last: int, span: tuple[int, int] | None) -> None:
    harness = talking(9)
    append(harness, sealed(1, 4), sealed(5, 8), sealed(9, 12))
    append(harness, HistoryOrdered(order="rebuild", first=first, last=last))
    request = wanted(state_of(harness), PLAN, HistoryLimits(), now=NOW)
    assert request is not None
    assert 1 == request.generation or span is None
    assert span == ((request.first, request.last) if request.first <= request.last else None)


def test_a_generation_that_is_being_made_changes_nothing_before_it_is_whole() -> None:
    harness = talking(9)
    append(harness, sealed(1, 4), sealed(5, 12), HistoryOrdered(order="rebuild"))
    request = wanted(state_of(harness), PLAN, HistoryLimits(), now=NOW)
    assert request is not None
    append(harness, request, sealed(1, 6, generation=1, run=request.run))
    state = state_of(harness)
    assert [4, 12] == [one.last for one in state.history.sealed]
    assert 6 == state.reached
    append(harness, sealed(7, 12, generation=1, run=request.run))
    append(harness, HistoryReplaced(run=request.run, generation=1, first=1, last=12))
    state = state_of(harness)
    assert [6, 12] == [one.last for one in state.history.sealed]
    assert state.request is None


def compressed(*removed: str, reason: str = "deleted") -> HistorianSession:
    """A session with three compartments, after each of these messages was deleted by itself."""
    harness = talking(9)
    append(harness, sealed(1, 4), sealed(5, 8), sealed(9, 12))
    harness.messages = [message for message in harness.messages if message.message not in removed]
    append(harness, *(MessageRemoved(messages=[name], reason=reason) for name in removed))
    return state_of(harness)


def spans(state: HistorianSession) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in state.history.sealed]


@pytest.mark.parametrize("order", [1, -1])
def test_what_was_taken_back_is_not_compressed_any_more(order: int) -> None:
    """Messages are removed one by one, from either end."""
    removed = [f"m{place}" for place in range(7, 19)][::order]
    assert [(1, 4)] == spans(compressed(*removed, reason="reverted"))


@pytest.mark.parametrize("removed", ["m4", "m2", "m1"])
def test_a_deleted_message_leaves_later_compartments_in_force(removed: str) -> None:
    assert [(1, 4), (5, 8), (9, 12)] == spans(compressed(removed))


@pytest.mark.parametrize(
    ("removed", "span"),
    [
        (["m2"], (1, 4)),
        (["m1"], (2, 4)),
        (["m8"], (5, 7)),
        (["m6", "m2"], (1, 4)),
        (["m5", "m6", "m7", "m8"], (1, 12)),
        (["m12"], None),
        (["m14"], None),
    ],
)
def test_a_compartment_that_quotes_a_deleted_message_is_made_anew(
    removed: list[str], span: tuple[int, int] | None
) -> None:
    request = wanted(compressed(*removed), PLAN, HistoryLimits(ahead=False), now=NOW)
    assert span == ((request.first, request.last) if request else None)
    assert request is None or ("removed", 1) == (request.reason, request.generation)


def test_what_was_made_anew_quotes_nothing_that_is_gone() -> None:
    harness = talking(9)
    append(harness, sealed(1, 4), sealed(5, 8), sealed(9, 12))
    harness.messages = [message for message in harness.messages if message.message != "m8"]
    append(harness, MessageRemoved(messages=["m8"], reason="deleted"))
    request = wanted(state_of(harness), PLAN, SMALL, now=NOW)
    assert request is not None
    append(harness, request, sealed(5, 7, generation=1, run=request.run))
    append(harness, HistoryReplaced(run=request.run, generation=1, first=5, last=7))
    state = state_of(harness)
    assert [(1, 4), (5, 7), (9, 12)] == spans(state)
    assert not [one for one in state.history.sealed if one.compartment in state.history.outdated]
    assert wanted(state, PLAN, SMALL, now=NOW) is None


def test_what_only_left_the_list_of_the_harness_is_still_summarised() -> None:
    assert 0 == len(compressed("m2", reason="unlisted").history.outdated)


def rebuilding() -> tuple[Harness, HistoryRequested]:
    """A session with an open rebuild, half of which is made."""
    harness = talking(9)
    append(harness, sealed(1, 4), sealed(5, 12), HistoryOrdered(order="rebuild"))
    request = due_now(harness)
    assert isinstance(request, HistoryRequested)
    append(harness, request, sealed(1, 6, generation=1, run=request.run))
    return harness, request


ON_TIME = HistoryLimits(ahead=False)
"""Nothing is compressed before it is needed: what is due is due for another reason."""


def due_now(harness: Harness, limits: HistoryLimits = HistoryLimits()) -> Event | None:  # noqa: B008 - a frozen value
    return due(state_of(harness), PLAN, limits, now=NOW)


def test_a_rebuild_is_given_up_with_what_it_has_made_and_the_session_goes_on() -> None:
    harness, request = rebuilding()
    assert due_now(harness) is None
    append(harness, HistoryOrdered(order="abandon"))
    end = due_now(harness)
    assert HistoryAbandoned(run=request.run, generation=1, reason="it was ordered to be given up") == end
    append(harness, end)
    state = state_of(harness)
    assert (None, [4, 12], None) == (state.request, [one.last for one in state.history.sealed], due_now(harness))
    append(harness, HistoryOrdered(order="rebuild"))
    again = due_now(harness)
    assert isinstance(again, HistoryRequested)
    assert (2, 1) == (again.generation, again.first)
    append(harness, again)
    assert due_now(harness) is None


def test_a_rebuild_that_waits_is_given_up_before_it_begins() -> None:
    harness = talking(9)
    append(harness, sealed(1, 4), HistoryOrdered(order="rebuild"), HistoryOrdered(order="abandon"))
    assert due_now(harness, ON_TIME) is None


def test_a_rebuild_that_was_opened_while_it_was_given_up_ends() -> None:
    harness = talking(9)
    append(harness, sealed(1, 4), HistoryOrdered(order="rebuild"))
    request = due_now(harness)
    assert isinstance(request, HistoryRequested)
    append(harness, HistoryOrdered(order="abandon"), request)
    assert isinstance(due_now(harness), HistoryAbandoned)


def test_where_nothing_is_made_anew_nothing_is_given_up() -> None:
    harness = talking(9)
    append(harness, sealed(1, 4), HistoryOrdered(order="abandon"))
    assert due_now(harness, ON_TIME) is None
    append(harness, HistoryOrdered(order="wrapup"))
    request = due_now(harness)
    assert isinstance(request, HistoryRequested)
    append(harness, request, HistoryOrdered(order="abandon"))
    assert due_now(harness) is None
    assert request == state_of(harness).request


def test_to_give_up_leaves_other_orders_waiting() -> None:
    harness, _ = rebuilding()
    append(harness, HistoryOrdered(order="wrapup"), HistoryOrdered(order="abandon"))
    end = due_now(harness)
    assert isinstance(end, HistoryAbandoned)
    append(harness, end)
    request = due_now(harness)
    assert isinstance(request, HistoryRequested)
    assert ("wrapup", 13) == (request.reason, request.first)


def test_an_order_that_comes_while_a_run_is_opened_is_not_lost() -> None:
    harness = talking(9)
    harness.use(80_000)
    request = wanted(state_of(harness), PLAN, SMALL, now=NOW)
    assert request is not None
    append(harness, HistoryOrdered(order="rescore"), request)
    append(harness, sealed(1, 16), HistoryAdvanced(run=request.run, generation=0, first=1, last=16))
    assert "rescore" == reason(harness)
