"""Days of conditions in words: those of the project's time zone, also where its clocks change."""

import json
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schemas.conditions import DateCondition, encode_condition
from services.domain.condition_sentences import answer_fault, condition_in, moment_in
from services.domain.conditions import words_of

BERLIN = ZoneInfo("Europe/Berlin")
CHANGING = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Havana", "Asia/Beirut")
NAMES = sorted(
    name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix/", "right/"))
)
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds
ZONES = st.sampled_from(CHANGING) | st.sampled_from(NAMES)


def date_at(at: datetime) -> str:
    return json.dumps({"kind": "date", "at": at.isoformat()})


@pytest.mark.parametrize(
    ("given_at", "expected"),
    [
        ("2027-03-28T00:00:00+01:00", "2027-03-28T00:00:00+01:00"),
        ("2027-07-03T09:00:00+01:00", "2027-07-03T09:00:00+02:00"),  # the difference of the winter was copied
        ("2027-07-03T09:00:00+02:00", "2027-07-03T09:00:00+02:00"),
        ("2027-03-28T02:30:00+01:00", "2027-03-28T03:30:00+02:00"),  # the clocks skip it
        ("2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+02:00"),
        ("2027-10-31T02:30:00+01:00", "2027-10-31T02:30:00+02:00"),  # copied, and the first of the two is meant
        ("2027-07-03T09:00:00Z", None),
    ],
)
def test_the_hour_on_the_clock_counts(given_at: str, expected: str | None) -> None:
    written = datetime(2027, 1, 5, 12, tzinfo=BERLIN)
    found = moment_in(datetime.fromisoformat(given_at), "on that day", written)
    assert expected == (found.isoformat() if found else None)


def test_in_summer_the_second_of_two_equal_hours_is_the_one_with_its_difference() -> None:
    written = datetime(2027, 7, 5, 12, tzinfo=BERLIN)
    found = moment_in(datetime.fromisoformat("2027-10-31T02:30:00+01:00"), "on that day", written)
    assert found is not None
    assert "2027-10-31T02:30:00+01:00" == found.isoformat()


@pytest.mark.parametrize(
    "sentence",
    ["3 July, 09:00 UTC", "2027-07-03T09:00Z", "09:00+02:00 on 3 July", "09:00 +0200", "9 o'clock Tokyo time",
     "at nine (CEST) on 3 July", "3 July in Europe/Paris"],
)  # fmt: skip
def test_a_time_zone_of_the_sentence_is_that_of_the_moment(sentence: str) -> None:
    at = datetime(2027, 7, 3, 9, tzinfo=UTC)
    assert at == moment_in(at, sentence, datetime(2027, 1, 5, 12, tzinfo=BERLIN))


@pytest.mark.parametrize(
    "sentence", ["on 3 July", "after 2027-07-03", "when CI is green on 3.7.2027", "for a/b - 3 July"]
)
def test_other_words_name_none(sentence: str) -> None:
    assert None is moment_in(datetime(2027, 7, 3, 9, tzinfo=UTC), sentence, datetime(2027, 1, 5, 12, tzinfo=BERLIN))


def test_a_day_is_one_of_the_project_and_not_of_utc() -> None:
    written = datetime(2027, 3, 2, 23, 30, tzinfo=UTC)  # in Berlin it is the 3rd
    tomorrow = date_at(datetime(2027, 3, 4, tzinfo=BERLIN))
    assert "" == answer_fault(tomorrow, "tomorrow", written.astimezone(BERLIN))
    after = date_at(datetime(2027, 3, 6, tzinfo=BERLIN))
    assert "does not follow" in answer_fault(after, "tomorrow", written.astimezone(BERLIN))
    in_utc = date_at(datetime(2027, 3, 4, tzinfo=UTC))
    assert "another time zone" in answer_fault(in_utc, "tomorrow", written.astimezone(BERLIN))


def test_the_sentence_of_a_note_has_the_zone() -> None:
    at = datetime.fromisoformat("2027-03-04T00:00:00+01:00")
    assert "it is 2027-03-04 00:00 UTC+01:00 (Europe/Berlin)" == words_of(DateCondition(at), "Europe/Berlin")
    assert "it is 2027-03-04 00:00 UTC" == words_of(DateCondition(datetime(2027, 3, 4, tzinfo=UTC)), "UTC")


@given(moment=MOMENTS, name=ZONES, days=st.integers(1, 400), hour=st.integers(0, 23), is_copied=st.booleans())
def test_a_day_so_many_days_later_is_taken_in_any_zone_and_the_desk_takes_it_too(
    *, moment: datetime, name: str, days: int, hour: int, is_copied: bool
) -> None:
    """A model writes the hour with the difference of that day, or copies the one of the moment of writing."""
    zone = ZoneInfo(name)
    written = moment.astimezone(zone)
    day: date = (moment + timedelta(days=days)).astimezone(zone).date()
    clock = datetime(day.year, day.month, day.day, hour, tzinfo=zone)
    assume(clock.utcoffset() is not None)
    offset = written.utcoffset() if is_copied else clock.utcoffset()
    assert offset is not None
    assume(not offset.seconds % 60)
    answered = clock.replace(tzinfo=datetime.fromisoformat(f"2020-01-01T00:00:00{_sign(offset)}").tzinfo)
    sentence = f"in {days} days" if days > 1 else "in one day"
    assert "" == answer_fault(date_at(answered), sentence, written)
    at = moment_in(answered, sentence, written)
    assert at is not None
    assert at == clock.astimezone(UTC)
    assert at.astimezone(UTC) == at
    assert DateCondition(at) == condition_in(encode_condition(DateCondition(at)), sentence, moment)


def _sign(offset: timedelta) -> str:
    minutes = abs(int(offset.total_seconds())) // 60
    return f"{'-' if offset < timedelta(0) else '+'}{minutes // 60:02}:{minutes % 60:02}"
