"""A candidate that no person asked for in so many words: its text without what asks for it, judged with its length."""

import re
import unicodedata

import msgspec

from services.domain.texts.bounds import beginning, flat
from services.domain.texts.rule_sentences import is_firm
from services.memory.classes import MemoryClass
from services.memory.gate.verdict import EMPTY, Verdict, judge
from services.memory.requests.find import LONGEST, phrase_in

TOO_SHORT, NEGATED = "too_short", "negated_request"
SHORTEST = 20
"""Columns from which on a text means something by itself."""
SHORTEST_VALUE = 12
"""Columns from which on a text is long enough that gives a value which stays, or begins with a word of a rule."""
SHORTEST_ASKED = 6
"""Columns from which on a text is long enough that asks to be remembered."""
_VALUE = re.compile(r"\b(?:admin )?pins?\b|\bscrypt\b|\b[nrp]\s?=\s?\d", re.IGNORECASE)


class CandidateAtGate(msgspec.Struct, frozen=True):
    """A candidate as it would be remembered, and what the gate says of it."""

    text: str
    verdict: Verdict
    had_trigger: bool = False
    """Whether the text itself asks to be remembered."""


def judge_candidate(body: str, memory_class: MemoryClass) -> CandidateAtGate:
    """Judge the body of a candidate; its text is at most 260 characters long."""
    plain = flat(body)
    hit = phrase_in(plain)
    if hit and hit.reason == NEGATED:
        return CandidateAtGate(beginning(plain, LONGEST), Verdict((NEGATED,)), had_trigger=True)
    text = f"{hit.before.rstrip(' ,')} {hit.body}".strip() if hit else plain
    verdict = judge(text, memory_class)
    if text and columns(text) < _shortest(text, memory_class, had_trigger=hit is not None):
        verdict = Verdict((TOO_SHORT, *verdict.reasons), verdict.diagnostics)
    elif not text:
        verdict = Verdict((EMPTY,))
    return CandidateAtGate(beginning(text, LONGEST), verdict, had_trigger=hit is not None)


def columns(text: str) -> int:
    """The length of a text, where a character that is a word counts for two."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text[: LONGEST * 2])


def _shortest(text: str, memory_class: MemoryClass, *, had_trigger: bool) -> int:
    if had_trigger:
        return SHORTEST_ASKED
    if is_firm(text):
        return SHORTEST_VALUE
    return SHORTEST_VALUE if memory_class == "reference" and _VALUE.search(text) else SHORTEST
