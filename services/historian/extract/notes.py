"""What a unit shows beyond itself, where the evidence is strong: a person's lasting rules, and turns of the work."""

import re
from collections.abc import Iterator, Sequence

from services.historian.drafts import Fact, Observation
from services.historian.extract import marks
from services.historian.extract.passages import sentences
from services.historian.extract.sentences import says_much
from services.historian.extract.steps import Step
from services.historian.extract.work import Work
from services.kit.history.clean import beginning, flat

MOST_FACTS = 5
MOST_OBSERVATIONS = 3
LONGEST = 300
_OWN_WORDS = 1500
"""Characters up to which a message is a person's own words and no paste."""
_CORRECTION = 400
_FIRM = re.compile(
    r"^(?:please |and |but |also )*(?:always|never|don['\u2019]t ever|from now on|in (?:the )?future|every time"
    r"|immer|niemals|ab jetzt"
    r"|siempre|nunca|toujours|всегда|никогда|впредь|总是|始终|永远|以后|一律|必ず|常に|항상|절대)"
    r"|\b(?:from now on|as a rule|by convention|(?:you|we) (?:must|should|have to|need to) (?:always|never))\b"
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
_VALUE = re.compile(r"\b[\w.-]+\s*=\s*\S+|\bport \d{2,5}\b", re.IGNORECASE)


def facts(unit: Sequence[Step]) -> Iterator[Fact]:
    """Rules that a person gave in so many words: always, never, use this instead of that."""
    for step in unit:
        for text in step.asked:
            if len(text) <= _OWN_WORDS:
                for sentence in _rules(text):
                    yield Fact(_category(sentence), beginning(sentence, LONGEST), (step.first,))


def observations(unit: Sequence[Step], done: Work) -> Iterator[Observation]:
    """Where a person turned the work around, and failures that were overcome."""
    told = False
    for step in unit:
        for text in step.asked:
            if told and len(text) <= _CORRECTION and marks.CORRECTION.search(flat(text)):
                yield Observation("trajectory_correction", beginning(flat(text), LONGEST), step.first, step.last)
        told = told or bool(step.told or step.calls)
    for run in done.runs:
        if run.before and not run.error:
            text = f"`{run.command}` failed ({run.before}) and works now."
            yield Observation("causal_incident", beginning(text, LONGEST), unit[0].first, run.at)


def _rules(text: str) -> Iterator[str]:
    """What is to be so from now on: no question, no reproach for what was done, and no complaint of what happens."""
    for sentence in sentences(text):
        is_about_now = marks.REPROACH.search(sentence) or _HAPPENS.search(sentence)
        if (
            _FIRM.search(sentence)
            and says_much(sentence)
            and not is_about_now
            and not sentence.endswith(("?", "\uff1f"))
        ):
            yield sentence


def _category(sentence: str) -> str:
    if _NAMING.search(sentence):
        return "NAMING"
    if _VALUE.search(sentence):
        return "CONFIG_VALUES"
    return "CONSTRAINTS" if _LIMIT.search(sentence) else "PROJECT_RULES"
