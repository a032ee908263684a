"""Facts that could be read and that broke a fold: passed over in one state, and named for the person who must know."""

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice

from schemas.envelope import Envelope

MOST = 10_000
"""The newest of them that are counted."""
REPORTED = 5
"""The newest of them that the health of a room names."""


class UnfoldedFacts:
    """The facts that no state of this process could take in, each once however many states it broke."""

    def __init__(self) -> None:
        self._types: OrderedDict[int, str] = OrderedDict()
        """Position -> type."""

    def __len__(self) -> int:
        return len(self._types)

    def add(self, envelope: Envelope) -> None:
        """Note one, by its position in the log."""
        self._types[envelope.seq] = envelope.type
        while len(self._types) > MOST:
            del self._types[min(self._types)]

    def newest(self, count: int) -> Iterator[tuple[int, str]]:
        """The last positions with their types, the newest first."""
        return islice(sorted(self._types.items(), reverse=True), count)

    @property
    def health(self) -> dict[str, object]:
        """Their number, and position and type of the newest ones, for the health of a room."""
        return {"count": len(self), "newest": [list(one) for one in self.newest(REPORTED)]}


UNFOLDED = UnfoldedFacts()
"""Those of this process, since it began."""
