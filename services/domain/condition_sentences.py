"""Conditions that were translated from a sentence: what of an answer may be used.

A model translates, and its answer is a stranger's text. So it may only choose among the kinds that there are, and every
name in its answer must be in the sentence: nobody is led to a file, a branch or an address that the author of the note
has not named. Only a date may be worded otherwise, since code can derive it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

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


def condition_in(answer: str, sentence: str, written: datetime) -> Condition:
    """The condition of an answer (JSON) about a sentence that was written at this moment.

    Raises `BadCondition` for one that names what the sentence does not, or that an agent could not give either.
    """
    condition = decode_condition(answer)
    if wrong := answer_fault(answer, sentence, written):
        raise BadCondition(wrong)
    if condition is None:
        raise BadCondition(NOT_USABLE)
    if wrong := fault_of(condition):
        raise BadCondition(wrong)
    return condition


def answer_fault(answer: str, sentence: str, written: datetime) -> str:
    """The fault of an answer that a second one may not have; empty: it has none. It repeats no word of the answer."""
    condition = decode_condition(answer)
    if condition is None or _unknown_fields(answer, condition):
        return "the answer is no condition of a known kind with the fields of that kind"
    if isinstance(condition, DateCondition):
        return "" if _is_derived(condition.at, sentence, written) else "the date does not follow from the sentence"
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
