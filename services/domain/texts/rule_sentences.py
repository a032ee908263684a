"""Sentences that give a rule: what is to be so from now on, whoever wrote it, and what it is about."""

import re
from collections.abc import Iterator

from services.domain.texts import phrase_patterns
from services.domain.texts.own import own_lines
from services.domain.texts.sentences import is_informative

_QUESTION = ("?", "\uff1f")
_FIRM = re.compile(
    r"^(?:please |and |but |also )*(?:always|never|don['\u2019]t ever|from now on|in (?:the )?future|every time"
    r"|immer|niemals|nie(?! (?:das|so)\b)|ab jetzt"
    r"|siempre|nunca|toujours|всегда|никогда|впредь|总是|始终|永远|以后|一律|必ず|常に|항상|절대)"
    r"|\b(?:from now on|as a rule|by convention|(?:you|we) (?:must|should|have to|need to) (?:always|never))\b"
    r"|\bmust (?:always|never)\b|^(?:all|every|each) .{3,60} must\b"
    r"|^(?:please )?use (?!the |a |an )\S+(?: \S+)? ?(?:instead of|rather than|, not|, never) "
    r"|(?:改用|使用).{1,40}(?:而不是|不要)|^verwende .{2,60} statt |^используй\w* .{2,60} вместо ",
    re.IGNORECASE,
)
"""A rule that was given as one: no request about what is being made."""
_HAPPENS = re.compile(
    r"^(?:please |and |but |also )*(?:always|never|every time)\W+(?:\w+(?:[^s]s|ed)\b|i\b|it\b|we\b)", re.IGNORECASE
)
"""`Always shows 0` describes what happens, and is no rule."""
_NAMING = re.compile(
    r"\b(?:names?|named|naming|called?|prefix|suffix|snake_case|camelCase|kebab-case)\b|命名|назыв|nenn", re.IGNORECASE
)
_LIMIT = re.compile(
    r"\b(?:must not|cannot|can['\u2019]t|limit|at most|at least|maximum|no more than)\b|不能|нельзя"
    r"|darf nicht",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[\w.-]\s{0,9}=\s{0,9}\S|\bport \d{2,5}\b", re.IGNORECASE)


LEAST, MOST = 6, 600
"""Characters of a sentence that lays something down."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\W_]*[^\W\da-z_])|(?<=[\u3002\uff01\uff1f])")
_FORBIDS = re.compile(
    r"\b(?:leave|keep) .{2,80} (?:alone|as (?:it|they) (?:is|are)|untouched|unchanged)\b|\bhands off\b"
    r"|\b(?:lass|lasst|lassen sie) .{2,80} (?:in ruhe|wie (?:es|sie|er) (?:ist|sind))"
    r"|\bn(?:e |['\u2019])\w+ (?:pas|plus|rien)\b|\bnon? (?:to(?:qu|cc)|cambi|modific?|borr|elimin|us)\w{1,6}\b"
    r"|\bне (?:трог|меня|измен|удаля|использу)\w*"  # noqa: RUF001 - words of another script
    r"|ないで|てはいけ|지 ?마|말아|勿|别",
    re.IGNORECASE,
)
"""Forms in which something is forbidden that are none of a rule alone."""
_OF_ONESELF = re.compile(
    r"\b(?:i|we|they|it|that|this)\s+(?:really |just |still )?(?:do not|don['\u2019]t|only)\b"
    r"|\b(?:ich|wir)\s+(?:\w+ ){0,2}nicht\b",
    re.IGNORECASE,
)
"""Sentences about what somebody does not know, want or have."""


def is_firm(sentence: str) -> bool:
    """Whether it says what is to be so from now on: no question, no reproach, and no complaint of what happens."""
    return (
        _FIRM.search(sentence) is not None
        and is_informative(sentence)
        and not sentence.endswith(_QUESTION)
        and not is_complaint(sentence)
    )


def laid_down(text: str) -> tuple[str, ...]:
    """The sentences of a person's message that forbid something or lay something down, as they were written.

    What was pasted, quoted or set as code is nobody's order here. It is generous: who asks shows it in a person's name.
    """
    found = (sentence for line in own_lines(text) for sentence in _sentences(line) if _lays_down(sentence))
    return tuple(dict.fromkeys(found))


def _sentences(line: str) -> Iterator[str]:
    """Sentences as they are in the line, those too that are too short for others to make one of."""
    return (piece for one in _SENTENCE_END.split(line) if (piece := one.strip().lstrip("-*• ").strip()))


def _lays_down(sentence: str) -> bool:
    return (
        (phrase_patterns.RULE.search(sentence) or _FORBIDS.search(sentence)) is not None
        and LEAST <= len(sentence) <= MOST
        and not sentence.endswith(_QUESTION)
        and not _OF_ONESELF.search(sentence)
        and not is_complaint(sentence)
    )


def is_complaint(sentence: str) -> bool:
    """Whether it is a reproach for what was done, or a complaint of what happens."""
    return bool(phrase_patterns.REPROACH.search(sentence) or _HAPPENS.search(sentence))


def category_of(sentence: str) -> str:
    """The category of facts that a rule is about."""
    if _NAMING.search(sentence):
        return "NAMING"
    if _VALUE.search(sentence):
        return "CONFIG_VALUES"
    return "CONSTRAINTS" if _LIMIT.search(sentence) else "PROJECT_RULES"
