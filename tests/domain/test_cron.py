"""Cron lines: what is one, and when it is due."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from services.domain.cron import check, next_slot

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("line", ["0 2 * * *", "30 4 * * SUN", "*/5 * * * *", "0 0 29 2 *", " 0  2 * * 1-5 "])
def test_a_line_of_five_fields_is_one(line: str) -> None:
    check(line)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("0 25 * * *", "has a hour that cannot be"),
        ("61 2 * * *", "has a minute that cannot be"),
        ("02:00", "has 1 fields instead of 5"),
        ("0 0 2 * * *", "has 6 fields instead of 5"),
        ("", "has 0 fields instead of 5"),
        ("0 0 30 2 *", "has a day-of-month that cannot be"),
        ("@daily", "has 1 fields instead of 5"),
    ],
)
def test_what_is_none_is_refused_with_the_right_form(line: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong) as raised:
        check(line)
    assert 'such as "0 2 * * *"' in str(raised.value)


@pytest.mark.parametrize(
    ("after", "slot"),
    [
        ("2026-01-05T02:29:59+01:00", "2026-01-05T02:30:00+01:00"),
        ("2026-01-05T02:30:00+01:00", "2026-01-06T02:30:00+01:00"),
        ("2026-03-29T00:00:00+01:00", "2026-03-29T03:00:00+02:00"),  # the clock leaves 02:30 out
        ("2026-10-25T00:00:00+02:00", "2026-10-25T02:30:00+02:00"),  # it shows 02:30 twice
        ("2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"),
        ("2026-10-25T02:10:00+01:00", "2026-10-26T02:30:00+01:00"),  # in the hour that comes again
    ],
)
def test_a_slot_is_the_next_moment_of_its_zone_through_both_clock_changes(after: str, slot: str) -> None:
    found = next_slot("30 2 * * *", BERLIN, datetime.fromisoformat(after))
    assert (datetime.fromisoformat(slot), UTC) == (found, found.tzinfo)
