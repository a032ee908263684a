"""Dates in sentences: what the words name at the moment at which they were written."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.sentence_dates import FIRST_YEAR, LAST_YEAR, MONTHS, NUMBERS, UNITS, dates_in

SUNDAY = datetime(2026, 11, 29, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sentence", "days"),
    [
        ("after 3 March", ["2027-03-03"]),
        ("on March 3rd, 2028", ["2028-03-03"]),
        ("the 3rd of March", ["2027-03-03"]),
        ("ab dem 3. März", ["2027-03-03"]),
        ("on 30 November", ["2026-11-30"]),
        ("after 2027-01-05T09:00Z", ["2027-01-05"]),
        ("ab dem 5.1.2027", ["2027-01-05"]),
        ("in April 2027", ["2027-04-01", "2027-04-30"]),
        ("once it is 29 February", ["2028-02-29"]),
        ("tomorrow", ["2026-11-30"]),
        ("in two weeks", ["2026-12-13"]),
        ("in 3 hours", ["2026-11-29"]),
        ("in einer Woche", ["2026-12-06"]),
        ("a month from now", ["2026-12-29"]),
        ("on Sunday", ["2026-12-06"]),
        ("next Friday", ["2026-12-04", "2026-12-11"]),
        ("next week", ["2026-11-30"]),
        ("next month", ["2026-12-01"]),
        ("next year", ["2027-01-01"]),
        ("on 31 February", []),
        ("in 9999 years", []),
        ("when the parser may break", []),
        ("when v2.0 is tagged", []),
        ("", []),
    ],
)
def test_a_date_is_what_the_words_name_then(sentence: str, days: list[str]) -> None:
    assert days == sorted(str(day) for day in dates_in(sentence, SUNDAY))


@given(
    st.lists(st.sampled_from([*MONTHS, *NUMBERS, *UNITS, "next", "in", "of", "0", "31", "2026", "9999", "-", "1.1.1"])),
    st.datetimes(datetime(FIRST_YEAR, 1, 1), datetime(LAST_YEAR, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds
)
def test_any_words_at_any_moment_name_some_dates_or_none(words: list[str], written: datetime) -> None:
    assert all(isinstance(day, date) for day in dates_in(" ".join(words), written))


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert frozenset() <= dates_in(text, SUNDAY)
