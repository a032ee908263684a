"""Names that only calls of tools and their outputs show: they are looked up word for word, next to all other results.

Nothing is ranked here. A row holds a name of the query or it does not; the newest row comes first, and all of them are
put where they leave the other results in their order.
"""

import asyncio
from collections.abc import Sequence

import msgspec
import numpy as np

from services.domain.search.literals import holds
from services.domain.search.rows import BY_NAME
from services.searcher.copies import TEXT
from services.searcher.core import ranking
from services.searcher.core.arrays import Flags, Places
from services.searcher.finding import FoundRow, ShelfQuery, find
from services.searcher.stored_shelf import StoredShelf, read

VERBATIM = "verbatim"
BEHIND = 5
"""Results of a sentence that an output never takes the place of."""
PARTLY = 0.5
"""The highest score of a row for a query that has more than names."""

replace = msgspec.structs.replace


async def find_with_names(shelves: Sequence[StoredShelf], asked: ShelfQuery, most: int) -> list[FoundRow]:
    """The best hits of all shelves, the best first, and the outputs that have a name of the query."""
    outputs = [stored for stored in shelves if stored.shelf.kind in BY_NAME and len(stored.shelf)]
    found, *named = await asyncio.gather(
        find([stored for stored in shelves if stored.shelf.kind not in BY_NAME], asked, most),
        *(_in_outputs(stored, asked, most) for stored in outputs),
    )
    return _joined(found, [one for some in named for one in some], asked, most)


async def _in_outputs(stored: StoredShelf, asked: ShelfQuery, most: int) -> list[FoundRow]:
    """The outputs that have names of a query: those with the most of them first, then the newest."""
    names = asked.names
    allowed = stored.allowed(asked.scope)
    numbers = _holding(stored, names.names, allowed)
    texts = [text.decode().casefold() for (text,) in await read(stored, numbers, (TEXT,))] if len(numbers) else []
    found: list[tuple[tuple[int, int, int], int]] = []
    for number, text in zip(numbers.tolist(), texts, strict=True):
        there = [name for name in names.names if holds(text, name)]
        if there:
            whole = sum(f"\n{name.casefold()}\n" in f"\n{text}\n" for name in there)
            found.append(((len(there), whole, int(stored.shelf.seqs[number])), number))
    worth = (1.0 if names.is_all else PARTLY) / max(1, len(names.names))
    best = sorted(found, reverse=True)[:most]
    return [FoundRow(stored, number, worth * order[0], (VERBATIM,)) for order, number in best]


def _holding(stored: StoredShelf, names: Sequence[str], allowed: Flags) -> Places:
    rows = [ranking.holding(stored.shelf, name, allowed)[0] for name in names]
    return np.unique(np.concatenate(rows)) if rows else np.zeros(0, np.int64)


def _joined(found: Sequence[FoundRow], outputs: Sequence[FoundRow], asked: ShelfQuery, most: int) -> list[FoundRow]:
    """Both together with falling scores, the found ones in their order.

    For a query of nothing but names the outputs are ranked behind the last result that has one of them. For any other
    query they are ranked behind all results. Where none of these has a name, and the list is long enough, one takes
    the last place.
    """
    if not outputs:
        return list(found)
    sign = VERBATIM if asked.literals else "words"  # only literals are compared word for word
    holding = [place for place, one in enumerate(found[:most], 1) if sign in one.why]
    if asked.names.is_all:
        at = holding[-1] if holding else 0
    else:
        at = len(found)
        if not holding and most > BEHIND:
            at, outputs = min(at, most - 1), outputs[: max(1, most - at)]
    before, after = list(found[:at]), list(found[at:])
    highest = before[-1].score if before else 1.0
    lowest = after[0].score if after else 0.0
    placed = [replace(one, score=min(highest, max(lowest, one.score))) for one in outputs]
    return [*before, *placed, *after]
