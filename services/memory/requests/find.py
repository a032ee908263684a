"""Finds requests to remember in a person's message, line by line; and what only looks like one, with the reason.

The gate still judges each body: it refuses those that would steer an agent.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from services.domain.texts.bounds import beginning, flat
from services.memory.classes import MemoryClass, Placement, placed_by_class
from services.memory.requests.phrases import (
    BEFORE,
    DEFERRED,
    NEGATED,
    NEGATED_AFTER,
    NEGATED_BEFORE,
    PHRASES,
    Phrase,
)
from services.memory.requests.whose_words import is_ascribed, marked_message

LONGEST = 260
"""Characters of a text that is remembered at a person's request."""
SHORTEST = 8
"""Characters of a body that says something; of scripts whose characters are words, fewer do."""
SHORTEST_WIDE, WIDE = 5, 10
"""Characters, and half-width columns, of such a body."""
PREVIEW = 120
_LINE = 2_000
"""Characters of a line in which a phrase is looked for."""
_SHORTEST, _SHORTEST_ASCII = 3, 6
"""Characters of the shortest phrase with what it asks for: of any, and of those in letters of ASCII alone."""
_SEPARATOR = re.compile(r"[ \t]*[:\uff1a,\uff0c]?[ \t\u3000]*")
_UNQUOTED = re.compile(r"^(?:[ \t]{0,12}[>\u300b|+-])+[ \t]?")
"""The mark before a quoted line, and before one of a diff."""
_OPENING, _CLOSING = re.compile(r"(?<!\w)['\u2018](?=\w|$)"), re.compile(r"(?<=[\w.!?])['\u2019](?!\w)")
"""Single marks of a quotation: an apostrophe within a word is none."""
_ENDS = re.compile(r"[.!?。\uff01\uff1f\uff1b]\s+|[。\uff01\uff1f\uff1b]")
_CLAUSE = re.compile(r"[;\uff1b]\s+|,\s+(?=(?:and|but|also|und|aber|et|mais|y|pero|e|ma|и|но)\s)", re.IGNORECASE)
"""The place where a clause begins within a sentence."""
_POLITELY = re.compile(
    r"\b(?:can|could|would|will) you\b|\b(?:kannst|könntest|würdest) du\b|\b(?:peux|pourrais)[- ]tu\b"
    r"|\b(?:puedes|podrías|puoi|potresti|pode|poderia|kun je|kan je|можешь)\b",
    re.IGNORECASE,
)
_THAT = re.compile(r"\b(?:that|dass|que|che|mind remembering)\s*$", re.IGNORECASE)
"""The end of a phrase behind which there is a statement, whatever it begins with."""
_WHAT = re.compile(r"(?:what|which|when|where|who|why|how|if|whether|the)\b", re.IGNORECASE)
"""The rest of a question that asks what somebody remembers."""
_ASKS = re.compile(r"[?\uff1f](?:\s|$)")
_REFERENCE = re.compile(r"https?://|\blinear\b|\bslack\b|\bnotion\b|\bdashboards?\b|\bgrafana\b", re.IGNORECASE)
_DECISION = re.compile(r"\bdecid|\bdecision|\bchoose|\bchosen|决定|決定|选择|選擇", re.IGNORECASE)
_PROJECT = re.compile(r"\bproject|\brepo(?:s|sitor(?:y|ies))?\b|项目|專案", re.IGNORECASE)


class MemoryRequest(msgspec.Struct, frozen=True):
    """Something that a person asked to be remembered."""

    text: str
    """At most LONGEST characters, on one line."""
    language: str
    """Of the phrase."""
    place: Placement
    mark: str = ""
    """The sign that somebody else may have asked: `quoted` or `pasted`; empty: the person did."""


class IgnoredRequest(msgspec.Struct, frozen=True):
    """A text that looked like a request and is none."""

    reason: str
    """deferral, too_short, negated_request, duplicate_in_message or question."""
    language: str
    preview: str
    """Its beginning, not masked."""


def requests(text: str) -> tuple[MemoryRequest | IgnoredRequest, ...]:
    """The requests of a person's message, in their order, each body once."""
    found: list[MemoryRequest | IgnoredRequest] = []
    seen: set[str] = set()
    for line, mark in marked_message(text):
        if hit := phrase_in(_UNQUOTED.sub("", line) if mark else line):
            reason = hit.reason or _refused(hit.body, seen)
            if reason and mark:
                continue  # nobody needs to know why somebody else's words ask for nothing
            seen.add(_same(hit.body))
            if reason:
                found.append(IgnoredRequest(reason, hit.language, beginning(flat(line), PREVIEW)))
            else:
                whose = mark or ("pasted" if is_ascribed(hit.before) else "")
                found.append(MemoryRequest(beginning(flat(hit.body), LONGEST), hit.language, place_of(hit.body), whose))
    return tuple(found)


def place_of(body: str) -> Placement:
    """The place of a body that names no category."""
    return placed_by_class(class_of_body(body), body)


def class_of_body(body: str) -> MemoryClass:
    """The class of a body by what it speaks of."""
    if _REFERENCE.search(body):
        return "reference"
    if _DECISION.search(body):
        return "decision"
    return "project" if _PROJECT.search(body) else "feedback"


class PhraseHit(msgspec.Struct, frozen=True):
    """A phrase in a line, and what it asks for."""

    language: str
    body: str
    """The text behind the phrase; of one at the end of its sentence, the text before it."""
    before: str = ""
    """The text before the phrase."""
    reason: str = ""
    """The reason why it asks for nothing, where the line itself shows that; as of what is ignored."""


def phrase_in(line: str) -> PhraseHit | None:
    """The first phrase of a line, with what it asks for."""
    line = line[:_LINE]
    if len(line.strip()) < (_SHORTEST_ASCII if line.isascii() else _SHORTEST):
        return None
    begins = [at for at in _begins(line) if not _is_inside_quotes(line[:at])]
    within = [end.end() for end in _CLAUSE.finditer(line) if not _is_inside_quotes(line[: end.end()])]
    clauses = [*begins, *within]
    for phrase in NEGATED:
        if negated := _beginning(phrase, line, begins):
            return PhraseHit(phrase.language, _body(line, negated.end()), reason="negated_request")
    for phrase in PHRASES:
        places = clauses if phrase.begins_clauses else begins
        found = _beginning(phrase, line, places) if phrase.anchored else _unquoted(phrase, line)
        if found is None:
            continue
        before, body = line[: found.start()], _body(line, found.end())
        if NEGATED_BEFORE.search(before[-BEFORE:]) or NEGATED_AFTER.match(line, found.end()):
            return PhraseHit(phrase.language, body, reason="negated_request")
        if not phrase.anchored and not _has_words(body):
            return PhraseHit(phrase.language, _sentence_before(before))
        if _POLITELY.search(found[0]) and (_THAT.search(found[0]) or not _WHAT.match(body)):
            body = body.rstrip("?\uff1f ")
        asks = phrase.anchored and _ASKS.search(body) is not None
        return PhraseHit(phrase.language, body, before, "question" if asks else "")
    return None


def _begins(line: str) -> Iterator[int]:
    """The positions in a line at which sentences begin that are long enough for a phrase."""
    begins = (0, *(end.end() for end in _ENDS.finditer(line)), len(line) + _SHORTEST + 1)
    return (at for at, following in pairwise(begins) if following - at > _SHORTEST)


def _beginning(phrase: Phrase, line: str, begins: Sequence[int]) -> re.Match[str] | None:
    """The phrase where a sentence begins with it, of those that begin in no quotation marks and in no code."""
    for at in begins:
        if found := phrase.pattern.match(line, at):
            return found
    return None


def _unquoted(phrase: Phrase, line: str) -> re.Match[str] | None:
    """The phrase where it is in no quotation marks and in no code."""
    found = phrase.pattern.search(line)
    if found is None:
        return None
    return None if _is_inside_quotes(line[: found.start()]) else found


def _is_inside_quotes(before: str) -> bool:
    has_opening = "'" in before or "\u2018" in before
    if has_opening and len(_OPENING.findall(before)) > len(_CLOSING.findall(before)):
        return True
    return any(before.count(mark) % 2 for mark in '`"') or any(
        before.count(opens) > before.count(closes) for opens, closes in ("\u201c\u201d", "\u300c\u300d", "\u00ab\u00bb")
    )


def _body(line: str, end: int) -> str:
    separator = _SEPARATOR.match(line, end)
    return line[separator.end() if separator else end :].strip()


def _sentence_before(text: str) -> str:
    """The last sentence before a phrase that ends a text: `use tabs from now on`."""
    return _ENDS.split(text.strip())[-1].strip(" ,\t\uff0c")


def _refused(body: str, seen: set[str]) -> str:
    if body.strip(" .!。\uff01…").lower() in DEFERRED:
        return "deferral"
    if not _says_something(body):
        return "too_short"
    return "duplicate_in_message" if _same(body) in seen else ""


def _says_something(body: str) -> bool:
    if len(body) >= SHORTEST:
        return True
    columns = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in body)
    return len(body) >= SHORTEST_WIDE and columns >= WIDE


def _same(body: str) -> str:
    return " ".join(body.lower().split())


def _has_words(body: str) -> bool:
    return any(one.isalnum() for one in body)
