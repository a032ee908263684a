"""Conditions that were translated from a sentence: what of an answer may be used.

A model translates, and its answer is a stranger's text. So it may only choose among the kinds that there are, and every
name in its answer must be in the sentence: nobody is led to a file, a branch or an address that the author of the note
has not named. Only a date may be worded otherwise, since code can derive it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

import msgspec

from schemas.conditions import (
    AddressCondition,
    CommandCondition,
    CommitCondition,
    Condition,
    DateCondition,
    FileCondition,
    MergeCondition,
    decode_condition,
)
from services.domain.conditions import BadCondition, fault_of
from services.domain.sentence_dates import dates_in

NO_KIND = "no kind of condition fits its words"
"""The reason why words stay words where a model finds nothing to check in them."""
NOT_USABLE = "no translation of its words has passed the checks"
"""The same where a model has answered wrongly, and once more after it was given what was wrong."""
_SIGNS = "._/\\:@#+~%?=&-"
"""Characters that a name may go on with, in front of a letter or a digit."""
_LEADING = ("/", "\\", "~")
"""Characters behind which a name is never whole, as in `../map.md`."""
_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
ZONES = frozenset(
    {"utc", "gmt", "z", "wet", "west", "cet", "cest", "mez", "mesz", "eet", "eest", "msk", "bst", "ist", "jst"}
    | {"est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "aest", "aedt", "nzst", "nzdt", "time", "zeit"}
)
"""Words that name a time zone, in lower case, also as in `Tokyo time`."""
_EDGES = "\"'`()[]{},;:!?."
_DATE = len("2027-03-03")


def condition_in(answer: str, sentence: str, written: datetime) -> Condition:
    """The condition of an answer (JSON) about a sentence that was written at this moment, in whichever time zone.

    Raises `BadCondition` for one that names what the sentence does not, or that an agent could not give either.
    """
    condition = decode_condition(answer)
    if wrong := _fault(answer, condition, sentence, _calendars(condition, written)):
        raise BadCondition(wrong)
    if condition is None:
        raise BadCondition(NOT_USABLE)
    if wrong := fault_of(condition):
        raise BadCondition(wrong)
    return condition


def answer_fault(answer: str, sentence: str, written: datetime) -> str:
    """The fault of an answer that a second one may not have; empty: it has none. It repeats no word of the answer.

    Days are those of the time zone in which `written` is given.
    """
    condition = decode_condition(answer)
    if isinstance(condition, DateCondition):
        at = moment_in(condition.at, sentence, written)
        if at is None:
            return "the date is in another time zone than the moment of writing, and the sentence names none"
        condition = DateCondition(at)
    return _fault(answer, condition, sentence, (written,))


def moment_in(at: datetime, sentence: str, written: datetime) -> datetime | None:
    """The moment that an answer means in the time zone in which `written` is given; none: it is in another one.

    A model copies the difference to UTC that the moment of writing has, which may be another one on that day: the hour
    on the clock counts. One that the clock skips is the next one, and of one that comes twice the first is meant.
    """
    if _names_zone(sentence):
        return at
    clock = at.replace(tzinfo=written.tzinfo, fold=0)
    again = clock.replace(fold=1)
    if at.utcoffset() in (clock.utcoffset(), written.utcoffset()):
        return clock.astimezone(UTC).astimezone(written.tzinfo)
    return again if at.utcoffset() == again.utcoffset() else None


def _names_zone(sentence: str) -> bool:
    """Whether a sentence names a time zone: by a word, as `Europe/Paris`, or by the difference to UTC."""
    return any(_is_zone(word.strip(_EDGES)) for word in sentence.split())


def _is_zone(word: str) -> bool:
    if word.lower() in ZONES:
        return True
    region, stroke, place = word.partition("/")
    if stroke and region.isalpha() and region.istitle() and place[:1].isupper():
        return True
    clock = word[_DATE:] if word[:_DATE].count("-") > 1 else word
    has_sign = any(sign in clock for sign in "+-") or clock[-1:] in ("Z", "z")
    return has_sign and any(one.isdigit() for one in clock) and (":" in clock or clock[0] in "+-T")


def _calendars(condition: Condition | None, written: datetime) -> Iterable[datetime]:
    """A moment by the clocks that people may have had where a date is given: summer time moves them by an hour."""
    if not isinstance(condition, DateCondition):
        return (written,)
    return [(written + shift).astimezone(condition.at.tzinfo) for shift in (-_HOUR, timedelta(0), _HOUR)]


def _fault(answer: str, condition: Condition | None, sentence: str, written: Iterable[datetime]) -> str:
    if condition is None or _unknown_fields(answer, condition):
        return "the answer is no condition of a known kind with the fields of that kind"
    if isinstance(condition, DateCondition):
        is_derived = any(_is_derived(condition.at, sentence, moment) for moment in written)
        return "" if is_derived else "the date does not follow from the sentence"
    missing = next((field for field, name in _names(condition) if name and not is_named(name, sentence)), "")
    return f"the field {missing} is not in the sentence, character by character" if missing else ""


def _unknown_fields(answer: str, condition: Condition) -> bool:
    given = msgspec.json.decode(answer.encode(), type=dict[str, msgspec.Raw])
    return bool(set(given) - {"kind", *condition.__struct_fields__})


def _names(condition: Condition) -> Iterator[tuple[str, str]]:
    """The names in a condition, each with its field."""
    match condition:
        case FileCondition(path=path, text=text):
            yield from (("path", path), ("text", text))
        case CommitCondition(sha=sha, subject=subject, tag=tag):
            yield from (("sha", sha), ("subject", subject), ("tag", tag))
        case MergeCondition(branch=branch, into=into):
            yield from (("branch", branch), ("into", into))
        case CommandCondition(command=command):
            yield "command", command
        case AddressCondition(url=url, status=status, contains=contains):
            yield from (("url", url), ("status", str(status) if status else ""), ("contains", contains))
        case DateCondition():
            return


def is_named(name: str, sentence: str) -> bool:
    """Whether a name is in a sentence as a whole: `v2.0` is not in `v2.0.1`, and `map.md` not in `docs/map.md`."""
    at = sentence.find(name)
    while at >= 0:
        before, behind = sentence[:at], sentence[at + len(name) :]
        if not _goes_on(behind) and not _goes_on(before[::-1]) and not before.endswith(_LEADING):
            return True
        at = sentence.find(name, at + 1)
    return False


def _goes_on(rest: str) -> bool:
    """Whether a name goes on with this: with a letter or a digit, or with signs that lead to one."""
    behind = rest.lstrip(_SIGNS)[:1]
    return behind.isalnum() or behind == "_"


def _is_derived(at: datetime, sentence: str, written: datetime) -> bool:
    """Whether a moment is on a day that the sentence names, or on the next one, as in `after 3 March`."""
    return any(at.date() - day in (timedelta(0), _DAY) for day in dates_in(sentence, written))
