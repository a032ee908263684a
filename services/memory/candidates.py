"""Candidates without a model: what a session shows that may be worth remembering, read off its own words.

There are three kinds: sentences in which a person gives a rule, commands that the work is checked with and that have
passed, and sentences in which the agent gives a decision with its reason. Each alone is weak evidence: the book holds
them until the same was seen twice.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from services.domain.texts import phrase_patterns
from services.domain.texts.bounds import beginning, flat
from services.domain.texts.own import unquoted_lines
from services.domain.texts.paragraphs import paragraphs
from services.domain.texts.rule_sentences import category_of
from services.domain.texts.sentences import is_informative, split
from services.domain.tools.call import Call, broken
from services.domain.tools.shell import is_checking, short_command
from services.memory.classes import Placement, placed
from services.memory.gate.candidate import judge_candidate
from services.memory.gate.lasting import passing_reasons
from services.memory.gate.verdict import SOFT, Verdict
from services.memory.requests.find import LONGEST, phrase_in
from services.memory.requests.whose_words import is_ascribed, outside_quotations, own_parts, quotations

replace = msgspec.structs.replace

Rule = Literal["person", "command", "decision"]
LONGEST_TEXT = 12_000
"""Characters of a message that are read."""
_QUESTION = ("?", "\uff1f")


class JudgedCandidate(msgspec.Struct, frozen=True):
    """A candidate, where it belongs, and what the gate says of it."""

    text: str
    place: Placement
    rule: Rule
    verdict: Verdict
    is_own: bool = True
    """Whether whoever sent it certainly wrote it: what a person may have pasted waits until a person decides."""


def from_person(text: str) -> tuple[JudgedCandidate, ...]:
    """The rules that a person gives in a message, each once."""
    start = text[:LONGEST_TEXT]
    own = {*_sentences("\n".join(own_parts(start)))}
    found: dict[str, JudgedCandidate] = {}
    for sentence in _sentences("\n".join(unquoted_lines(start))):
        rule = _without_talk(sentence)
        read_as = _spelled(rule)
        if _gives_rule(read_as):
            is_own = sentence in own and _is_unascribed(read_as)
            judged = _judged(read_as, _placed(category_of(read_as)), "person", is_own=is_own)
            found.setdefault(rule, judged if read_as == rule else replace(judged, text=beginning(rule, LONGEST)))
    return tuple(found.values())


def from_agent(text: str) -> tuple[JudgedCandidate, ...]:
    """The decisions that an agent gives a reason for in what it writes, each once."""
    found: dict[str, JudgedCandidate] = {}
    for sentence in _sentences("\n".join(unquoted_lines(text[:LONGEST_TEXT]))):
        if _REASONED.search(sentence) and not sentence.endswith(_QUESTION):
            found.setdefault(sentence, _judged(sentence, _placed("ARCHITECTURE"), "decision"))
    return tuple(found.values())


def from_call(call: Call, exit_code: int | None = None) -> tuple[JudgedCandidate, ...]:
    """The command of this call, if the work is checked with it and it has passed."""
    command = short_command(call.command) if call.kind == "run" else ""
    if not command or not is_checking(command):
        return ()
    if call.failed or exit_code not in (0, None) or broken(call.output):
        return ()
    text = f"The work is checked with `{command}`."
    return (JudgedCandidate(text, _placed("CONFIG_VALUES"), "command", judge_candidate(text, "reference").verdict),)


_SHOULD_NOT = re.compile(r"\bshould(?: not|n['\u2019]t| never| always)\b", re.IGNORECASE)
"""Words for what should not be, which is mostly a rule; what should be is mostly the next thing to do."""
_REASONED = re.compile(
    r"\b(?:because|so that|instead of|rather than|decided|in favou?r of|by design|on purpose)\b"
    r"|\b(?:weil|statt|damit|entschieden)\b|потому что|вместо|因为|而不是|ため|대신",
    re.IGNORECASE,
)


_LEAD = re.compile(
    r"(?:(?:h+m+|ok(?:ay)?|k|alright|all right|right|well|btw|by the way|hey|hi|oh|omfg|omg|wtf|ffs|ugh|argh|damn|dude"
    r"|my dude|man|and also|also|and|so|look|listen|actually|yeah|yes|nope?|please|note that|as i said)"
    r"\b[\s,.:!\u2026-]+)+",
    re.IGNORECASE,
)
"""The words with which people begin before they come to what they want."""
_WITHOUT_COMMA = re.compile(r"(?:and|so|no|yes|right|look|man)\s", re.IGNORECASE)
_LAYS_DOWN = re.compile(
    r"(?!(?:it|this|that|these|those|there|they|he|she|we|you|i|what|which|who|how|why|where|when|then|now|maybe"
    r"|everything|nothing|something|someone|one|both|the (?:rest|first|second|third|last|next|other|same|latest|whole"
    r"|new|old|test|tests|button|block|bug|fix|problem|issue))\b)(?:[^\s,;:?!]+ ){1,8}?(?:should|shall)\b"
    r"(?! (?:we|i|you|now|also|work|be (?:done|fine|good|ok|okay|enough|ready|fixed|in|there|gone)\b))"
    r"|(?!(?:it|this|that|we|you|i|they)\b)(?:[^\s,;:?!]+ ){1,6}?(?:needs? to|has to|have to)\b.{3,160}?"
    r"(?:\bor else\b|\botherwise\b|\bbecause\b|\bso that\b)"
    r"|(?:every|each|all|any) (?:[^\s,;:?!]+ ){1,4}?(?:needs?|has|have) "
    r"|use (?!the (?:other|first|second|last|same)\b)[^,;?]{3,80}, (?:no|not|never|instead of)\b"
    r"|no (?:[^\s,;:?!]+ ){1,6}?(?:please|ever|anywhere|in the|in any)\b"
    r"|(?:whenever|(?:every|each|any) ?time) [^,;?!]{3,80}, \w"
    r"|(?:when|if|once|before|after|unless) (?:you|we|someone|anyone|one) (?:\w+ ){1,3}?(?:a|an|any|each|every"
    r"|new) [^,;?!]{2,60}, \w"
    r"|(?:when|if|once|before|after) (?:a|an|any|each|every) (?:new )?(?:[\w-]+ )?(?:test|migration|commit|pr"
    r"|pull request|branch"
    r"|release|build|dependency|package|file|module|endpoint|component|function|class|script|deploy|bug|ticket"
    r"|change|feature)s?\b"
    r"[^,;?!]{0,60}, \w|(?:if|when|whenever|unless) i (?:say|ask|tell|write|mention|type)\b[^;?!]{2,60}, \w"
    r"|(?:after|before|with|for|on) (?:each|every) [^?!]{3,80}"
    r"|(?:jedes mal,? wenn|immer wenn|(?:vor|nach|bei) jede\w|cada vez que|(?:antes|después) de cada|chaque fois que"
    r"|(?:à|avant|après) chaque) |(?:wenn|sobald|falls|bevor) (?:du|man|jemand|ein\w{0,2}) [^,;?!]{3,80}, \w"
    r"|每次|每当|凡是|.{1,30}(?:たびに|ごとに|毎回|常に|いつも)"
    r"|(?:bitte )?(?:immer|nie) |(?:toujours|jamais|siempre|nunca) \w+(?:r|re|ez|es|a|e)\b",
    re.IGNORECASE,
)
"""The form of a sentence that lays down how a thing is to be, without a word for rules: `setTheme should return an
error`."""


def _misspelt(word: str) -> Iterator[str]:
    """The word with two letters in each other's place, with one left out, and with one doubled."""
    for at in range(len(word)):
        yield word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]
        yield word[:at] + word[at + 1 :]
        yield word[:at] + word[at] + word[at:]


_MEANT = {
    wrong: word
    for word in ("always", "never")
    for wrong in _misspelt(word)
    if wrong not in {word, "ever", "neve", "nerve"}
}
"""Words of rules as they are typed in haste -> the word."""
_LETTERS = re.compile(r"[a-z]+", re.IGNORECASE)


def _spelled(sentence: str) -> str:
    """The sentence with words of rules as they are meant."""
    return _LETTERS.sub(lambda found: _MEANT.get(found[0].lower(), found[0]), sentence)


def _without_talk(sentence: str) -> str:
    """The sentence without what leads it in. `and`, `so` and `no` may be a part of it where no comma parts them."""
    found = _LEAD.match(sentence)
    if found is None:
        return sentence
    rest = sentence[found.end() :]
    is_part = (
        "," not in found[0] and _WITHOUT_COMMA.match(found[0]) and not rest.lower().startswith(("always", "never"))
    )
    return sentence if is_part or not is_informative(rest) else rest


def _rule_words(sentence: str) -> re.Match[str] | None:
    return phrase_patterns.RULE.search(sentence) or _SHOULD_NOT.search(sentence) or _LAYS_DOWN.match(sentence)


def _gives_rule(sentence: str) -> bool:
    """Whether there is a rule in it that the person has not asked to be remembered anyway."""
    return _rule_words(sentence) is not None and not sentence.endswith(_QUESTION) and phrase_in(sentence) is None


def _is_unascribed(sentence: str) -> bool:
    """Whether the words that make a rule of it stand in no quotation and behind nobody else's name."""
    plain = outside_quotations(sentence)
    found = _rule_words(plain)
    if _ASKED_OF_SOMEBODY.search(plain):
        return False
    if found is None or phrase_patterns.RULE.search(quotations(sentence)):
        return False
    return not is_ascribed(plain[: found.start()])


_ASKED_OF_SOMEBODY = re.compile(r"(?:[^\w\s]\s*|\d\s+)(?:(?:please|always) ){0,2}remember\s", re.IGNORECASE)
"""A request in the middle of a sentence that is none of its sender's: `Reply to her: remember that ...`."""


def _judged(sentence: str, place: Placement, rule: Rule, *, is_own: bool = True) -> JudgedCandidate:
    judged = judge_candidate(sentence, place.memory_class)
    reasons = judged.verdict.reasons
    if rule == "person":  # who says how things are to be has chosen what they mean by it
        reasons = tuple(reason for reason in reasons if reason not in SOFT)
    passing = passing_reasons(sentence, is_reported=rule == "decision")
    verdict = Verdict((*reasons, *passing), judged.verdict.diagnostics)
    return JudgedCandidate(judged.text, place, rule, verdict, is_own)


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
