"""Candidates without a model: what a session shows that may be worth remembering, read off its own words.

There are three kinds: sentences in which a person gives a rule, commands that the work is checked with and that have
passed, and sentences in which the agent gives a decision with its reason. Each alone is weak evidence: the book holds
them until the same was seen twice.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from services.desk.core.gate.candidate import judge_candidate
from services.desk.core.gate.lasting import passing_reasons
from services.desk.core.gate.verdict import Verdict
from services.desk.core.requests.find import phrase_in
from services.domain.memory.classes import Placement, placed
from services.domain.texts import phrase_patterns
from services.domain.texts.bounds import flat
from services.domain.texts.own import own_lines, unquoted_lines
from services.domain.texts.paragraphs import paragraphs
from services.domain.texts.rule_sentences import category_of
from services.domain.texts.sentences import is_informative, split
from services.domain.tools.call import Call
from services.domain.tools.outcome import broken
from services.domain.tools.shell import is_checking, short_command

Rule = Literal["person", "command", "decision"]
LONGEST_TEXT = 12_000
"""Characters of a message that are read."""
_QUESTION = ("?", "\uff1f")


class Found(msgspec.Struct, frozen=True):
    """A candidate, where it belongs, and what the gate says of it."""

    text: str
    place: Placement
    rule: Rule
    verdict: Verdict
    is_own: bool = True
    """Whether whoever sent it certainly wrote it: what a person may have pasted is held until a person decides."""


def from_person(text: str) -> tuple[Found, ...]:
    """The rules that a person gives in a message, each once."""
    shown = text[:LONGEST_TEXT]
    own = {*_sentences("\n".join(own_lines(shown)))}
    found: dict[str, Found] = {}
    for sentence in _sentences("\n".join(unquoted_lines(shown))):
        if _gives_rule(sentence):
            place = _placed(category_of(sentence))
            found.setdefault(sentence, _judged(sentence, place, "person", is_own=sentence in own))
    return tuple(found.values())


def from_agent(text: str) -> tuple[Found, ...]:
    """The decisions that an agent gives a reason for in what it writes, each once."""
    found: dict[str, Found] = {}
    for sentence in _sentences("\n".join(unquoted_lines(text[:LONGEST_TEXT]))):
        if _REASONED.search(sentence) and not sentence.endswith(_QUESTION):
            found.setdefault(sentence, _judged(sentence, _placed("ARCHITECTURE"), "decision"))
    return tuple(found.values())


def from_call(call: Call, exit_code: int | None = None) -> tuple[Found, ...]:
    """The command of this call, if the work is checked with it and it has passed."""
    command = short_command(call.command) if call.kind == "run" else ""
    if not command or not is_checking(command):
        return ()
    if call.failed or exit_code not in (0, None) or broken(call.output):
        return ()
    text = f"The work is checked with `{command}`."
    return (Found(text, _placed("CONFIG_VALUES"), "command", judge_candidate(text, "reference").verdict),)


_SHOULD_NOT = re.compile(r"\bshould(?: not|n['\u2019]t| never| always)\b", re.IGNORECASE)
"""What should be is mostly the next thing to do; what should not be is mostly a rule."""
_REASONED = re.compile(
    r"\b(?:because|so that|instead of|rather than|decided|in favou?r of|by design|on purpose)\b"
    r"|\b(?:weil|statt|damit|entschieden)\b|потому что|вместо|因为|而不是|ため|대신",
    re.IGNORECASE,
)


def _gives_rule(sentence: str) -> bool:
    """Whether there is a rule in it that the person has not asked to be remembered anyway."""
    has_word = phrase_patterns.RULE.search(sentence) or _SHOULD_NOT.search(sentence)
    return bool(has_word) and not sentence.endswith(_QUESTION) and phrase_in(sentence) is None


def _judged(sentence: str, place: Placement, rule: Rule, *, is_own: bool = True) -> Found:
    judged = judge_candidate(sentence, place.memory_class)
    passing = passing_reasons(sentence, is_reported=rule == "decision")
    verdict = Verdict((*judged.verdict.reasons, *passing), judged.verdict.diagnostics)
    return Found(judged.text, place, rule, verdict, is_own)


def _sentences(text: str) -> Iterator[str]:
    for paragraph in paragraphs(text):
        for item in paragraph.items:
            for sentence in split(item):
                if is_informative(sentence):
                    yield flat(sentence)


def _placed(category: str) -> Placement:
    place = placed(category)
    if place is None:
        raise KeyError(category)
    return place
