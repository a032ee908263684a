"""Postings: which rows have which words, and a row's score for a query by its words (BM25)."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from services.searcher.core.arrays import Array, Codes, Flags, Floats, Places
from services.searcher.core.vocabulary import Like

SATURATION, LENGTH = 1.2, 0.75
"""The parameters of BM25: how soon another occurrence counts no more, and how far long rows are penalised."""
_MOST_COUNTED = 255
NO_LIKES: Mapping[int, Sequence[Like]] = MappingProxyType({})
_HALF = np.uint64(32)
_PAIR = np.uint64(0x9E3779B1)
_CODE = np.uint64(0xFFFFFFFF)


class _Segment(NamedTuple):
    """Postings of rows that came together: `starts[i]` to `starts[i + 1]` are the rows with the word `codes[i]`."""

    codes: Codes
    starts: Array
    rows: Array
    counts: Array


class Postings:
    """The words of rows, which are numbered from 0 as they come. What was added stays."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self.lengths: Floats = np.zeros(0, np.float32)
        self._normed: tuple[Flags, Floats, int] | None = None

    def add(self, texts: Sequence[Codes]) -> None:
        """More rows, each by its words."""
        if not texts:
            return
        lengths = np.array([len(text) for text in texts], np.int64)
        rows = np.repeat(np.arange(len(texts), dtype=np.uint64) + np.uint64(len(self.lengths)), lengths)
        keys = np.concatenate(texts).astype(np.uint64) << _HALF | rows
        self.lengths = np.concatenate((self.lengths, lengths.astype(np.float32)))
        found, counts = np.unique(keys, return_counts=True)
        self._segments.append(_segment(found, counts))
        while len(self._segments) > 1 and len(self._segments[-1].rows) * 2 > len(self._segments[-2].rows):
            last, before = self._segments.pop(), self._segments.pop()
            self._segments.append(_merged(before, last))

    def norms(self, alive: Flags) -> tuple[Floats, int]:
        """The penalty of each row for its length, and how many rows are alive; cached while these are the same."""
        if self._normed is None or self._normed[0] is not alive or len(self._normed[1]) != len(alive):
            count = int(alive.sum())
            mean = float(self.lengths[alive].mean()) if count else 0.0
            penalties = SATURATION * (1 - LENGTH + LENGTH * self.lengths / (mean or 1.0))
            self._normed = (alive, penalties.astype(np.float32), count)
        return self._normed[1], self._normed[2]

    def rows(self, code: int) -> tuple[Array, Array]:
        """The rows with a word in their order, and how often each has it."""
        found = [part for part in (_looked_up(segment, code) for segment in self._segments) if part is not None]
        if not found:
            return np.zeros(0, np.uint32), np.zeros(0, np.uint8)
        if len(found) == 1:
            return found[0]
        return np.concatenate([rows for rows, _ in found]), np.concatenate([counts for _, counts in found])


class Scorer:
    """Scores rows of one field by a query's words. `alive` says which of them still are."""

    def __init__(
        self, postings: Postings, alive: Flags, codes: Iterable[int], likes: Mapping[int, Sequence[Like]] = NO_LIKES
    ) -> None:
        """`likes`: words that replace one of the codes where a row does not have that."""
        self._size = len(alive)
        self._norms, self._count = postings.norms(alive)
        self._found = {
            code: _alive(_with_likes(postings, code, likes.get(code, ())), alive, self._count) for code in codes
        }
        self.rarities = {code: self._rarity(len(rows)) for code, (rows, _) in self._found.items()}
        """The weight of each word: the fewer rows have it, the more it counts."""

    def scores(self) -> Floats:
        """The score of each row; 0: it has none of the words."""
        total = np.zeros(self._size, np.float32)
        for code, (rows, counts) in self._found.items():
            total[rows] += self.rarities[code] * (counts / (counts + self._norms[rows]))
        return total

    def coverage(self, rows: Places, rarities: Mapping[int, float]) -> Floats:
        """The share of these words' information in each row, however often they occur; of a like word a part.

        Words of the query that `rarities` lacks do not count.
        """
        total = np.zeros(len(rows), np.float32)
        for code, (holding, counts) in self._found.items():
            total += np.float32(rarities.get(code, 0.0)) * _among(rows, holding, counts)
        return np.asarray(total / (sum(rarities.values()) or 1.0), np.float32)

    def _rarity(self, rows: int) -> float:
        return float(np.log1p((self._count - rows + 0.5) / (rows + 0.5)))


def _among(rows: Places, holding: Array, counts: Array) -> Floats:
    """The weight of a word in each of these rows, from 0 to 1, by those that have it in their order."""
    if not len(holding):
        return np.zeros(len(rows), np.float32)
    at = np.minimum(np.searchsorted(holding, rows.astype(holding.dtype)), len(holding) - 1)
    return np.where(holding[at] == rows, np.minimum(counts[at], 1), 0).astype(np.float32)


def _with_likes(postings: Postings, code: int, likes: Sequence[Like]) -> tuple[Array, Array]:
    """The rows with a word, and those with one that replaces it: these count it as often as they are alike."""
    found = postings.rows(code)
    others = [(rows, np.full(len(rows), like.likeness)) for like in likes for rows in [postings.rows(like.code)[0]]]
    if not others:
        return found
    rows = np.concatenate([found[0], *(rows for rows, _ in others)])
    counts = np.concatenate([found[1].astype(np.float64), *(shares for _, shares in others)])
    order = np.lexsort((-counts, rows))
    rows, counts = rows[order], counts[order]
    first = np.concatenate(([True], rows[1:] != rows[:-1])) if len(rows) else np.zeros(0, bool)
    return rows[first], counts[first]


def _alive(found: tuple[Array, Array], alive: Flags, count: int) -> tuple[Array, Array]:
    rows, counts = found
    if count == len(alive):
        return found
    living = alive[rows]
    return rows[living], counts[living]


def paired(codes: Codes) -> Codes:
    """Each word with the one behind it, as one."""
    first, second = codes[:-1].astype(np.uint64), codes[1:].astype(np.uint64)
    return ((first * _PAIR ^ second) & _CODE).astype(np.uint32)


def _segment(keys: Array, counts: Array) -> _Segment:
    words = (keys >> _HALF).astype(np.uint32)
    codes, starts = np.unique(words, return_index=True)
    return _Segment(
        codes,
        np.append(starts, len(words)).astype(np.int64),
        (keys & _CODE).astype(np.uint32),
        np.minimum(counts, _MOST_COUNTED).astype(np.uint8),
    )


def _merged(before: _Segment, last: _Segment) -> _Segment:
    keys = np.concatenate((_keys(before), _keys(last)))
    order = np.argsort(keys, kind="stable")
    return _segment(keys[order], np.concatenate((before.counts, last.counts))[order])


def _keys(segment: _Segment) -> Array:
    words = np.repeat(segment.codes, np.diff(segment.starts))
    return words.astype(np.uint64) << _HALF | segment.rows.astype(np.uint64)


def _looked_up(segment: _Segment, code: int) -> tuple[Array, Array] | None:
    at = int(np.searchsorted(segment.codes, np.uint32(code)))  # of another type all codes would be copied first
    if at == len(segment.codes) or segment.codes[at] != code:
        return None
    found = slice(int(segment.starts[at]), int(segment.starts[at + 1]))
    return segment.rows[found], segment.counts[found]
