"""A text as its reader sees it: without the colours of a terminal, and with what is encoded in it decoded.

A colour within a line, or `%22` for a quote, hides where a token begins from every expression. So these are looked at
in a reading of the text, and what is found there is masked in the text itself.
"""

import binascii
import html
import re
import string
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from services.domain.secrets.engine import LinearExpression, Span

# Colours, and what erases to the end of a line or switches the cursor: as the terminal is sent them, and as JSON, C,
# shells and `cat -v` write them. Their last letter begins no token. Without the escape a colour needs its number.
NO_WIDTH = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
ESCAPE = r"(?:\x1b|\\+(?:u001[bB]|x1[bB]|0?33|e)|\^\[)"
CONTROL = re.compile(
    rf"{ESCAPE}\[(?:[\d;:]{{0,32}}[mKJH]|\?\d{{1,4}}[hl])|\[\d{{1,3}}(?:;\d{{1,3}}){{0,8}}m|[{NO_WIDTH}]++"
)
MARK_OF_CONTROL = LinearExpression(r"(?:\x1b|1[bB]|33|\\e|\^\[)\[|\[[0-9;]{1,32}m")

ENCODED = (
    ("%", re.compile(r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*+"), unquote),  # addresses and forms
    ("&", re.compile(r"&(?:#\d{1,6}|#[xX][0-9A-Fa-f]{1,5}|quot|apos|amp|lt|gt|nbsp);"), html.unescape),
    # JSON of those who escape more than they have to
    ("\\u00", re.compile(r"\\++u00[0-7][0-9A-Fa-f]"), lambda escaped: chr(int(escaped[-4:], 16))),
)
"""Encodings: a sign that each of them has in it, its expression, and its decoder."""
BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}+={0,2}")
PRINTABLE = string.printable.encode()
LEVELS = 3
"""The number of times that a text may be encoded and is still read."""
LINES_BEFORE = 2
"""Lines before one with anything encoded that are read with it, for the name of what it is."""
ASCII = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # the wide forms of East Asia
    **dict.fromkeys("“”„‟«»「」『』《》〈〉〝〞", '"'),
    **dict.fromkeys("‘’‚‛‹›", "'"),  # noqa: RUF001 - the quotation marks of all languages
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000–—", " "),  # noqa: RUF001 - blanks, and dashes
    **dict(zip("。、【】", ".,[]", strict=True)),
}
PUNCTUATION = re.compile(f"[{''.join(ASCII)}]")


class Replacement(NamedTuple):
    """A piece of a text, and what its reader sees there."""

    start: int
    end: int
    text: str


class TextReading(NamedTuple):
    """A text as it is read, and where each of its pieces is in the text that it was made from."""

    text: str
    starts: list[int]
    """The positions here at which the pieces begin, in order."""
    origins: list[Span]
    """The span of each piece in the text that it was made from, in the same order."""

    def original(self, start: int, end: int) -> Span:
        """The place in the original of a place here; what was removed around it stays outside."""
        return self._position(start, is_end=False), self._position(end - 1, is_end=True)

    def _position(self, position: int, *, is_end: bool) -> int:
        number = bisect_right(self.starts, position) - 1
        start, end = self.origins[number]
        following = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        if following - self.starts[number] == end - start:
            return start + position - self.starts[number] + is_end
        return end if is_end else start


def as_bytes(text: str) -> bytes:
    """The text with one byte for each character: quotes, colons and blanks of all scripts as those of ASCII."""
    if not text.isascii():
        text = PUNCTUATION.sub(lambda match: ASCII[match[0]], text)
    return text.encode("ascii", "replace")


def as_shown(text: str, written: bytes) -> TextReading | None:
    """The text without colours and other letters that nobody sees; none where it has no such."""
    if not MARK_OF_CONTROL.first(written) and (text.isascii() or not any(map(text.__contains__, NO_WIDTH))):
        return None
    removed = [Replacement(*match.span(), "") for match in CONTROL.finditer(text)]
    return _reading(text, removed, [(0, len(text))]) if removed else None


def as_decoded(text: str, runs: Iterable[Span]) -> TextReading | None:
    """The lines of a text that have anything encoded, decoded; none where there are no such.

    `runs` are the long runs of letters and digits in it.
    """
    found = [*_escapes(text), *_encoded_words(text, runs)]
    return reading_of(text, sorted(found)) if found else None


def reading_of(text: str, replaced: Sequence[Replacement]) -> TextReading:
    """The lines of a text that have these pieces, and some before them, as they are read. The pieces are in order."""
    return _reading(text, list(_apart(replaced)), list(_lines(text, replaced)))


def _escapes(text: str) -> Iterator[Replacement]:
    for sign, pattern, decode in ENCODED:
        if sign in text:
            for match in pattern.finditer(text):
                yield Replacement(*match.span(), decode(match[0]))


def _encoded_words(text: str, runs: Iterable[Span]) -> Iterator[Replacement]:
    """Words that are a printable text in base64, which no digest and no picture is.

    A text in ASCII has the two signs of base64 in few places, so that a long run has its beginning.
    """
    reached = 0
    for start, _ in runs:
        match = BASE64.match(text, start) if start >= reached else None
        if match is None:
            continue
        reached, word = match.end(), match[0].rstrip("=")
        try:
            decoded = b64decode(word + "=" * (-len(word) % 4))
        except binascii.Error:  # no length that base64 has
            continue
        if not decoded.translate(None, PRINTABLE):
            yield Replacement(*match.span(), decoded.decode())


def _apart(found: Iterable[Replacement]) -> Iterator[Replacement]:
    """Without those that begin within another one."""
    reached = 0
    for one in found:
        if one.start >= reached:
            reached = one.end
            yield one


def _lines(text: str, found: Iterable[Replacement]) -> Iterator[Span]:
    """The lines that have these, and some before them: each line once."""
    reached = 0
    for one in found:
        if one.end < reached:
            continue
        start = max(one.start, reached)
        for _ in range(LINES_BEFORE + 1):
            start = max(reached, text.rfind("\n", reached, max(reached, start - 1)) + 1)
        end = text.find("\n", one.end)
        yield start, (reached := end + 1 if end >= 0 else len(text))


def _reading(text: str, replaced: list[Replacement], spans: Iterable[Span]) -> TextReading:
    pieces, starts, origins, length = list[str](), list[int](), list[Span](), 0

    def add(piece: str, start: int, end: int) -> None:
        nonlocal length
        if piece:
            pieces.append(piece)
            starts.append(length)
            origins.append((start, end))
            length += len(piece)

    remaining = iter(replaced)
    following, position = next(remaining, None), 0
    for start, end in spans:
        position = max(start, position)  # a piece may go over the end of a span
        while following and following.start < end:
            add(text[position : following.start], position, following.start)
            add(following.text, following.start, following.end)
            position, following = following.end, next(remaining, None)
        add(text[position:end], position, end)
    return TextReading("".join(pieces), starts, origins)
