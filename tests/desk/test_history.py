"""Orders to compress history: wrap up, make anew, give up."""

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from schemas.commands import Command, HistoryOrder, HistoryRebuild, HistoryRescore
from schemas.events import HistoryOrdered, MessageListed, SessionOpened, StepOpened
from schemas.subjects import Address
from services.desk.core.commands import decide, misplaced
from services.desk.core.history import LAST_ORDINAL, parse_range
from services.desk.core.session import DeskSession, evolve
from services.domain.decision import CommandContext, Decision
from services.domain.ranges import BadRange
from tests.helpers import examples as number_of
from tests.helpers.given import given

BEGUN = DeskSession(has_begun=True)
REBUILDING = DeskSession(has_begun=True, has_rebuild=True)
KIND = 'is no range of messages: write "12-80", or "stop"'


def decided(range_: str) -> Decision:
    return decide(BEGUN, HistoryRebuild(range_), CommandContext())


def test_a_wrapup_is_ordered() -> None:
    text = "All history that can be compressed will be, in the background."
    granted = Decision(ok=True, text=text, events=(HistoryOrdered(order="wrapup"),))
    assert granted == decide(BEGUN, HistoryOrder(), CommandContext())


@pytest.mark.parametrize(
    ("range_", "first", "last"),
    [("12-80", 12, 80), (" 1 - 1 ", 1, 1), ("007-8", 7, 8), ("", 0, 0), ("  ", 0, 0)],
)
def test_a_rebuild_is_of_a_range_or_of_all(range_: str, first: int, last: int) -> None:
    decision = decided(range_)
    assert (True, (HistoryOrdered(order="rebuild", first=first, last=last),)) == (decision.ok, decision.events)
    which = f"Messages {first}-{last}, out to the bounds of their compartments," if first else "All compressed history"
    assert f"{which} will be made anew in the background. What is there now holds until then." == decision.text


@pytest.mark.parametrize("range_", ["stop", " STOP "])
def test_a_rebuild_can_be_given_up(range_: str) -> None:
    text = "A rebuild that waits or is under way is given up, and what it has made; otherwise nothing changes."
    granted = Decision(ok=True, text=text, events=(HistoryOrdered(order="abandon"),))
    assert granted == decide(REBUILDING, HistoryRebuild(range_), CommandContext())


def test_history_can_be_judged_anew() -> None:
    decision = decide(BEGUN, HistoryRescore(), CommandContext())
    assert (True, (HistoryOrdered(order="rescore"),)) == (decision.ok, decision.events)
    assert "ANNALS_MODEL__CHAIN" in decision.text
    wrong = misplaced(Address("harbour"), HistoryRescore())
    assert "history.rescore is about one session: name it in the subject." == wrong


ORDERS = (HistoryOrder(), HistoryRebuild(), HistoryRebuild("1-2"), HistoryRescore())


@pytest.mark.parametrize("order", ORDERS)
def test_where_history_is_off_nothing_is_ordered(order: Command) -> None:
    refused = "Nothing was ordered: no history is compressed here: it is switched off (ANNALS_HISTORY__ENABLED)."
    assert Decision(ok=False, text=refused) == decide(BEGUN, order, CommandContext(history=False))


@pytest.mark.parametrize("order", ORDERS)
def test_in_the_session_of_a_subagent_the_same_is_ordered(order: Command) -> None:
    session = given(
        evolve, DeskSession(), SessionOpened(harness="pi", mode="subagent", parent="s0"), StepOpened(step="a")
    )
    assert decide(BEGUN, order, CommandContext()) == decide(session.state, order, CommandContext())


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_before_the_first_model_call_says_that_it_waits_for_it(order: Command) -> None:
    before = given(evolve, DeskSession(), SessionOpened(harness="pi", mode="primary"))
    decision = decide(before.state, order, CommandContext())
    assert decision.ok
    assert "in the background, after the first model call of this session" in decision.text
    begun = before.and_given(StepOpened(step="a"))
    assert "first model call" not in decide(begun.state, order, CommandContext()).text


def test_a_rebuild_can_be_given_up_wherever_it_was_ordered() -> None:
    stop = HistoryRebuild("stop")
    off = CommandContext(history=False)
    assert decide(REBUILDING, stop, CommandContext()) == decide(DeskSession(has_rebuild=True), stop, off)


@pytest.mark.parametrize(
    ("range_", "reason"),
    [
        ("80-12", "the range '80-12' runs backwards: write \"12-80\""),
        ("0-5", "the range '0-5' names message 0, and they are counted from 1"),
        ("5-0", "the range '5-0' names message 0, and they are counted from 1"),
        ("a-b", f"'a-b' {KIND}"),
        ("12", f"'12' {KIND}"),
        ("12-", f"'12-' {KIND}"),
        ("1-2,4-5", f"'1-2,4-5' {KIND}"),
        ("-5-8", f"'-5-8' {KIND}"),
        ("\u0661-\u0662", f"'\u0661-\u0662' {KIND}"),
        ("x" * 500, f"'{'x' * 40}' {KIND}"),
        ("1-99999999999", "the range '1-99999999999' names more messages than any session has"),
    ],
)
def test_what_is_no_range_is_refused_with_the_reason(range_: str, reason: str) -> None:
    assert Decision(ok=False, text=f"Nothing was ordered: {reason}.") == decided(range_)


@settings(max_examples=number_of.examples(200), deadline=None)
@given_any(st.text("0123456789- x", max_size=14))
def test_any_text_that_is_not_refused_is_a_range(text: str) -> None:
    try:
        first, last = parse_range(text)
    except BadRange:
        return
    assert 1 <= first <= last <= LAST_ORDINAL


def test_what_no_model_can_judge_is_not_ordered() -> None:
    for state in (BEGUN, DeskSession()):
        refused = decide(state, HistoryRescore(), CommandContext(has_models=False))
        assert (False, ()) == (refused.ok, refused.events)
        assert "ANNALS_MODEL__CHAIN" in refused.text
    assert decide(BEGUN, HistoryOrder(), CommandContext(has_models=False)).ok


def test_a_range_outside_the_session_is_not_ordered() -> None:
    listed = MessageListed(messages=["m1", "m2"], ordinals=[1, 2])
    state = given(evolve, BEGUN, listed).state
    for range_ in ("12-80", "2-3", "3-3"):
        refused = decide(state, HistoryRebuild(range_), CommandContext())
        assert (False, ()) == (refused.ok, refused.events)
        assert "this session has 2 messages" in refused.text
    assert decide(state, HistoryRebuild("1-2"), CommandContext()).ok
