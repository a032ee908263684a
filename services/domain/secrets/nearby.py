"""Secrets in whatever frame: a value that looks random, with a word for a secret and the name of an issuer near it.

The rules know how code assigns a value to a name. A table, an attribute, a type, a file's name or a sentence in another
language each has something else between the two, and no list of that would be complete. So here it does not matter what
is between them: name and value are put together as code would write them, and the rules decide about that.
"""

from collections.abc import Iterator
from itertools import pairwise

from services.domain.secrets.engine import LinearExpression, Span
from services.domain.secrets.naming import names_a_digest, names_a_secret
from services.domain.secrets.rules import (
    REFERENCE,
    RuleMatch,
    Searched,
    assigned_secrets,
    context_start,
    named_issuers,
)

LONGEST_RUN = 1_000
SHORTEST = 14
LEAST_CHANGES = 3
"""Between letters and digits: a name with its numbers has fewer."""
NAME_IN_RUN = r"(?:key|token|secret|passw(?:or)?d|credentials?)[_.:=/-]+(.*)$"
AFTER_ITS_NAME = (LinearExpression(f"(?i){NAME_IN_RUN}"), LinearExpression(f"(?i)^.*{NAME_IN_RUN}"))
"""A value at the end of a run that begins with its name, such as a file's: behind the first such word, or the last."""
EXTENSION = LinearExpression(r"(?:\.[A-Za-z]{1,5})+$")
AFTER_A_SIGN = (LinearExpression(r"^[\w.-]*[:=]+(.*)$"), LinearExpression(r"^.*[:=/]([^:=/]*)$"))
OPENING, CLOSING = b".:=/+", b".:=/-~"
NEUTRAL = LinearExpression(
    r"(?i)^[^A-Za-z0-9\n]*(?:value|val|default|contents?|text|string|data|body|password|secret|token|key)?[^A-Za-z0-9\n]*$"
    r"|^[\s>*#\x60'\"(-]*(?:[A-Za-z?',.()-]+[ \t\r]*){0,20}(?::?[ \t\r]*\n\s*)?[\x60'\"*(\[<]{0,4}$"
)
"""A line up to a value that has no name for it, as in the middle of a sentence: its name is further above."""
LINES_ABOVE = 3
FARTHEST = 200
"""Characters up to which a value's name may be before it."""
BEHIND = 60
"""Characters behind a value on its line in which its name may be as well: "... is the token of ..."."""
WORD = LinearExpression(r"[A-Za-z][\w.-]{2,40}")
MOST_WORDS = 12
REFERRED = b"#@/"
"""The signs before the digest of something, and before its id in an address."""
NEAR = 60
"""Characters before a digest or an id in which a word names it a secret, if it is one."""


def nearby_secrets(text: Searched) -> Iterator[RuleMatch]:
    """Secrets whose name is on their line, or above them where that has none, whatever is between."""
    runs = [(start, end) for start, end in text.random if SHORTEST <= end - start <= LONGEST_RUN]
    if not runs or not names_a_secret(text.text):
        return
    for start, end in runs:
        first, last = _context(text.written, start), _last(text.written, end)
        if names_a_secret(text.text[first:last]):
            values = [one for one in _values(text.written, (start, end)) if _may_be_a_secret(text, first, one)]
            yield from _named(text, (first, last), values)


def _context(written: bytes, start: int) -> int:
    """The beginning of the text that names a value: its line or, where that has no name for it, those above it."""
    first = context_start(written, start)
    if not first or not NEUTRAL.first(written[first:start]):
        return first
    farthest = max(0, start - FARTHEST)
    for _ in range(LINES_ABOVE):
        above = written.rfind(b"\n", farthest, max(farthest, first - 1)) + 1 or farthest
        if not written[above:first].strip():
            break
        first = above
    return first


def _last(written: bytes, end: int) -> int:
    line = written.find(b"\n", end, end + BEHIND)
    return line if line >= 0 else min(len(written), end + BEHIND)


def _values(written: bytes, run: Span) -> Iterator[Span]:
    """Of a run all that may be the value: all of it, or its end; each without the extension of a file."""
    start, end = run
    trimmed = start + len(written[start:end].rstrip(CLOSING))
    named = [one.first(written[start:trimmed]) for one in (*AFTER_ITS_NAME, *AFTER_A_SIGN)]
    starts = {
        start,
        trimmed - len(written[start:trimmed].lstrip(OPENING)),
        *(start + one[1][0] for one in named if one),
    }
    for first in sorted(starts):
        extension = EXTENSION.first(written[first:trimmed])
        ends = {
            trimmed,
            first + len(written[first:trimmed].rstrip(b"+")),
            first + extension[0][0] if extension else trimmed,
        }
        yield from ((first, last) for last in sorted(ends, reverse=True))


def _may_be_a_secret(text: Searched, first: int, value: Span) -> bool:
    start, end = value
    written = text.written[start:end]
    if len(written) < SHORTEST or names_a_digest(text.text[first:start]) or _changes(written) < LEAST_CHANGES:
        return False
    return not REFERENCE.first(written) or (
        text.written[start - 1 : start] not in {bytes([one]) for one in REFERRED}
        and names_a_secret(text.text[max(first, start - NEAR) : start])
    )


def _changes(value: bytes) -> int:
    pairs = pairwise(value.decode())
    return sum(one.isdigit() != other.isdigit() for one, other in pairs if (one + other).isalnum())


def looks_random(user: bytes) -> bool:
    """Whether the user of an address is a token: digits and letters in turns, or a digest."""
    return len(user) >= SHORTEST and (_changes(user) > LEAST_CHANGES or REFERENCE.first(user) is not None)


def _named(text: Searched, around: Span, values: list[Span]) -> Iterator[RuleMatch]:
    """Those of the values that the rules find next to a name from the text around them."""
    if not values:
        return
    lines, places = b"", dict[int, Span]()
    (first, last), start, end = around, max(start for start, _ in values), min(end for _, end in values)
    words = text.written[first:start] + b"\n" + text.written[end:last]
    for name in _names(words, text.written[slice(*values[0])]):
        for value in values:
            lines += name + b'_token = "'
            places[len(lines)] = value
            lines += text.written[slice(*value)] + b'"\n'
    for found in assigned_secrets(lines):
        if found.start in places:
            yield RuleMatch(*places[found.start], found.rule)


def _names(around: bytes, value: bytes) -> list[bytes]:
    """The words that have the name of an issuer in them; all words where the value begins as an issuer's tokens do."""
    words = list(dict.fromkeys(around[slice(*span)] for (span,) in WORD.all(around)))
    if any(named_issuers(value.lower())):
        return words[-MOST_WORDS:] or [b"service"]
    return [one for one in words if any(named_issuers(one.lower()))] or [b"service"]
