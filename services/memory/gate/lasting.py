"""Whether a sentence that nobody asked to be remembered holds beyond the moment at which it was written.

What people and agents write to each other is mostly about now: what to do next, what was done, what `this` is. A
sentence that was read off a conversation has to stand by itself.
"""

import re

from services.domain.texts import phrase_patterns
from services.domain.texts.rule_sentences import is_complaint, is_firm
from services.memory.gate.recurring import recurs
from services.memory.gate.words import DURABLE, Words

ONE_OFF, NARRATION, WITHOUT_CONTEXT, FRAGMENT, INCIDENT = (
    "one_off_request",
    "narration",
    "without_context",
    "fragment",
    "incident",
)
"""The reasons against a sentence: something to be done now, something that somebody does or thinks, something that
depends on words before it, no sentence at all, and something that happened or may have."""

_NOW = Words(
    r"for now|yet|any ?more|at the moment|later(?: time)?|this time|today|again on|and then"
    r"|anything else(?! (?:is|are)\b)"
    r"|nothing else|don't do anything|do nothing|still"
    r"|vorerst|erstmal|diesmal|pour l'instant|por ahora|por agora|per ora",
    "пока|暂时|先这样|とりあえず|일단",
)
_TASK = re.compile(
    r"(?:(?:please|now|then|next|first|finally|just|instead|can you|could you|would you|you can|you should"
    r"|only)[ ,]+)*"
    r"(?:add|adjust|answer|apply|build|bump|change|commit|confirm|continue|convert|copy|create|debug|delete"
    r"|do whatever"
    r"|document|explain|extend|figure out|find|fix|generate|give|go|handle|implement|improve|include|install"
    r"|investigate|list|look|make(?! no\b)|merge|migrate|move|open|populate|post|print|push|read|rebase|rebuild|redo"
    r"|refactor|remove|rename|replace|report|restore|revert|review|rewrite|run|scrub|see|send|set|show|skip|start"
    r"|stop|tell"
    r"|take|test|tidy|try|tweak|undo|update|wire|write|confirmation)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that asks for something to be done now."""
_ALWAYS = Words(
    "always|never|every time|whenever|(?:before|after|on|for|in|at|with|to) (?:every|each|any|all)"
    "|from now on|in (?:the )?future|immer|niemals|siempre|nunca|toujours|sempre",
    "всегда|никогда|总是|始终|永远|必ず|常に|항상",
)
_NARRATOR = re.compile(
    r"\b(?:i|i['\u2019](?:m|ve|ll|d)|let me|let['\u2019]s|we['\u2019](?:re|ve|ll)|my dude|yours?)\b|^you\b",
    re.IGNORECASE,
)
_PREFERS = re.compile(
    r"\bi (?:would |really |strongly )*(?:prefer|(?:only|always|never) (?:want|like|use|accept|need)|expect"
    r"|(?:want|need|expect) you to (?:always|never)|want to (?:see|review|read|approve)\b.{0,60}\bbefore)\b"
    r"|\b(?:if|when|whenever|unless) i (?:say|ask|tell|write|mention|type)\b|\bi['\u2019]d (?:like|want"
    r"|prefer) you to (?:always|never)\b",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"(?:alright|ok(?:ay)?|hm+|yes|yep|yeah|nope|oh|hey|thanks|sorry|and|also|but|so"
    r"|actually|my dude|can you|could you|if you want|you['\u2019]ll|you can|both|it|they|he|she|same|because|since"
    r"|uses|used|includes?|takes|adds|returns|should|must|can|will|is|are|was|were|to|that|those|these|which)\b"
    r"|(?:no|well|good|great|nice|perfect)(?=[ ]?[,.!\u2014\u2013-])",
    re.IGNORECASE,
)
"""The beginning of a sentence that goes on with another one, or has no subject."""
_HERE = re.compile(
    r"\b(?:this|these|those)\b(?! (?:service|project|repo(?:sitory)?|codebase|package|app|application|workspace|team"
    r"|monorepo|module|library|tool)\b)"
    r"|\b(?:do|of|with|like|about|from|name) that\b|\bthe (?:other|latter|former|above|following)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"`[^`]{1,200}`\??\s?[\u2014\u2013:-]|\d{1,3}[ .)]\s?[-\u2013]|(?:scenario|result|high|medium|low|summary|finding"
    r"|question|answer|issue|problem|performance|explicit \w+ test|example|expected)\b[^:.]{0,20}(?::| - )",
    re.IGNORECASE,
)
_IT_ELSEWHERE = re.compile(
    r"(?:[Dd]as|[Ee]s(?! (?:wird|darf|muss|soll|gilt|gibt)\b)) [a-zäöü]|(?:[Çç]a|[Cc]ela|[Ee]so|[Ee]sto"
    r"|[Cc]iò) \w|[Cc]['\u2019]est\b"
)
"""Beginnings of sentences that report something earlier, in other languages."""
_ARROW = re.compile(r"\u2192|=>|->")
_DATA = re.compile(r"[\"'}\]]\s?:\s?[\"'{\[]|[}\]]\s?,\s?[\"{\[]|\{\"")
"""The remains of data as JSON."""
_SUBJECT = re.compile(r"(?:\w+ ){1,4}(?:must|should|shall|may|cannot|are|is)\b", re.IGNORECASE)
"""The rest of a sentence whose first word is a noun: `commit messages must ...`."""
_LEAVE_IT = re.compile(
    r"\b(?:don['\u2019]t|do not) (?:stop|worry|wait|bother|hesitate|start|do (?:it|that|this|so)"
    r"|touch (?:it|that|this))\b"
    r"|^we (?:don['\u2019]t|do not) (?:need|want|have)\b",
    re.IGNORECASE,
)
_RULE_ZH = re.compile("[请請]?(?:不要|禁止|必须|必須|务必|務必|不得|使用)[^这這那此它他她]{6,}$")
_MAKE_SURE = re.compile(r"\bmake sure\b", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`")
_WORD = re.compile(r"[^\W\d_]{2,}")
FEWEST_WORDS = 3
"""Words outside of code that a sentence has at least, in a script that parts them."""
_ENGLISH = re.compile(
    r"\b(?:the|an?|is|are|to|of|and|in|for|with|on|be|not|do|don['\u2019]t|as|they|it|if|at|by|from|use|avoid"
    r"|keep|must"
    r"|should)\b",
    re.IGNORECASE,
)
_GUESSED = Words(
    r"must (?:have (?:been|\w+ed)|be (?:because|failing|broken|missing|wrong))|only (?:shows?|displays?|prints?"
    r"|works?)"
    r"|instead of (?:one|two|three|four|five|\d+)"
)
"""Reasons of which nothing else may be left: what remains describes a fault."""
_PAST = Words(
    r"was|were|did|didn't|had|got|changed|refactored|rewrote|found|noticed|reported|failed|failing|fails|broke|broken"
    r"|crash(?:ed|es)?|exploded|likely|probably|might|could|seems?|appears?|means|bet|fix|fixes|bug|bugs|patch"
    r"|finding"
    r"|findings|regression|lighter|bigger|larger|dimmer|making it|old|the change is",
    "didn\u2019t",
)


def passing_reasons(text: str, *, is_reported: bool = False) -> tuple[str, ...]:
    """The reasons why a sentence does not last, each once; `is_reported`: an agent who reports wrote it."""
    if is_firm(text) and not _HERE.search(text):
        return (FRAGMENT,) if _is_fragment(text) else ()
    reasons = [
        (ONE_OFF, _is_one_off(text)),
        (NARRATION, bool(_NARRATOR.search(text)) and not _PREFERS.search(text)),
        (WITHOUT_CONTEXT, any(one.match(text) for one in (_TALK, _IT_ELSEWHERE)) or bool(_HERE.search(text))),
        (FRAGMENT, _is_fragment(text)),
        (INCIDENT, is_complaint(text) or _GUESSED.found(text) or (is_reported and _PAST.found(text))),
    ]
    return tuple(reason for reason, is_given in reasons if is_given)


def _is_one_off(text: str) -> bool:
    if _NOW.found(text) or _ARROW.search(text):
        return True
    if _TASK.match(text) and not _SUBJECT.match(text):
        return not _ALWAYS.found(text)
    if _MAKE_SURE.search(text) or _LEAVE_IT.search(text):
        return not _ALWAYS.found(text)
    if _RULE_ZH.match(text):
        return False
    if _ENGLISH.search(text) or phrase_patterns.LASTING.search(text):
        return False
    return not DURABLE.found(text) and not recurs(text.lower())


def _is_fragment(text: str) -> bool:
    """Whether it only labels something, leads something in, or is code."""
    if _LABEL.match(text) or _DATA.search(text) or text.endswith((":", "\uff1a")):
        return True
    return "`" in text and len(_WORD.findall(_CODE.sub(" ", text))) < FEWEST_WORDS
