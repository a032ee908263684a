"""Limits how often something is done for one address that is called for faster than it is done."""

from itertools import takewhile

from schemas.subjects import Address
from services.domain.newest import NewestMap
from services.kit.projector import pause

MOST_ADDRESSES = 1_000


class Pacing:
    """Puts off the next turn of an address: all turns take a tenth of the time, and at most `longest` seconds pass.

    What comes meanwhile is done in one turn. After a quiet time nothing is put off.
    """

    def __init__(self, longest: float) -> None:
        """`longest`: seconds."""
        self._longest = longest
        self._turns = NewestMap[Address, tuple[float, float]](MOST_ADDRESSES)
        """When the newest turn of an address began, and how long it took, in seconds."""

    def wait(self, address: Address, now: float) -> float:
        """Seconds until the next turn of this address."""
        began, cost = self._turns.get(address, (now, 0.0))
        return pause(now - began, cost * self._active(now), 0.0, self._longest)

    def _active(self, now: float) -> int:
        """The number of addresses that have had a turn within `longest`: they share the tenth."""
        return sum(1 for _ in takewhile(lambda turn: now - turn[0] <= self._longest, reversed(self._turns.values())))

    def done(self, address: Address, began: float, ended: float) -> None:
        """A turn was done."""
        self._turns[address] = began, ended - began
