"""Regions that the tiers never touch: code, addresses, paths, ids, and quotations of a person."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

Span = tuple[int, int]

REGION = "\x00"
"""A placeholder for a protected region while the rules work on the text around it."""
QUOTE = "\x01"
"""A placeholder for a quoted line: what is before it and what is behind it are two chunks."""

_OPENING = re.compile(r"^[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<fence>`{3,}+(?=[^`\n]*+$)|~{3,}+)", re.MULTILINE)
_CLOSING = re.compile(r"^[ \t>]*+(?P<fence>`{3,}+|~{3,}+)[ \t\r]*+$", re.MULTILINE)
_QUOTED = re.compile(r"^U: .*+$", re.MULTILINE)
_TICKS = re.compile(r"`++")
_BLANK_LINE = re.compile(r"\n[ \t\r]*+\n")
_STAND_INS = re.compile(f"[{REGION}{QUOTE}]")
_TOKEN = re.compile(
    r"""(?<!\S)(?:
        (?=[^\s/]*+/)(?=\S*?\.\w{1,6}(?!\w))            # a path: a slash, and an extension
        |(?=\S*?(?:
            https?://
            |§\d++§
            |(?<![^\W_])(?:msg|ses|toolu)_\w
            |(?<![^\W_])[0-9a-fA-F]{7,40}(?![^\W_])     # a hash
        ))
    )\S++""",
    re.VERBOSE,
)


def mask(text: str) -> tuple[str, list[str]]:
    """The text with one character in the place of each protected region, and the regions in order."""
    pieces, regions, end = [], [], 0
    for (first, last), stand_in in _protected(text):
        pieces += [text[end:first], stand_in]
        regions.append(text[first:last])
        end = last
    return "".join([*pieces, text[end:]]), regions


def unmask(masked: str, regions: Sequence[str]) -> str:
    """The text with its regions back in their places."""
    found = iter(regions)
    return _STAND_INS.sub(lambda _: next(found), masked)


def prose(text: str) -> str:
    """The rest of a text without its protected regions."""
    masked, _ = mask(text)
    return _STAND_INS.sub(" ", masked)


def _protected(text: str) -> Iterator[tuple[Span, str]]:
    fences = list(_fences(text))
    quotes = list(_outside([found.span() for found in _QUOTED.finditer(text)], fences))
    lines = sorted([*fences, *quotes])
    inline = [*_code(text, lines), *(found.span() for found in _STAND_INS.finditer(text))]
    tokens = (found.span() for found in _TOKEN.finditer(text))
    is_quote = frozenset(quotes)
    for span in _merged(sorted([*lines, *_outside([*inline, *tokens], lines)])):
        yield span, QUOTE if span in is_quote else REGION


def _fences(text: str) -> Iterator[Span]:
    """Fenced code, whole lines; a fence that nobody closes reaches to the end."""
    position = 0
    while opening := _OPENING.search(text, position):
        fence = opening["fence"]
        closing = _closing(text, opening.end(), fence)
        yield opening.start(), closing
        position = closing


def _closing(text: str, position: int, fence: str) -> int:
    for found in _CLOSING.finditer(text, position):
        if found["fence"].startswith(fence):
            return found.end()
    return len(text)


def _code(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Inline code: as many backticks at its end as at its beginning, within one paragraph."""
    ends = [0, *(end for span in lines for end in span), len(text)]
    for first, last in zip(ends[::2], ends[1::2], strict=True):
        borders = [first, *(found.start() for found in _BLANK_LINE.finditer(text, first, last)), last]
        for begin, end in pairwise(borders):
            yield from _code_within(list(_TICKS.finditer(text, begin, end)))


def _code_within(ticks: Sequence[re.Match[str]]) -> Iterator[Span]:
    following: dict[int, list[int]] = {}
    for at in range(len(ticks) - 1, -1, -1):
        following.setdefault(len(ticks[at][0]), []).append(at)
    at = 0
    while at < len(ticks):
        same = following[len(ticks[at][0])]
        while same and same[-1] <= at:
            same.pop()
        if same:
            yield ticks[at].start(), ticks[same[-1]].end()
            at = same[-1]
        at += 1


def _outside(spans: Iterable[Span], others: Sequence[Span]) -> Iterator[Span]:
    """The spans that have nothing in common with the others, which are in order."""
    at = 0
    for first, last in sorted(spans):
        while at < len(others) and others[at][1] <= first:
            at += 1
        if at == len(others) or last <= others[at][0]:
            yield first, last


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans in order, those that overlap as one."""
    current: Span | None = None
    for span in spans:
        if current is None or span[0] >= current[1]:
            if current is not None:
                yield current
            current = span
        else:
            current = current[0], max(current[1], span[1])
    if current is not None:
        yield current
