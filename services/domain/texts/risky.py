"""Orders that could do harm if they were somebody else's: about secrets, a person's work, and addresses outside.

They may be right, so nobody refuses them; but no agent follows one that no person has taken up. A package with a
misspelt name reads like any other: that cannot be seen here.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator

from services.domain.texts import risky_patterns as words

SECRETS, WORK, OUTSIDE = "touches_secrets", "risks_work", "sends_outside"
"""The reasons why a text waits for a person."""
_LOOKED_AT = 2_000
_NEAR = 100
"""Characters between a verb and what it is about."""
_BEFORE = 90
"""Characters before an order in which that stands which forbids it."""
_SENTENCE_END = re.compile(r"[!?.]\s|[。\uff01\uff1f]")
"""Names of files and addresses have dots within."""
_PLAIN = dict.fromkeys((*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF, 0xAD))


def risk_of(text: str) -> str:
    """The reason why a text must wait for a person: one of `SECRETS`, `WORK` and `OUTSIDE`; empty: it need not."""
    plain = unicodedata.normalize("NFKC", text[:_LOOKED_AT]).translate(_PLAIN).lower()
    plain = " ".join(plain.split())
    if any(_are_ordered(plain, found) for found in _outside(plain)):
        return OUTSIDE
    if any(_are_ordered(plain, found) for found in _with_secrets(plain)):
        return SECRETS
    return WORK if any(_are_ordered(plain, found) for found in _against_work(plain)) else ""


Span = tuple[int, int]


def _outside(plain: str) -> Iterator[Span]:
    yield from _pairs(words.SENDS, words.ADDRESS, plain)
    yield from _pairs(words.ADDRESS, words.SENT, plain)
    yield from _spans(words.FETCHES, plain)


def _with_secrets(plain: str) -> Iterator[Span]:
    yield from _pairs(words.HANDS_OVER, words.CONFIDENTIAL, plain)
    yield from _pairs(words.CONFIDENTIAL, words.HANDED_OVER, plain)
    if words.STORES.search(plain):
        for begin, end in _pairs(words.STORES, words.CONFIDENTIAL, plain):
            yield from (
                (begin, place) for _, place in _pairs(words.CONFIDENTIAL, words.IN_PUBLIC, plain) if place > end
            )
    elif words.CONFIDENTIAL.search(plain):
        yield from _pairs(words.CONFIDENTIAL, words.IN_THE_CLEAR, plain)


def _against_work(plain: str) -> Iterator[Span]:
    yield from _spans(words.ASKS_NOBODY, plain)
    yield from _spans(words.UNDOES, plain)


def _spans(pattern: re.Pattern[str], plain: str) -> Iterator[Span]:
    return (found.span() for found in pattern.finditer(plain))


def _pairs(first: re.Pattern[str], second: re.Pattern[str], plain: str) -> Iterator[Span]:
    """From where the first begins to where the second ends that follows it nearby, in the same sentence.

    Both are looked for once: one expression of the two would look for the second anew behind each of the first.
    """
    seconds = [*_spans(second, plain)]
    begins = [begin for begin, _ in seconds]
    for begin, end in _spans(first, plain) if seconds else ():
        at = bisect_left(begins, end)
        if at < len(begins) and begins[at] - end <= _NEAR and not _SENTENCE_END.search(plain, end, begins[at]):
            yield begin, seconds[at][1]


def _are_ordered(plain: str, span: Span) -> bool:
    """Whether the text does not forbid it in the same sentence."""
    begin, end = span
    if words.FORBIDDEN_BEHIND.match(plain, end):
        return False
    return words.FORBIDDEN.search(plain, max(0, begin - _BEFORE), begin) is None
