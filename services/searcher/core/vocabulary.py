"""The words of all rows of a shelf as they were written, and which of them are like a word that no row holds.

Endings, particles and compounds of languages without a stemmer make words that share most of their parts:
those are looked for instead, and count as far as they are alike.
"""

from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple
from unicodedata import combining, normalize

import numpy as np

from services.domain.search.words import code, stem_of
from services.searcher.core.arrays import Array, Floats

GRAM = 3
"""Characters of a part. Syllables of Korean are taken apart into letters first."""
LEAST = 0.55
"""The least likeness of two words, from 0 to 1, to be taken for forms of one."""
SHORTEST, LEAST_SHARE, PART = 4, 0.35, 0.6
"""Characters that a word has at least, and its share of a longer one, to be found at that one's beginning or end; and
how alike they count."""
COMPARED, MOST = 64, 8
"""Words that are compared closely, and that may replace one."""


class Like(NamedTuple):
    """A word of the shelf that replaces one of a query."""

    code: int
    likeness: float


class Vocabulary:
    """Words by their parts. What was added stays, also when its rows are gone: it finds nothing then."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []
        self._sizes = array("B")
        self._of: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self._words)

    def add(self, words: Iterable[str]) -> None:
        for word in words:
            if word in self._numbers:
                continue
            number = self._numbers[word] = len(self._words)
            parts = _parts(_letters(word))
            self._words.append(word)
            self._sizes.append(len(parts))
            for part in parts:
                self._of.setdefault(part, array("I")).append(number)

    def like(self, word: str) -> tuple[Like, ...]:
        """The words that are most like this one, and another by their stems."""
        letters = _letters(word)
        own = code(stem_of(word))
        found: dict[int, float] = {}
        for number in self._near(letters):
            likeness = alike(letters, _letters(self._words[number]))
            other = code(stem_of(self._words[number]))
            if likeness >= LEAST and other != own:
                found[other] = max(likeness, found.get(other, 0.0))
        best = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:MOST]
        return tuple(Like(*one) for one in best)

    def _near(self, letters: str) -> list[int]:
        """The words that share the most parts, for their length and for its."""
        parts = _parts(letters)
        lists = [np.frombuffer(self._of[part], np.uint32) for part in parts if part in self._of]
        if not lists:
            return []
        numbers, counts = np.unique(np.concatenate(lists), return_counts=True)
        sizes = np.frombuffer(self._sizes, np.uint8)[numbers]
        del lists  # while one looks into an array, nothing can be added to it
        shared: Floats = (counts / np.minimum(sizes, len(parts)) + 2 * counts / (sizes + len(parts))).astype(np.float32)
        order: Array = np.argsort(-shared, kind="stable")[:COMPARED]
        return [int(number) for number in numbers[order]]


def alike(one: str, other: str) -> float:
    """The similarity of two words, from 0 to 1: by common parts, by their beginnings, or as part and compound."""
    shorter, longer = sorted((one, other), key=len)
    parts, others = _parts(one), _parts(other)
    shared = 2 * len(parts & others) / (len(parts) + len(others))
    begun = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    if begun >= SHORTEST:
        shared = max(shared, 2 * begun / (len(one) + len(other)))
    is_part = len(shorter) >= SHORTEST and len(shorter) >= LEAST_SHARE * len(longer)
    if is_part and (longer.startswith(shorter) or longer.endswith(shorter)):
        shared = max(shared, PART)
    return shared


@lru_cache(maxsize=8_192)
def _letters(word: str) -> str:
    """A word as letters without accents."""
    if word.isascii():
        return word
    return "".join(one for one in normalize("NFKD", word) if not combining(one))


def _parts(letters: str) -> frozenset[str]:
    padded = f"^{letters}"
    return frozenset(_pieces(padded))


def _pieces(padded: str) -> Iterator[str]:
    yield from (padded[at : at + GRAM] for at in range(max(1, len(padded) - GRAM + 1)))
