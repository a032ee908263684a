"""Sentences that give a rule: what is to be so from now on, whoever wrote it, and what it is about."""

import re

from services.domain.texts import phrase_patterns
from services.domain.texts.sentences import is_informative

_QUESTION = ("?", "\uff1f")
_FIRM = re.compile(
    r"^(?:please |and |but |also )*(?:always|never|don['\u2019]t ever|from now on|in (?:the )?future|every time"
    r"|immer|niemals|ab jetzt"
    r"|siempre|nunca|toujours|всегда|никогда|впредь|总是|始终|永远|以后|一律|必ず|常に|항상|절대)"
    r"|\b(?:from now on|as a rule|by convention|(?:you|we) (?:must|should|have to|need to) (?:always|never))\b"
    r"|\bmust (?:always|never)\b|^(?:all|every|each) .{3,60} must\b"
    r"|^(?:please )?use (?!the |a |an )\S+(?: \S+)? ?(?:instead of|rather than|, not|, never) "
    r"|(?:改用|使用).{1,40}(?:而不是|不要)|^verwende .{2,60} statt |^используй\w* .{2,60} вместо ",
    re.IGNORECASE,
)
"""A rule that was given as one: not a wish about what is being made."""
_HAPPENS = re.compile(
    r"^(?:please |and |but |also )*(?:always|never|every time)\W+(?:\w+(?:[^s]s|ed)\b|i\b|it\b|we\b)", re.IGNORECASE
)
"""`Always shows 0`: that tells what happens, not what to do."""
_NAMING = re.compile(
    r"\b(?:names?|named|naming|called?|prefix|suffix|snake_case|camelCase|kebab-case)\b|命名|назыв|nenn", re.IGNORECASE
)
_LIMIT = re.compile(
    r"\b(?:must not|cannot|can['\u2019]t|limit|at most|at least|maximum|no more than)\b|不能|нельзя"
    r"|darf nicht",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[\w.-]\s{0,9}=\s{0,9}\S|\bport \d{2,5}\b", re.IGNORECASE)


def is_firm(sentence: str) -> bool:
    """Whether it says what is to be so from now on: no question, no reproach, and no complaint of what happens."""
    return (
        _FIRM.search(sentence) is not None
        and is_informative(sentence)
        and not sentence.endswith(_QUESTION)
        and not tells_what_happened(sentence)
    )


def tells_what_happened(sentence: str) -> bool:
    """Whether it is a reproach for what was done, or a complaint of what happens."""
    return bool(phrase_patterns.REPROACH.search(sentence) or _HAPPENS.search(sentence))


def category_of(sentence: str) -> str:
    """What a rule is about: a category of facts."""
    if _NAMING.search(sentence):
        return "NAMING"
    if _VALUE.search(sentence):
        return "CONFIG_VALUES"
    return "CONSTRAINTS" if _LIMIT.search(sentence) else "PROJECT_RULES"
