"""Ranks what is found, with one set of weights for messages and memories, and one for commits.

First every row is compared by its words (BM25): those of its text, of its text with its neighbours, of pairs of
neighbouring words, of its title and of its paths. Those that are best by that, and those that a model finds nearest in
meaning, are compared by both. The best of these are compared with the query token by token (late interaction): each
token of the query looks for the one that is most like it, and rare words count more.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
import numpy as np

from services.domain.search.rows import TOKEN_DIMENSIONS, Kind
from services.domain.search.words import STOP_WORDS, code, words
from services.searcher.core.arrays import Flags, Floats, Places, best
from services.searcher.core.postings import Scorer
from services.searcher.core.query import PART, SMALLEST, Query, whole_words
from services.searcher.core.shelf import Shelf
from services.searcher.core.vocabulary import Like

Arm = Literal["full", "bm25", "dense", "rrf", "minmax"]
"""The way in which candidates are put in order; all but the first are for comparison."""
CANDIDATES = 100
"""The best by words, and as many of the nearest in meaning."""
COMPARED = 64
"""The best of these are compared token by token."""
MOST_UNKNOWN = 12
"""Words of a query for which others are looked for that are like them."""
FLOOR = 0.1
"""The cosine from which on two texts have anything to do with each other."""
REST = 0.8
"""The share of that which a row needs to be listed behind one that has it."""
FIRST = 5
"""Rows among which one must have it."""
COVERED, TOKENS = 0.5, 0.5
"""The weights in the evidence for a row: of the query's words that it has, and of its tokens; a text's meaning counts
1."""
NAMED = 0.8
"""The share, from 0 to 1, of the parts of a query's names from which on a row speaks of them, however it is spelled."""
ALIKE = 0.35
"""The cosine from which on two texts are called similar in meaning."""
_RANK = 60.0
_COMMON = 100.0
"""The factor by which a literal that is in all rows counts less than one that is in none."""


class Weights(msgspec.Struct, frozen=True):
    """Weights of the comparisons; the words of the text itself count 1 and share that with the wider text's."""

    wide: float = 0.0
    """The share of the text with its neighbours in the comparison by words."""
    wide_meaning: float = 0.0
    """The share of the text with its neighbours in the comparison by meaning."""
    pairs: float = 0.5
    title: float = 0.0
    around: float = 0.0
    meaning: float = 1.5
    late: float = 3.5
    verbatim: float = 0.5
    """The weight of words that a text has exactly as in the query, such as a path; rare ones count all of this."""
    person: float = 0.0
    known: float = 0.39
    """The least share, from 0 to 1, that must speak for a row for the project to know anything of a query, with a model
    that knows the query's words. This one and the next two were chosen so that of questions about other things about
    nine of ten find nothing, and of those that can be answered fewer than one in a hundred does."""
    known_by_words: float = 0.30
    """The least share, from 0 to 1, that must speak for a row by words alone for the project to know anything of a
    query."""
    meant: float = 0.39
    """The least nearness in meaning, from 0 to 1, by which the project knows something of a query, whatever its
    words."""


OF_MESSAGES = Weights(wide=0.5, wide_meaning=0.65, pairs=0.5, title=0.3, meaning=2.2, late=4.0, person=0.3)
OF_COMMITS = Weights(
    verbatim=0.2,
    pairs=0.5,
    title=0.3,
    around=0.1,
    meaning=1.0,
    late=2.0,
    known=0.47,
    known_by_words=0.36,
    meant=0.60,
)


def weights_of(kind: Kind) -> Weights:
    return OF_COMMITS if kind == "commit" else OF_MESSAGES


def tempered(weights: Weights, query: Query) -> Weights:
    """The weights for a query: what a model says counts as far as it knows the words."""
    return msgspec.structs.replace(weights, meaning=weights.meaning * query.known, late=weights.late * query.known)


class ByWords(msgspec.Struct, frozen=True):
    """All rows by their words."""

    scores: Floats
    """The best has about 1."""
    rarities: dict[int, float]
    """The weight of each word of the query."""
    widest: Scorer
    """Which of the words each row has, itself or in its neighbours."""

    def coverage(self, rows: Places) -> Floats:
        """The share of the query's weight that each of these rows has in its words; from 0 to 1."""
        return self.widest.coverage(rows, self.rarities)

    def spells_out(self, rows: Places, query: Query) -> Flags:
        """Whether each of these rows has the parts of the query's names as words, or nearly all of them."""
        parts = {one: weight for one, weight in self.rarities.items() if one not in query.whole}
        return np.asarray(self.widest.coverage(rows, parts) >= NAMED, bool)


def by_words(shelf: Shelf, query: Query, allowed: Flags, arm: Arm = "full") -> ByWords:
    """Every row of a shelf by its words. How rare a word is does not depend on what is asked for."""

    def masked(scorer: Scorer) -> Floats:
        return np.where(allowed, scorer.scores(), np.float32(0))

    weights = weights_of(shelf.kind)
    likes = _likes(shelf, query) if arm == "full" else {}
    own = Scorer(shelf.own, shelf.alive, query.codes, likes)
    wide = Scorer(shelf.wide, shelf.alive, query.codes, likes) if shelf.kind == "message" else None
    total = masked(own)
    if arm == "full":
        if wide is not None:
            total = (1 - weights.wide) * total + weights.wide * masked(wide)
        total = _levelled(total + weights.pairs * masked(Scorer(shelf.pairs, shelf.alive, query.pairs)))
        for weight, postings in ((weights.title, shelf.title), (weights.around, shelf.around)):
            if weight and postings.lengths.any():
                total = total + weight * _levelled(masked(Scorer(postings, shelf.alive, query.codes, likes)))
    return ByWords(np.asarray(total, np.float32), own.rarities, wide or own)


def _likes(shelf: Shelf, query: Query) -> dict[int, Sequence[Like]]:
    """The words that replace those which nobody wrote here. Where a word is not English, others may end otherwise."""
    unknown = [
        one for one in query.codes if (word := query.written.get(one)) and not (word.isascii() and shelf.holds(one))
    ]
    found = {one: shelf.vocabulary.like(query.written[one]) for one in unknown[:MOST_UNKNOWN]}
    return {one: likes for one, likes in found.items() if likes}


def near(similarity: Floats, wide_similarity: Floats, weights: Weights) -> Floats:
    """The nearness of texts in meaning, from 0 to 1, by the cosines of the text itself and of the wider one."""
    one, other = (np.maximum(0, cosine - FLOOR) / (1 - FLOOR) for cosine in (similarity, wide_similarity))
    return np.asarray((1 - weights.wide_meaning) * one + weights.wide_meaning * other, np.float32)


class Compared(msgspec.Struct, frozen=True):
    """Candidates and what each comparison says of them, place by place."""

    rows: Places
    by_words: Floats
    coverage: Floats
    cosine: Floats
    wide_cosine: Floats
    is_person: Flags
    verbatim: Floats
    """The weight, from 0 to 1, of what a row has of the query word for word."""
    late: Floats | None = None
    wide_late: Floats | None = None
    has_name: Flags | None = None
    """The rows that have a name, its end or all its parts; None: the query is more than names."""


class RankedRows(msgspec.Struct, frozen=True):
    """Rows, the best first, and how good each is by itself, from 0 to 1."""

    rows: Places
    scores: Floats


def candidates(scores: ByWords, others: Iterable[int], arm: Arm = "full", most: int = CANDIDATES) -> Places:
    """The rows that are looked at closely: so many of the best by words, and those that were found otherwise."""
    most = max(most, CANDIDATES if arm == "full" else 2 * CANDIDATES)
    lexical = best(scores.scores, most) if arm != "dense" else np.zeros(0, np.int64)
    return np.union1d(lexical, np.array(sorted(others), np.int64)).astype(np.int64)


def holding(shelf: Shelf, literal: str, allowed: Flags) -> tuple[Places, float]:
    """Rows that have all words of a literal, at most as many as are candidates, and how much the literal counts."""
    found: Places | None = None
    for one in dict.fromkeys(code(word) for word in words(literal)):
        rows = shelf.own.rows(one)[0].astype(np.int64)
        found = rows if found is None else np.intersect1d(found, rows)
    if found is None:
        return np.zeros(0, np.int64), 0.0
    there = found[shelf.alive[found]]
    weight = 1 / (1 + _COMMON * len(there) / max(1, len(shelf)))
    return there[allowed[there]][-CANDIDATES:], weight


def first_scores(compared: Compared, weights: Weights) -> Floats:
    """The scores of candidates before they are compared token by token."""
    meaning = near(compared.cosine, compared.wide_cosine, weights)
    scores = compared.by_words + weights.meaning * meaning + weights.verbatim * compared.verbatim
    return np.asarray(scores + weights.person * compared.is_person, np.float32)


def closest(compared: Compared, weights: Weights) -> Places:
    """Which of the candidates are worth to be compared token by token, by their numbers among them."""
    return np.sort(np.argsort(-first_scores(compared, weights), kind="stable")[:COMPARED]).astype(np.int64)


def ranked(compared: Compared, weights: Weights, arm: Arm = "full", known: float = 1.0) -> RankedRows:
    """The candidates in their order. Of equals the oldest comes first."""
    scores = _ordering(compared, weights, arm)
    order = np.argsort(-scores, kind="stable")
    if arm == "full":
        order = _that_bear_on_it(compared, order, weights, known)
    if not len(order):
        return RankedRows(compared.rows[:0], np.zeros(0, np.float32))
    top = order[0]
    share = np.maximum(scores[order], 0) / (scores[top] if scores[top] > 0 else 1.0)
    return RankedRows(
        compared.rows[order], np.clip(absolute(compared, int(top), known) * share, 0, 1).astype(np.float32)
    )


def _that_bear_on_it(compared: Compared, order: Places, weights: Weights, known: float) -> Places:
    """Rows without those that have nothing to do with the query: none, where not even the first has."""
    found = evidence(compared, weights, known)[order]
    return order[found >= REST] if (found[:FIRST] >= 1).any() else order[:0]


def evidence(compared: Compared, weights: Weights, known: float) -> Floats:
    """The evidence for each candidate, whatever else there is; from 1 on it is enough.

    Where a row has no vectors yet, or a model does not know the query, the words alone say so. A part of a
    name, or a similar one, is no evidence: `Crane::release` is not known where only cranes are.
    """
    cosine = np.maximum(compared.cosine, compared.wide_cosine)
    share = np.where(cosine != 0, np.float32(known), np.float32(0))
    meaning, weight = cosine, 1.0
    if compared.late is not None and compared.wide_late is not None:
        meaning, weight = cosine + TOKENS * np.maximum(compared.late, compared.wide_late), 1 + TOKENS
    found = (COVERED * compared.coverage + share * meaning) / (COVERED + share * weight)
    needed = weights.known_by_words + (weights.known - weights.known_by_words) * share
    enough = np.maximum(found / needed, share * cosine / weights.meant)
    enough = np.where(compared.verbatim > 0, np.maximum(enough, 1), enough)
    if compared.has_name is not None:
        enough = np.where(compared.has_name, np.maximum(enough, 1), 0)
    return np.asarray(enough, np.float32)


def _ordering(compared: Compared, weights: Weights, arm: Arm) -> Floats:
    match arm:
        case "full":
            scores = first_scores(compared, weights)
            if compared.late is not None and compared.wide_late is not None:
                tokens = (1 - weights.wide_meaning) * compared.late + weights.wide_meaning * compared.wide_late
                scores = np.asarray(scores + weights.late * tokens, np.float32)
            return scores if compared.has_name is None else _names_first(scores, compared.verbatim)
        case "bm25":
            return compared.by_words
        case "dense":
            return compared.cosine
        case "minmax":
            return _scaled(compared.by_words) + _scaled(compared.cosine)
        case "rrf":
            return _by_rank(compared.by_words) + _by_rank(compared.cosine)


def _names_first(scores: Floats, verbatim: Floats) -> Floats:
    """The scores, with those of rows without the name just below the least of the rows that have it."""
    if not (verbatim > 0).any():
        return scores
    least = scores[verbatim > 0].min()
    return np.where(verbatim > 0, scores, np.minimum(scores, np.nextafter(least, np.float32(-1)))).astype(np.float32)


def absolute(compared: Compared, at: int, known: float = 1.0) -> float:
    """The quality of a candidate whatever else there is: by the share of the query's words that it has, and by meaning.

    Where a model does not know the query it is the words alone that say so.
    """
    votes = [(float(compared.coverage[at]), 1.0), (float(max(compared.cosine[at], compared.wide_cosine[at])), known)]
    if compared.late is not None and compared.wide_late is not None:
        votes.append((float(max(compared.late[at], compared.wide_late[at])), known))
    cast = [(vote, weight) for vote, weight in votes if vote > 0]
    return sum(vote * weight for vote, weight in cast) / (sum(weight for _, weight in cast) or 1.0)


def _scaled(scores: Floats) -> Floats:
    spread = float(np.ptp(scores)) if len(scores) else 0.0
    return np.asarray((scores - scores.min(initial=0.0)) / (spread or 1.0), np.float32)


def _by_rank(scores: Floats) -> Floats:
    ranks = np.empty(len(scores), np.float32)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(scores > 0, 1 / (_RANK + ranks), 0).astype(np.float32)


def _levelled(scores: Floats) -> Floats:
    """So that the best has 1."""
    most = float(scores.max(initial=0.0))
    return np.asarray(scores / most if most > 0 else scores, np.float32)


_LETTER = re.compile(r"\w")


def token_weights(query: Query, rarities: dict[int, float]) -> Floats:
    """The weight of each token of the query, by how rare the word is that it is a part of; all together 1."""
    found = np.zeros(len(query.pieces), np.float32)
    most = max(rarities.values(), default=1.0)
    for first, last in whole_words(query.pieces):
        word = "".join(piece.removeprefix(PART) for piece in query.pieces[first:last])
        if word in STOP_WORDS or not _LETTER.search(word):
            continue
        codes = [code(one) for one in words(word)]
        rarity = max((rarities.get(one, most) for one in codes), default=most)
        found[first:last] = rarity / np.sqrt(last - first)
    if not found.any():
        found[:] = 1
    return np.asarray(found / max(float(found.sum()), 1.0e-6), np.float32)


def late(query: Query, weights: Floats, tokens: Sequence[bytes]) -> Floats:
    """The likeness of texts to the query, token by token: 1 would be the same; of each text its tokens' vectors."""
    if query.tokens is None or not tokens:
        return np.zeros(len(tokens), np.float32)
    lengths = np.array([len(one) // TOKEN_DIMENSIONS for one in tokens])
    known = lengths > 0
    found = np.zeros(len(tokens), np.float32)
    if known.any():
        matrix = np.frombuffer(b"".join(tokens), np.int8).reshape(-1, TOKEN_DIMENSIONS).astype(np.float32)
        sizes = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        alike = matrix @ query.tokens.T
        alike /= np.maximum(sizes, SMALLEST)[:, np.newaxis]  # a query has fewer tokens than a token has numbers
        starts = np.concatenate(([0], np.cumsum(lengths[known])[:-1]))
        found[known] = np.maximum.reduceat(alike, starts, axis=0) @ weights
    return found


def late_both(query: Query, weights: Floats, own: Sequence[bytes], wide: Sequence[bytes]) -> tuple[Floats, Floats]:
    """The same of texts and of the wider ones; where there is no wider one, the text is that as well."""
    wider = [number for number, tokens in enumerate(wide) if tokens]
    alike = late(query, weights, [*own, *(wide[number] for number in wider)])
    of_own, of_wide = alike[: len(own)], alike[: len(own)].copy()
    of_wide[wider] = alike[len(own) :]
    return of_own, of_wide
