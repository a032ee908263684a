"""Secrets in whatever frame: a value that looks random, with a word for a secret and the name of an issuer near it.

The rules know how code assigns a value to a name. A table, an attribute, a type, a file's name or a sentence in another
language each has something else between the two, and no list of that would be complete. So here it does not matter what
is between them: name and value are put together as code would write them, and the rules decide about that.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from services.domain.secrets.engine import LinearExpression, Span
from services.domain.secrets.naming import mentions_a_digest, names_a_digest, names_a_secret
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
LAST_OF_A_TOKEN = b"-="
"""The signs among those that close a run in which some tokens end."""
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
STATED = LinearExpression(r"""(?:\b(?:is|are|was)|[:=])[\s'"\x60*]*$""")
"""A sentence, or a line, up to a value that it states."""
SENTENCE_END = re.compile(r"[.!?]\s|\n[ \t]*\n")
PIPED = LinearExpression(r"""\b(?:echo|printf)(?: -\w+)* ['"]?(?:%s\\?n?['"] ['"]?)?$""")
INTO = re.compile(r"""['"]?[ \t]*\|[ \t]*(?P<command>[^\n|]{1,60})""")
"""A value that is given to a command: what it is called is behind it."""


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
    """The parts of a run that may be the value, the longest of each beginning first.

    A run is what no blank is in, such as `service_token=a1b2.json`: there are several beginnings and ends.
    """
    start, end = run
    trimmed = start + len(written[start:end].rstrip(CLOSING))
    for first in _beginnings(written, (start, trimmed)):
        yield from ((first, last) for last in _ends(written, (first, trimmed), end))


def _beginnings(written: bytes, run: Span) -> Sequence[int]:
    """The beginning of a run, without the signs that open it, and behind a name or a sign in it."""
    start, end = run
    without_signs = end - len(written[start:end].lstrip(OPENING))
    named = (one.first(written[start:end]) for one in (*AFTER_ITS_NAME, *AFTER_A_SIGN))
    return sorted({start, without_signs, *(start + one[1][0] for one in named if one)})


def _ends(written: bytes, run: Span, last: int) -> Sequence[int]:
    """The end of a run, without a plus or the extension of a file, and with the signs in which a token may end.

    `last`: where the run ends with the signs that close it.
    """
    first, end = run
    found = {end, first + len(written[first:end].rstrip(b"+"))}
    if extension := EXTENSION.first(written[first:end]):
        found.add(first + extension[0][0])
    if not written[end:last].strip(LAST_OF_A_TOKEN):
        found.add(last)
    return sorted(found, reverse=True)


def _may_be_a_secret(text: Searched, first: int, value: Span) -> bool:
    start, end = value
    written = text.written[start:end]
    if len(written) < SHORTEST or names_a_digest(text.text[first:start]) or _changes(written) < LEAST_CHANGES:
        return False
    return not REFERENCE.first(written) or _is_called_a_secret(text, first, value)


def _is_called_a_secret(text: Searched, first: int, value: Span) -> bool:
    """Whether a digest or an id is called a secret: close to it, by its sentence, or by the command that it goes to."""
    start, end = value
    if text.written[start - 1 : start] in {bytes([one]) for one in REFERRED}:
        return False
    if names_a_secret(text.text[max(first, start - NEAR) : start]):
        return True
    before = text.text[max(first, start - FARTHEST) : start]
    sentence = SENTENCE_END.split(before)[-1]
    if STATED.first(sentence.encode("ascii", "replace")) and names_a_secret(sentence):
        return not mentions_a_digest(sentence)
    into = INTO.match(text.text, end)
    return into is not None and PIPED.first(text.written[first:start]) is not None and names_a_secret(into["command"])


def _changes(value: bytes) -> int:
    pairs = pairwise(value.decode())
    return sum(one.isdigit() != other.isdigit() for one, other in pairs if (one + other).isalnum())


def looks_random(user: bytes) -> bool:
    """Whether the user of an address is a token: digits and letters in turns, or a digest."""
    return len(user) >= SHORTEST and (_changes(user) > LEAST_CHANGES or REFERENCE.first(user) is not None)


def _named(text: Searched, around: Span, values: Sequence[Span]) -> Iterator[RuleMatch]:
    """Those of the values that the rules find next to a name from the text around them.

    Each pair is written as a line of code, `acme_token = "value"`. A value is known again by its place in these lines.
    """
    if not values:
        return
    first, last = around
    before = text.written[first : max(start for start, _ in values)]  # the run itself may begin with a name
    behind = text.written[min(end for _, end in values) : last]
    lines, places = b"", dict[int, Span]()
    for name in _names(before + b"\n" + behind, text.written[slice(*values[0])]):
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
