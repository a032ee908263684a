"""Maps that are bounded: what was entered longest ago is forgotten first."""

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class NewestMap(OrderedDict[K, V]):
    """The entries that were entered last, at most `most` of them: a cache never grows with what a room has seen."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Enter a value as the newest, in the place of an older one of this key."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)
