"""The kinds of arrays that rows become."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Places = NDArray[np.int64]
Codes = NDArray[np.uint32]
Flags = NDArray[np.bool_]
Array = NDArray[Any]


def best(scores: Floats, most: int) -> Places:
    """The places of the highest scores above zero, the highest first; of equals the one that comes first."""
    places = np.flatnonzero(scores > 0)
    if len(places) > most:
        highest = np.argpartition(-scores[places], most - 1)[:most]
        places = places[highest]
    return places[np.lexsort((places, -scores[places]))]


def decoded(coded: bytes) -> Codes:
    """Words that are stored as bytes."""
    return np.frombuffer(coded, np.uint32)
