"""Tokens that are broken over lines: by a terminal at its width, by a backslash, or as a block of lines.

Every expression for tokens ends at the end of a line. So the lines are joined in a reading of the text where a break
seems to be within a word, and of what is found there only that counts which goes over such a break.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from services.domain.secrets.engine import LinearExpression, Span
from services.domain.secrets.readings import Replacement, TextReading, reading_of

WIDTHS = (80, 100, 120, 132)
"""Columns of the terminals that most people have."""
LONGEST_LINE = 400
LEAST_OF_A_BLOCK = 8
"""Characters of the first line of a block."""
LINES_OF_A_TOKEN = 40
SIGNS = r"\w+/=.~:%-"
"""Characters of tokens; a colon is between the two parts of some."""
BREAK = re.compile(rf"(?P<slash>\\{{0,2}})\r?\n(?P<indent>[ \t]*)(?=[{SIGNS}])")
SLASHED = LinearExpression(rf"[{SIGNS}](\\{{1,2}}\r?\n)")
WRAPPED = LinearExpression("|".join(rf"(?m:^)[^\n]{{{width - 1}}}[{SIGNS}](\n)[{SIGNS}]" for width in WIDTHS))
NAMED = LinearExpression(
    r"""(?i)(?:key|token|secret|passw(?:or)?d|credentials?)[\w."'\x60-]*[ \t]*"""
    r"""(?:[:=][ \t]*(?:[|>][-+]?|["'\x60]{0,3})[ \t]*(?:\r?\n[ \t]*)?|\r?\n)"""
    rf"[{SIGNS}]{{{LEAST_OF_A_BLOCK},}}(\r?\n)"
)
"""The first line of a block that is called a secret, behind its name or below that."""
NUMBER_OF_A_LINE = re.compile(r"\d+[:|\t]")
ASSIGNED = re.compile(r"[-+]?(?:[A-Z][A-Z0-9_]*|[\w.-]*(?i:key|token|secret|passw(?:or)?d|pwd))[=:]")
"""The name at the beginning of a run, up to its sign."""
RUN_AT_END = re.compile(rf"[{SIGNS}]+\Z")
BLOCK_LINE = re.compile(rf"(?=[^\n]*[A-Za-z0-9])(?P<run>[{SIGNS}]+)\\{{0,2}}[\"'`,;)}}\]]*[ \t]*(?=\r?\n|\Z)")
WHOLE = LinearExpression(
    r"(?i)^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:[0-9a-f]{8}){4,16}|[\w+/]{42,86}={1,2})$"
)
"""A line that goes on in no other: a digest or an id, and what ends as base64 ends."""
PUBLIC = re.compile(r"[A-Z0-9 ]{0,30}(?:PUBLIC KEY|CERTIFICATE|SIGNATURE|MESSAGE|PARAMETERS|REQUEST|CRL)")
"""The name of a block of lines that everybody may read."""
ARMOR = "-----BEGIN "


class JoinedLines(NamedTuple):
    """A reading of a text in which lines are joined, and the breaks between them."""

    reading: TextReading
    breaks: Sequence[Span]
    """In the text that it was made from, in order."""

    def is_over_a_break(self, start: int, end: int) -> bool:
        """Whether a place in the original has a break in it."""
        number = bisect_left(self.breaks, (start, start))
        return number < len(self.breaks) and self.breaks[number][1] <= end


def joined_lines(text: str, written: bytes, random: Iterable[Span]) -> JoinedLines | None:
    """The lines of a text that seem to be one word, joined; none where there are no such.

    `random`: the runs in it that look random.
    """
    found: dict[int, Span] = {}
    for match in chain(_slashed(text, written), _wrapped(text, written), _blocks(text, written, random)):
        found[match.start()] = match.span()
    if not found:
        return None
    breaks = sorted(found.values())
    return JoinedLines(reading_of(text, [Replacement(*one, "") for one in breaks]), breaks)


def _slashed(text: str, written: bytes) -> Iterator[re.Match[str]]:
    if "\\\n" in text or "\\\r\n" in text:
        for _, (start, _) in SLASHED.all(written):
            if match := BREAK.match(text, start):
                yield match


def _wrapped(text: str, written: bytes) -> Iterator[re.Match[str]]:
    """The breaks that a terminal makes where a line is longer than it is wide."""
    position = 0
    while match := WRAPPED.first(written, position):
        position = max(end for _, end in match[1:])
        found = BREAK.match(text, position - 1)
        if found and not NUMBER_OF_A_LINE.match(text, found.end()):
            yield found


def _blocks(text: str, written: bytes, random: Iterable[Span]) -> Iterator[re.Match[str]]:
    seen: set[int] = set()
    for start, end in chain(random, (span for _, span in NAMED.all(written))):
        match = _break_before(text, start)
        if match is not None and match.start() not in seen and _is_in_a_block(text, match):
            yield match
        match, is_first = BREAK.match(text, start if text[start] in "\r\n" else end), True
        while match is not None and match.start() not in seen:
            seen.add(match.start())
            if not _is_in_a_block(text, match, is_first=is_first):
                break
            yield match
            line = BLOCK_LINE.match(text, match.end())  # the last lines may be too short to look random
            match, is_first = BREAK.match(text, line.end("run")) if line else None, False


def _break_before(text: str, start: int) -> re.Match[str] | None:
    """The break before a place, if nothing but blanks is between."""
    end = text.rfind("\n", max(0, start - LONGEST_LINE), start)
    if end < 0 or text[end:start].strip():
        return None
    return BREAK.match(text, end - 1 if text[end - 1 : end] == "\r" else end)


def _is_in_a_block(text: str, match: re.Match[str], *, is_first: bool = True) -> bool:
    """Whether the lines before and behind a break are two of a block: the later is no wider, and nothing else is there.

    A first line may have a name before its run; it is indented less then. One line below another that are both whole
    are two, unless a block goes on there (`is_first` is false).
    """
    first = text.rfind("\n", max(0, match.start() - LONGEST_LINE), match.start()) + 1
    run, line = RUN_AT_END.search(text, first, match.start()), BLOCK_LINE.match(text, match.end())
    if run is None or line is None or len(run[0]) < LEAST_OF_A_BLOCK:
        return False
    is_first = is_first and not text.endswith("-----", 0, max(0, first - 1))
    if is_first and all(WHOLE.first(one.encode("ascii", "replace")) for one in (run[0], line["run"])):
        return False
    name = ASSIGNED.match(run[0])
    before, indent = text[first : run.start() + (name.end() if name else 0)].rstrip("\"'`"), len(match["indent"])
    if before.strip():
        return before.rstrip()[-1] in "=:" and indent > len(before) - len(before.lstrip())
    return len(before) <= indent and len(line["run"]) <= len(run[0]) and not _is_public(text, first)


def _is_public(text: str, first: int) -> bool:
    """Whether the block that a line is in begins as one that everybody may read."""
    _, begins, block = text[max(0, first - LINES_OF_A_TOKEN * LONGEST_LINE) : first].rpartition(ARMOR)
    return bool(begins) and PUBLIC.match(block) is not None and "-----END" not in block
