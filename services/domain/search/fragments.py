"""The part of a text that shows why it was found."""

import re
from collections.abc import Collection, Sequence

CHARACTERS = 220
BEFORE = 60
"""Characters that are shown before the first word that was looked for."""
MOST_WORDS = 64
READ = 40_000
"""Characters of a text that are looked through."""
_BLANK = re.compile(r"\s+")


def fragment(text: str, wanted: Collection[str], literals: Sequence[str] = (), most: int = CHARACTERS) -> str:
    """As much of a text as is shown of it: around a literal, or where the most of the words stand together.

    `wanted` are words without their endings, see `words.words`.
    """
    line = _BLANK.sub(" ", text[:READ]).strip()
    if len(line) <= most:
        return line
    start = _of_literal(line, literals)
    if start is None:
        start = _of_words(line, wanted, most - BEFORE)
    return _cut(line, max(0, start - BEFORE), most)


def _of_literal(line: str, literals: Sequence[str]) -> int | None:
    folded = line.lower()
    found = [at for one in literals if (at := folded.find(one.lower())) >= 0]
    return min(found, default=None)


def _of_words(line: str, wanted: Collection[str], width: int) -> int:
    """The beginning of the stretch with the most different words; 0: none of them is there."""
    if not wanted:
        return 0
    places = [(match.start(), match[0].lower()) for match in _any_of(wanted).finditer(line)]
    best, most, first = 0, 0, 0
    for last, (end, _) in enumerate(places):
        while end - places[first][0] > width:
            first += 1
        count = len({word for _, word in places[first : last + 1]})
        if count > most:
            best, most = places[first][0], count
    return best


def _any_of(wanted: Collection[str]) -> re.Pattern[str]:
    """Finds the beginnings of words: what is left without the ending."""
    stems = sorted((one.removesuffix("i") for one in wanted), key=lambda one: (-len(one), one))
    listed = "|".join(re.escape(one) for one in stems[:MOST_WORDS] if one) or "(?!)"
    return re.compile(
        rf"(?<![^\W_])(?:{listed})|(?:{'|'.join(map(re.escape, _unspaced(wanted))) or '(?!)'})", re.IGNORECASE
    )


def _unspaced(wanted: Collection[str]) -> list[str]:
    """Those of scripts without blanks, which begin anywhere."""
    return sorted(one for one in wanted if not one[:1].isascii())[:MOST_WORDS]


def _cut(line: str, start: int, most: int) -> str:
    """A piece of a line, from the beginning of a word to the end of one, with a sign where something is left out."""
    start = min(start, max(0, len(line) - most + 1))
    if start:
        blank = line.find(" ", start - 1, start + BEFORE)
        start = blank + 1 if blank >= 0 else start
    room = most - bool(start)
    is_cut = len(line) - start > room
    piece = f"{_whole_words(line[start : start + room])}…" if is_cut else line[start:]
    return ("…" if start else "") + piece


def _whole_words(piece: str) -> str:
    """A piece without its last character, and without the word that this cuts, where that is not most of the piece."""
    end = piece.rfind(" ")
    return piece[:end].rstrip() if end * 2 > len(piece) else piece[:-1].rstrip()
