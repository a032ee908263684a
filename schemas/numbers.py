"""Numbers as messages may hold them: within what every reader counts exactly, and any few of them add up."""

from typing import Annotated

import msgspec

MOST = 2**53 - 1
"""The largest number that a harness in JavaScript counts exactly. A thousand of them still fit into a column."""
LONGEST_WAIT = 600_000
"""Milliseconds."""

Count = Annotated[int, msgspec.Meta(ge=-MOST, le=MOST)]
"""A whole number."""
Amount = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
"""Money, or another amount that is no whole number."""
Wait = Annotated[int, msgspec.Meta(ge=0, le=LONGEST_WAIT)]
"""Milliseconds for which somebody waits."""
