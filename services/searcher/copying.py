"""Copying what is compared of a shelf's rows, in the pauses between searches."""

import asyncio

import numpy as np

from services.searcher.copies import PARTS, columns_of, pieces
from services.searcher.core.arrays import Places
from services.searcher.held import Held

AT_ONCE = 500
"""Rows; a search that comes meanwhile waits for none of them, but for the machine."""


async def copy(held: Held, quiet: asyncio.Event) -> int:
    """Copy what is not copied yet, a few rows at a time while nobody searches; how many rows that were."""
    numbers = _missing(held)
    for start in range(0, len(numbers), AT_ONCE):
        await quiet.wait()
        some = numbers[start : start + AT_ONCE]
        rows = await held.table.at(held.places[some].tolist(), columns_of(PARTS))
        ends = held.copies.write(await asyncio.to_thread(pieces, rows, PARTS))
        held.copies.know(some, ends)
        held.copies.forget(some[~held.shelf.alive[some]])
    return len(numbers)


def _missing(held: Held) -> Places:
    """The rows that have vectors and no copy, in the order in which the table keeps them."""
    numbers = held.numbers[~held.copies.has(held.numbers)]
    return numbers[~np.isin(numbers, held.bare)]
