"""What becomes of a person's orders about history is shown once, with the next model call, and changes no prompt."""

import pytest

from schemas.events import (
    Event,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryFailed,
    HistoryReplaced,
    HistoryRequested,
)
from services.plan.session.orders import INTERRUPTED, ORDERED, REASONS, OrderOutcome, Orders
from tests.helpers.harness import Harness, text_part


def advanced(first: int = 1, last: int = 4, *, done: bool = True) -> HistoryAdvanced:
    return HistoryAdvanced(run="r", generation=0, first=first, last=last, done=done)


def replaced() -> HistoryReplaced:
    return HistoryReplaced(run="r", generation=1, first=1, last=4)


def abandoned() -> HistoryAbandoned:
    return HistoryAbandoned(run="r", generation=1, reason="ordered")


REBUILT = "The compressed history of messages 1-4 was made anew; prompts show it after a rebase."
COMPRESSED = "The history is compressed up to message 4; prompts show it so after a rebase."
JUDGED = "The compressed history of messages 1-4 was judged anew; no prompt changes yet."
GIVEN_UP = "The order to make the compressed history anew was given up, and what was there before holds."


def begun() -> Harness:
    harness = Harness()
    harness.user("go")
    harness.assistant(text_part("done"))
    harness.step()
    return harness


def turn(harness: Harness) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """One more message and its call: the notices of the plan, and the prompt."""
    harness.user("on")
    call = harness.step()
    return call.made.notices, tuple(part.text or part.output for message in call.served for part in message.parts)


def with_events(*events: Event) -> Harness:
    harness = begun()
    for event in events:
        harness.append(event)
    return harness


def request(reason: str) -> HistoryRequested:
    return HistoryRequested(run="r", reason=reason, first=1, last=4)


@pytest.mark.parametrize(
    ("reason", "events", "shown"),
    [
        ("rebuild", (advanced(1, 2, done=False), advanced(3, 4), replaced()), REBUILT),
        ("rebuild", (abandoned(),), GIVEN_UP),
        ("wrapup", (advanced(1, 2, done=False), advanced(3, 4)), COMPRESSED),
        ("rescore", (advanced(),), JUDGED),
        ("rescore", (HistoryFailed(run="r", code="no_model"),), REASONS["no_model"]),
        ("wrapup", (HistoryFailed(run="r", code="no_eligible"),), REASONS["no_eligible"]),
        ("wrapup", (HistoryFailed(run="r", code="crashed"),), INTERRUPTED),
    ],
)
def test_an_outcome_is_reported_once_and_changes_no_byte_of_a_prompt(
    reason: str, events: tuple[Event, ...], shown: str
) -> None:
    ordered, plain = with_events(request(reason), *events), begun()
    notices, prompts = zip(*(turn(ordered) for _ in range(3)), strict=True)
    assert [1, 0, 0] == [len(one) for one in notices]
    assert shown in notices[0][0]
    assert prompts == tuple(turn(plain)[1] for _ in range(3))


def test_a_run_that_goes_on_or_that_nobody_ordered_is_not_reported() -> None:
    running = with_events(request("wrapup"), advanced(1, 2, done=False))
    assert () == turn(running)[0]
    running.append(advanced(3, 4))
    assert (COMPRESSED,) == turn(running)[0]
    by_itself = with_events(request("wrapup"), request("ahead"), advanced())
    assert () == turn(by_itself)[0]
    other = with_events(request("wrapup"), HistoryFailed(run="another", code="timeout"))
    assert () == turn(other)[0]


def test_two_outcomes_between_two_calls_are_both_reported() -> None:
    harness = with_events(request("rescore"), advanced(), request("wrapup"), advanced())
    assert (JUDGED, COMPRESSED) == turn(harness)[0]


def test_an_outcome_that_comes_while_a_plan_is_made_waits_for_the_next_one() -> None:
    early, late = OrderOutcome(7, "early"), OrderOutcome(9, "late")
    assert (late,) == Orders(outcomes=(early, late)).reported(8).outcomes
    assert () == Orders(outcomes=(early, late)).reported(9).outcomes


def test_every_reason_is_a_sentence_with_what_to_do() -> None:
    for words in (*REASONS.values(), *ORDERED.values(), INTERRUPTED):
        assert "_" not in words.replace("ANNALS_MODEL__CHAIN", "")
        assert words[0].islower()
        assert not words.endswith(".")
