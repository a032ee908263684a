"""Late interaction: each token of a query looks for the one of a text that is most like it; rare words count more."""

import re
from collections.abc import Sequence

import numpy as np

from services.domain.search.rows import TOKEN_DIMENSIONS
from services.domain.search.words import STOP_WORDS, code, words
from services.searcher.core.arrays import Floats
from services.searcher.core.query import PART, SMALLEST, Query, whole_words

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
