"""A query as it is compared: its words, its pairs of words, and what a model makes of it."""

from collections.abc import Sequence

import msgspec
import numpy as np

from services.domain.search.rows import TOKEN_DIMENSIONS
from services.domain.search.words import code, written_words
from services.searcher.core.arrays import Floats
from services.searcher.core.postings import paired

PART, UNKNOWN = "##", "[UNK]"
SMALLEST = 1.0e-6
"""The length that a token's vector has at least, where one is divided by it."""
UNKNOWN_UP_TO, KNOWN_FROM = 0.3, 0.7
"""Which share of a text a model has as whole words, where it knows nothing of it, and where it knows it all."""


class Query(msgspec.Struct, frozen=True):
    """A query as it is compared."""

    text: str
    codes: tuple[int, ...] = ()
    written: dict[int, str] = {}
    """Of these codes the words as they were written; a whole identifier has none."""
    whole: frozenset[int] = frozenset()
    """Of these codes those of whole identifiers, whose parts have codes as well."""
    pairs: tuple[int, ...] = ()
    vector: Floats | None = None
    """None: there is no model, or it has not answered."""
    tokens: Floats | None = None
    pieces: tuple[str, ...] = ()
    known: float = 1.0
    """The share, from 0 to 1, to which the model knows these words: it has learned English, and judges nothing else."""


def known_share(pieces: Sequence[str]) -> float:
    """The share to which a model knows a text, by the part of it that it need not cut into pieces of words."""
    whole = total = 0
    for first, last in whole_words(pieces):
        length = sum(len(piece.removeprefix(PART)) for piece in pieces[first:last])
        total += length
        whole += length if last - first == 1 and pieces[first].isascii() and pieces[first] != UNKNOWN else 0
    return min(1.0, max(0.0, (whole / total - UNKNOWN_UP_TO) / (KNOWN_FROM - UNKNOWN_UP_TO))) if total else 1.0


def query_of(text: str, vector: bytes = b"", tokens: bytes = b"", pieces: Sequence[str] = ()) -> Query:
    """A query from its text and what a model made of it."""
    found = written_words(text)
    codes = [code(word.stem) for word in found]
    matrix = matrix_of(tokens)
    return Query(
        text=text,
        codes=tuple(dict.fromkeys(codes)),
        written={one: word.written for one, word in zip(codes, found, strict=True) if word.written},
        whole=frozenset(one for one, word in zip(codes, found, strict=True) if word.is_whole),
        pairs=tuple(dict.fromkeys(paired(np.array(codes, np.uint32)).tolist())),
        vector=np.frombuffer(vector, np.float32) if vector else None,
        tokens=matrix if len(matrix) == len(pieces) and len(matrix) else None,
        pieces=tuple(pieces),
        known=known_share(pieces),
    )


def whole_words(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """The beginning and the end of each word in the tokens that words were cut into."""
    starts = [at for at, piece in enumerate(pieces) if not at or not piece.startswith(PART)]
    if not starts:
        return []
    return list(zip(starts, [*starts[1:], len(pieces)], strict=True))


def matrix_of(tokens: bytes) -> Floats:
    """Tokens' vectors, each of length 1."""
    matrix = np.frombuffer(tokens, np.int8).reshape(-1, TOKEN_DIMENSIONS).astype(np.float32)
    return np.asarray(matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), SMALLEST), np.float32)
