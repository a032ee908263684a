"""Orders to compress history: wrap up, make anew, give up."""

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from schemas.commands import HistoryOrder, HistoryRebuild, HistoryRescore
from schemas.events import HistoryOrdered
from schemas.subjects import Address
from services.desk.core import decide, misplaced
from services.desk.grammar import BadRange
from services.desk.orders import LAST_ORDINAL, parse_range
from services.desk.state import Book
from services.desk.verdict import Terms, Verdict
from tests import examples as number_of

KIND = 'is no range of messages: write "12-80", or "stop"'


def said(range_: str) -> Verdict:
    return decide(Book(), HistoryRebuild(range_), Terms())


def test_a_wrapup_is_ordered() -> None:
    text = "All history that can be compressed will be, in the background."
    granted = Verdict(ok=True, text=text, events=(HistoryOrdered(order="wrapup"),))
    assert granted == decide(Book(), HistoryOrder(), Terms())


@pytest.mark.parametrize(
    ("range_", "first", "last"),
    [("12-80", 12, 80), (" 1 - 1 ", 1, 1), ("007-8", 7, 8), ("", 0, 0), ("  ", 0, 0)],
)
def test_a_rebuild_is_of_a_range_or_of_all(range_: str, first: int, last: int) -> None:
    verdict = said(range_)
    assert (True, (HistoryOrdered(order="rebuild", first=first, last=last),)) == (verdict.ok, verdict.events)
    which = f"Messages {first}-{last}, out to the bounds of their compartments," if first else "All compressed history"
    assert f"{which} will be made anew in the background. What is there now holds until then." == verdict.text


@pytest.mark.parametrize("range_", ["stop", " STOP "])
def test_a_rebuild_can_be_given_up(range_: str) -> None:
    text = "A rebuild that waits or is under way is given up, and what it has made; otherwise nothing changes."
    assert Verdict(ok=True, text=text, events=(HistoryOrdered(order="abandon"),)) == said(range_)


def test_history_can_be_judged_anew() -> None:
    verdict = decide(Book(), HistoryRescore(), Terms())
    assert (True, (HistoryOrdered(order="rescore"),)) == (verdict.ok, verdict.events)
    assert "ANNALS_MODEL__CHAIN" in verdict.text
    wrong = misplaced(Address("harbour"), HistoryRescore())
    assert "history.rescore is about one session: name it in the subject." == wrong


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
    assert Verdict(ok=False, text=f"Nothing was ordered: {reason}.") == said(range_)


@settings(max_examples=number_of.examples(200), deadline=None)
@examples(st.text("0123456789- x", max_size=14))
def test_any_text_that_is_not_refused_is_a_range(text: str) -> None:
    try:
        first, last = parse_range(text)
    except BadRange:
        return
    assert 1 <= first <= last <= LAST_ORDINAL
