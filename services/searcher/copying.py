"""Copying what is compared of a shelf's rows, in the pauses between searches."""

import asyncio

import numpy as np

from services.searcher.copies import PARTS, columns_of, pieces
from services.searcher.core.arrays import Places
from services.searcher.stored_shelf import StoredShelf

AT_ONCE = 500
"""Rows; a search that comes meanwhile waits for none of them, but for the machine."""


async def copy(stored: StoredShelf, quiet: asyncio.Event) -> int:
    """Copy what is not copied yet, a few rows at a time while nobody searches; how many rows that were."""
    numbers = _missing(stored)
    for start in range(0, len(numbers), AT_ONCE):
        await quiet.wait()
        some = numbers[start : start + AT_ONCE]
        rows = await stored.table.at(stored.places[some].tolist(), columns_of(PARTS))
        ends = stored.copies.write(await asyncio.to_thread(pieces, rows, PARTS))
        stored.copies.know(some, ends)
        stored.copies.forget(some[~stored.shelf.alive[some]])
    return len(numbers)


def _missing(stored: StoredShelf) -> Places:
    """The rows that have vectors and no copy, in the order in which the table keeps them."""
    numbers = stored.numbers[~stored.copies.has(stored.numbers)]
    return numbers[~np.isin(numbers, stored.bare)]
