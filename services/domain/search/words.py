"""Texts as words: what is counted, compared and looked for.

Case, accents and endings (see `stems`) are levelled, identifiers are taken whole and in parts, and scripts that put
no blanks between words are cut into pairs of characters.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from zlib import crc32

import Stemmer

_SCRIPTS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
"""First and last character of a script, and the language that it is taken for."""
SHORTEST = 4
"""Characters of a word in Latin letters that may have an ending."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word in lower case without its ending; one of another script, a number or a short one as it is.

    A word alone does not show its language: one in Latin letters is taken for English, since most texts about code are.
    What a stemmer does not bring together, other languages in Latin letters above all, is found by parts of words.
    """
    if word.isascii():
        return _stemmer("english").stemWord(word) if len(word) >= SHORTEST and word.isalpha() else word
    language = next((name for first, last, name in _SCRIPTS if first <= word[0] <= last), "")
    return (_stemmer(language).stemWord(word) or word) if language else word


@lru_cache(maxsize=16)
def _stemmer(language: str) -> Stemmer.Stemmer:
    """One for each language. It has no state between words, so that several threads may take turns with it."""
    return Stemmer.Stemmer(language, 0)


LONGEST = 64
"""Characters of a word; what is longer is data, and known by its beginning."""
MOST_WORDS = 20_000
"""Of a text."""
SHORTEST_WRITTEN, MOST_WRITTEN = 2, 4_000
"""Characters of a word that is known as it was written, and how many different ones of a text are."""
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
_ENGLISH = """
a about above after again against ain all also am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don down during each else ever few for
from further get gets got had hadn has hasn have haven having he her here hers herself him himself his how however
i if in into is isn it its itself just ll let lets m ma may me might mightn more most must mustn my myself needn no
nor not now o of off on once one only or other our ours ourselves out over own per please re s same shall shan she
should shouldn so some such t than that the their theirs them themselves then there these they this those through
to too under until up upon us ve very was wasn we were weren what when where which while who whom whose why will
with won would wouldn y yes yet you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_ENGLISH.split())
"""Of English; in other languages what is frequent weighs little anyway."""


class Word(NamedTuple):
    """A word as it is compared, and as it was written."""

    stem: str
    written: str = ""
    """In lower case; empty where it is no word that may have an ending, such as a whole identifier."""
    is_whole: bool = False
    """Whether it is an identifier whose parts are words, too."""


def words(text: str) -> list[str]:
    """The words of a text that say something, in their order, each without its ending."""
    return [word.stem for word in written_words(text)]


def written_words(text: str) -> list[Word]:
    """Words of a text, each with its spelling."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        found.extend(_parts(match[0][: LONGEST * 4]))
        if len(found) >= MOST_WORDS:
            break
    return found[:MOST_WORDS]


def vocabulary(text: str) -> str:
    """The different words of a text as they were written, a line each: what is like them is found by their parts."""
    found = dict.fromkeys(word.written for word in written_words(text) if len(word.written) >= SHORTEST_WRITTEN)
    return "\n".join(islice(found, MOST_WRITTEN))


def coded(text: str) -> bytes:
    """The words of a text as numbers of four bytes: stored like this, they are counted without being split again."""
    return array("I", map(code, words(text))).tobytes()


def coded_once(text: str) -> bytes:
    """Codes of words, each once: enough to know which texts contain a word, and not how often or next to which."""
    return array("I", dict.fromkeys(map(code, words(text)))).tobytes()


@lru_cache(maxsize=65_536)
def code(word: str) -> int:
    """A word as a number. That two words share one is too rare to matter."""
    return crc32(word.encode(errors="replace"))


@lru_cache(maxsize=65_536)
def _parts(run: str) -> tuple[Word, ...]:
    """The words that characters without a blank between them are made of."""
    if run.isascii():
        return tuple(_identifier(run))
    level = unicodedata.normalize("NFKC", run)
    pieces = _RUNS.findall(level)
    return tuple(
        word for piece in pieces for word in (_grams(piece) if _IS_UNSPACED.match(piece) else _identifier(piece))
    )


def _identifier(run: str) -> Iterator[Word]:
    """The parts of an identifier, and behind them the whole, where it has several; of a word the word."""
    pieces = [part for piece in run.split("_") if piece for part in _HUMP.split(piece)]
    for piece in pieces:
        written = piece.casefold()[:LONGEST]
        word = _plain(piece)
        if word and word not in STOP_WORDS:
            yield _inflected(word, written)
    if len(pieces) > 1:
        yield Word(_plain(run.strip("_")), is_whole=True)


def _inflected(word: str, written: str) -> Word:
    """A word of letters, or a number, which has no ending."""
    return Word(stem_of(written), "" if word.isascii() and not word.isalpha() else written)


def stem_of(written: str) -> str:
    """A word as it is compared, from how it was written. In English no accent means anything, elsewhere it may."""
    word = _plain(written)
    return stem(word) if word.isascii() else _plain(stem(written)) or word


def _plain(piece: str) -> str:
    folded = piece.casefold()
    if not folded.isascii():
        bare = _ACCENT.sub("", unicodedata.normalize("NFKD", folded))
        folded = unicodedata.normalize("NFKC", bare)
    return folded[:LONGEST]


def _grams(run: str) -> Iterator[Word]:
    """Pairs of neighbouring characters; a single character is a word."""
    if len(run) == 1:
        yield Word(run)
    yield from (Word(run[at : at + 2]) for at in range(len(run) - 1))
