"""One search among the rows of one kind: shelf, nearest vectors, candidates, tokens."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from services.domain.search.fragments import CHARACTERS
from services.domain.search.literals import NamesAsked, end_of, holds
from services.searcher.copies import TEXT, TOKENS, VECTORS
from services.searcher.core import ranking
from services.searcher.core.arrays import Flags, Floats, Places
from services.searcher.core.query import Query
from services.searcher.core.ranking import Arm, ByWords, Compared, late_both, token_weights
from services.searcher.core.shelf import Scope
from services.searcher.stored_shelf import StoredShelf, matrix, nearest, read

replace = msgspec.structs.replace


class ShelfQuery(msgspec.Struct, frozen=True):
    """The query for every shelf."""

    query: Query
    literals: tuple[str, ...]
    scope: Scope
    project: str
    narrowed: str
    """The part of the scope that tables know, as a condition; empty: nothing."""
    arm: Arm = "full"
    names: NamesAsked = NamesAsked()
    """The names that are looked for in tools' outputs."""
    characters: int = CHARACTERS
    """The most characters of a text in an answer."""


class FoundRow(msgspec.Struct, frozen=True):
    """A row that was found."""

    stored: StoredShelf
    number: int
    """The row's, on its shelf."""
    score: float
    why: tuple[str, ...]


class _Search:
    """The search in one shelf. What the shelf holds is taken at once: it may change while tables are read."""

    def __init__(self, stored: StoredShelf, asked: ShelfQuery) -> None:
        self.stored, self.asked = stored, asked
        shelf = stored.shelf
        self.weights = ranking.tempered(ranking.weights_of(shelf.kind), asked.query)
        self.allowed: Flags = stored.allowed(asked.scope)
        self.is_person = shelf.is_person
        self.by_words: ByWords = ranking.by_words(shelf, asked.query, self.allowed, asked.arm)
        self.literals: list[tuple[str, Places, float]] = [
            (one, *ranking.holding(shelf, one, self.allowed)) for one in asked.literals
        ]

    async def found(self, most: int) -> list[FoundRow]:
        compared = await self._compared(most)
        ranked = ranking.ranked(compared, self.weights, self.asked.arm, self.asked.query.known)
        best = ranked.rows[:most]
        why = _reasons(compared, np.searchsorted(compared.rows, best))
        return [
            FoundRow(self.stored, row, score, reasons)
            for row, score, reasons in zip(best.tolist(), ranked.scores[:most].tolist(), why, strict=True)
        ]

    async def _compared(self, most: int) -> Compared:
        near = await self._nearest()
        literal = {int(row) for _, rows, _ in self.literals for row in rows}
        rows = ranking.candidates(self.by_words, near | literal, self.asked.arm, most)
        cosine, wide = await self._cosines(rows)
        verbatim, has_name = await self._names(rows)
        compared = Compared(
            rows=rows,
            by_words=self.by_words.scores[rows],
            coverage=self.by_words.coverage(rows),
            cosine=cosine,
            wide_cosine=wide,
            is_person=self.is_person[rows],
            verbatim=verbatim,
            has_name=has_name,
        )
        return await self._with_tokens(compared) if self.asked.arm == "full" else compared

    async def _nearest(self) -> set[int]:
        """Rows that are nearest in meaning, by their numbers on the shelf."""
        query, arm = self.asked.query, self.asked.arm
        if query.vector is None or arm == "bm25" or not len(self.allowed):
            return set()
        columns = VECTORS if arm == "full" else VECTORS[:1]
        most = ranking.CANDIDATES * (1 if arm == "full" else 2)
        rows = np.flatnonzero(self.allowed)
        if len(rows) <= most:  # all of them are the nearest, and no table has to be asked
            return set(np.setdiff1d(rows, self.stored.bare).tolist())
        found = await asyncio.gather(
            *(
                nearest(self.stored, self.asked.project, column, query.vector, self.asked.narrowed, most)
                for column in columns
            )
        )
        numbers = np.concatenate(found)
        return set(numbers[self.allowed[numbers]].tolist())

    async def _cosines(self, rows: Places) -> tuple[Floats, Floats]:
        query = self.asked.query.vector
        nothing = np.zeros(len(rows), np.float32)
        if query is None or not len(rows):
            return nothing, nothing
        own, wide = map(matrix, zip(*await read(self.stored, rows, VECTORS), strict=True))
        if own.shape[1] != len(query):
            return nothing, nothing
        cosine = np.asarray(own @ query, np.float32)
        if wide.shape[1] != len(query):
            return cosine, cosine
        return cosine, np.where(wide.any(axis=1), wide @ query, cosine).astype(np.float32)

    async def _names(self, rows: Places) -> tuple[Floats, Flags | None]:
        """The weight of what each row has word for word, and of a query of names which rows speak of one."""
        found = np.zeros(len(rows), np.float32)
        if not self.literals or self.asked.arm != "full":
            return found, None
        texts = [text.decode() for (text,) in await read(self.stored, rows, (TEXT,))] if len(rows) else []
        for literal, _, weight in self.literals:
            here = np.array([weight if holds(text, literal) else 0.0 for text in texts], np.float32)
            found = np.maximum(found, here)
        if not self.asked.names.is_all:
            return found, None
        ends = [end_of(literal) for literal, _, _ in self.literals]
        has_end = np.array([any(end.casefold() in text.casefold() for end in ends) for text in texts], bool)
        return found, has_end | self.by_words.spells_out(rows, self.asked.query)

    async def _with_tokens(self, compared: Compared) -> Compared:
        """The best candidates compared token by token as well."""
        query = self.asked.query
        if query.tokens is None or not len(compared.rows):
            return compared
        close = ranking.closest(compared, self.weights)
        own, wide = zip(*await read(self.stored, compared.rows[close], TOKENS), strict=True)
        weights = token_weights(query, self.by_words.rarities)
        alike = np.zeros((2, len(compared.rows)), np.float32)
        alike[:, close] = late_both(query, weights, own, wide)
        return replace(compared, late=alike[0], wide_late=alike[1])


def _reasons(compared: Compared, at: Places) -> list[tuple[str, ...]]:
    """The reasons for which the rows at these places are candidates."""
    signs = (
        ("verbatim", compared.verbatim > 0),
        ("words", compared.coverage > 0),
        ("meaning", np.maximum(compared.cosine, compared.wide_cosine) >= ranking.ALIKE),
    )
    flags = zip(*(has[at].tolist() for _, has in signs), strict=True)
    return [tuple(name for (name, _), is_so in zip(signs, row, strict=True) if is_so) for row in flags]


async def find(shelves: Sequence[StoredShelf], asked: ShelfQuery, most: int) -> list[FoundRow]:
    """The rows of all shelves that fit best, the best first."""
    found = await asyncio.gather(*(_Search(stored, asked).found(most) for stored in shelves if len(stored.shelf)))
    listed = [replace(one, score=one.score * BOOST[one.stored.shelf.kind]) for each in found for one in each]
    best = sorted(listed, key=lambda one: -one.score)[:most]
    return [replace(one, score=min(1.0, one.score)) for one in best]


BOOST: Mapping[str, float] = {"memory": 1.13, "commit": 1.04, "message": 1.0, "compartment": 1.0, "note": 1.0}
"""The factor by which more is expected of some kinds than of messages."""
