"""Dates that a sentence names, such as `3 March`, `in two weeks` or `on Friday`, in English and in German."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import product

_MONTHS = (
    ("january", "jan", "januar"), ("february", "feb", "februar"), ("march", "mar", "märz"), ("april", "apr"),
    ("may", "mai"), ("june", "jun", "juni"), ("july", "jul", "juli"), ("august", "aug"),
    ("september", "sep", "sept"), ("october", "oct", "oktober", "okt"), ("november", "nov"),
    ("december", "dec", "dezember", "dez"),
)  # fmt: skip
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_WEEKDAYS = (
    ("monday", "montag"), ("tuesday", "dienstag"), ("wednesday", "mittwoch"), ("thursday", "donnerstag"),
    ("friday", "freitag"), ("saturday", "samstag", "sonnabend"), ("sunday", "sonntag"),
)  # fmt: skip
WEEKDAYS = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
NUMBERS = {
    name: number
    for number, names in enumerate(
        (("a", "an", "one", "einem", "einer"), ("two", "zwei"), ("three", "drei"), ("four", "vier"), ("five", "fünf"),
         ("six", "sechs"), ("seven", "sieben"), ("eight", "acht"), ("nine", "neun"), ("ten", "zehn")), 1,
    )
    for name in names
}  # fmt: skip
_UNITS = {
    "minute": timedelta(minutes=1), "hour": timedelta(hours=1), "stunde": timedelta(hours=1), "day": timedelta(days=1),
    "tag": timedelta(days=1), "week": timedelta(weeks=1), "woche": timedelta(weeks=1),
}  # fmt: skip
_ENDINGS = ("s", "n", "en", "e", "")
UNITS = {f"{name}{ending}": one for (name, one), ending in product(_UNITS.items(), _ENDINGS)}
MONTH_UNITS = {"month": 1, "months": 1, "monat": 1, "monate": 1, "monaten": 1, "year": 12, "years": 12, "jahr": 12}
DAYS_FROM_NOW = {"today": 0, "heute": 0, "tonight": 0, "tomorrow": 1, "morgen": 1}
NEXT = frozenset({"next", "nächste", "nächsten", "nächster"})
BEFORE_MONTH = frozenset(
    {"in", "of", "after", "before", "until", "by", "since", "from", "im", "nach", "vor", "ab", "bis"}
)
"""Words behind which a month without a day is one: `may` and `march` are words of other meanings, too."""
_EDGES = "\"'`()[]{},;:!?."
_ORDINALS = ("st", "nd", "rd", "th")
FIRST_YEAR, LAST_YEAR = 1970, 9998
LONGEST_NUMBER = 4
"""Digits of a number in a date."""
_YEAR_MONTHS, _WEEK = 12, 7


def dates_in(sentence: str, written: datetime) -> frozenset[date]:
    """The dates that the words of a sentence name at the moment at which it was written; of a month both its ends."""
    words = [word.strip(_EDGES) for word in sentence.lower().split()]
    found: set[date] = set()
    for at in range(len(words)):
        found.update(_at(words, at, written))
    return frozenset(found)


def _at(words: Sequence[str], at: int, written: datetime) -> Iterator[date]:
    """The dates that are named at one word."""
    word, before, today = words[at], words[at - 1] if at else "", written.date()
    yield from _in_digits(word)
    if word in MONTHS:
        yield from _of_month(words, at, today)
    if word in WEEKDAYS:
        first = today + timedelta(days=(WEEKDAYS[word] - today.weekday() - 1) % _WEEK + 1)
        yield from (first, first + timedelta(days=_WEEK)) if before in NEXT else (first,)
    if word in DAYS_FROM_NOW:
        yield today + timedelta(days=DAYS_FROM_NOW[word])
    if before in NEXT:
        yield from _next_one(word, today)
    elif (count := _number(before) or NUMBERS.get(before, 0)) and (word in UNITS or word in MONTH_UNITS):
        yield from _later(written, word, count)


def _in_digits(word: str) -> Iterator[date]:
    """`2027-03-03`, also with a time behind it, and `3.3.2027`."""
    parts = word[:10].split("-")
    if len(parts) == 1:
        parts = word.split(".")[::-1]
    if len(parts) == len(("year", "month", "day")):
        yield from _date(*map(_number, parts))


def _of_month(words: Sequence[str], at: int, today: date) -> Iterator[date]:
    """`3 March`, `March 3rd, 2027`, `3. März`, `the 3rd of March`, `in April`."""
    month, before = MONTHS[words[at]], words[at - 1] if at else ""
    behind = [_day(word) for word in words[at + 1 : at + 3]]
    day = _day(before) or (_day(words[at - 2]) if before == "of" and at > 1 else 0)
    if not day and behind and 0 < behind[0] < FIRST_YEAR:
        day = behind.pop(0)
    year = next((one for one in behind[:1] if one >= FIRST_YEAR), 0)
    if day:
        yield from _date(year, month, day) if year else _coming(month, day, today)
    elif before in BEFORE_MONTH:
        for first in _date(year, month, 1) if year else _coming(month, 1, today):
            yield first
            yield from (one - timedelta(days=1) for one in _months_later(first, 1))


def _coming(month: int, day: int, today: date) -> Iterator[date]:
    """The next day of this name: this year's, or that of one of the next, as a 29 February."""
    years = range(today.year, min(today.year + 9, LAST_YEAR + 1))
    yield from [one for year in years for one in _date(year, month, day) if one >= today][:1]


def _next_one(word: str, today: date) -> Iterator[date]:
    """The first day of the next week, month or year."""
    if word in ("week", "woche"):
        yield today + timedelta(days=_WEEK - today.weekday())
    elif word in MONTH_UNITS:
        is_year = MONTH_UNITS[word] == _YEAR_MONTHS
        yield from _date(today.year + 1, 1, 1) if is_year else _months_later(today.replace(day=1), 1)


def _later(written: datetime, unit: str, count: int) -> Iterator[date]:
    """The day that is so many units later, where the calendar has it."""
    try:
        if unit in UNITS:
            yield (written.astimezone(UTC) + count * UNITS[unit]).astimezone(written.tzinfo).date()
        else:
            yield from _months_later(written.date(), count * MONTH_UNITS[unit])
    except OverflowError:
        return


def _months_later(day: date, months: int) -> Sequence[date]:
    """The same day of a later month, or the last one that this has; none: it is beyond the calendar."""
    year, month = divmod(day.year * _YEAR_MONTHS + day.month - 1 + months, _YEAR_MONTHS)
    return [one for number in range(day.day, 0, -1) for one in _date(year, month + 1, number)][:1]


def _date(year: int, month: int, day: int) -> Sequence[date]:
    try:
        return [date(year, month, day)] if FIRST_YEAR <= year <= LAST_YEAR else []
    except ValueError:
        return []


def _day(word: str) -> int:
    """The number of `3`, `3rd` or `2027`; 0: it is none."""
    return _number(word[:-2] if word.endswith(_ORDINALS) else word)


def _number(word: str) -> int:
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= LONGEST_NUMBER else 0
