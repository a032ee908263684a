"""Texts as words: what is counted, compared and looked for.

Case, accents and endings are levelled, identifiers stand whole and in their parts, and scripts that put no blanks
between words are cut into pairs of characters.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from functools import lru_cache
from zlib import crc32

from services.domain.search.stop_words import STOP_WORDS

LONGEST = 64
"""Characters of a word; what is longer is data, and known by its beginning."""
MOST_WORDS = 20_000
"""Of a text."""
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0fff\u1000-\u109f\u1780-\u17d3"
)
"""Signs that stand in words of their scripts and are no letters by themselves."""
_WORD = re.compile(rf"(?:\w|[{_MARKS}])+")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUNS = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ACCENT = re.compile("[\u0300-\u036f]+")
_VOWEL = re.compile("[aeiouy]")
_ENDINGS = (
    ("fulness", "ful"), ("iveness", "ive"), ("ousness", "ous"), ("ization", "ize"), ("ational", "ate"),
    ("ation", "ate"), ("ator", "ate"), ("ally", "al"), ("ment", ""), ("ness", ""), ("ful", ""), ("able", ""),
    ("ible", ""), ("ly", ""),
)  # fmt: skip


def words(text: str) -> list[str]:
    """The words of a text that say something, in their order, each without its ending."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        found.extend(_parts(match[0][: LONGEST * 4]))
        if len(found) >= MOST_WORDS:
            break
    return found[:MOST_WORDS]


def coded(text: str) -> bytes:
    """The words of a text as numbers of four bytes: so they are kept, and counted without reading them again."""
    return array("I", map(code, words(text))).tobytes()


@lru_cache(maxsize=65_536)
def code(word: str) -> int:
    """A word as a number. That two words share one is too rare to matter."""
    return crc32(word.encode(errors="replace"))


@lru_cache(maxsize=65_536)
def _parts(run: str) -> tuple[str, ...]:
    """The words that characters without a blank between them are made of."""
    if run.isascii():
        return tuple(_identifier(run))
    level = unicodedata.normalize("NFKC", run)
    pieces = _RUNS.findall(level)
    return tuple(
        word for piece in pieces for word in (_grams(piece) if _IS_UNSPACED.match(piece) else _identifier(piece))
    )


def _identifier(run: str) -> Iterator[str]:
    """The parts of an identifier, and behind them the whole, where it has several; of a word the word."""
    pieces = [part for piece in run.split("_") if piece for part in _HUMP.split(piece)]
    for piece in pieces:
        word = _plain(piece)
        if word and word not in STOP_WORDS:
            yield stem(word)
    if len(pieces) > 1:
        yield _plain(run.strip("_"))


def _plain(piece: str) -> str:
    folded = piece.casefold()
    if not folded.isascii():
        bare = _ACCENT.sub("", unicodedata.normalize("NFKD", folded))
        folded = unicodedata.normalize("NFKC", bare)
    return folded[:LONGEST]


def _grams(run: str) -> Iterator[str]:
    """Pairs of neighbouring characters; one that stands alone is a word."""
    if len(run) == 1:
        yield run
    yield from (run[at : at + 2] for at in range(len(run) - 1))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word in lower case without its English ending; one of another alphabet, a number or a short one as it is."""
    if len(word) <= 3 or not (word.isascii() and word.isalpha()):  # noqa: PLR2004 - what is shorter has no ending
        return word
    return _final(_derived(_inflected(_singular(word))))


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + ("y" if len(word) > 4 else "ie")  # noqa: PLR2004 - ties and dies
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _inflected(word: str) -> str:
    for ending in ("ingly", "edly", "ing", "ed"):
        bare = word.removesuffix(ending)
        if bare == word:
            continue
        if len(bare) < 2 or not _VOWEL.search(bare):  # noqa: PLR2004 - red, sing
            return word
        if bare.endswith(("at", "bl", "iz")):
            return f"{bare}e"
        is_doubled = len(bare) > 2 and bare[-1] == bare[-2] and bare[-1] not in "lsz"  # noqa: PLR2004
        return bare[:-1] if is_doubled else bare
    return word


def _derived(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:  # noqa: PLR2004 - a stem that is still one
            return word.removesuffix(ending) + instead
    return word


def _final(word: str) -> str:
    if len(word) > 3 and word.endswith("y") and not _VOWEL.match(word[-2]):  # noqa: PLR2004
        word = f"{word[:-1]}i"
    return word[:-1] if len(word) > 4 and word.endswith("e") else word  # noqa: PLR2004
