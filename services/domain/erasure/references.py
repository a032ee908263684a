"""References to long bodies: by what goes, and by what stays."""

import re

_NAME = re.compile(rb'"([0-9a-f]{64})"')
"""A sha256 that is a text of its own: the name of a body, or a digest that is none."""


class References:
    """The names of bodies in messages."""

    def __init__(self) -> None:
        self._going: set[str] = set()
        self._staying: set[str] = set()

    def add(self, data: bytes, *, goes: bool) -> None:
        """A message; `goes`: whether it is erased as a whole."""
        (self._going if goes else self._staying).update(name.decode() for name in _NAME.findall(data))

    def are_erased(self, name: str) -> bool:
        """Whether only what goes refers to a body."""
        return name in self._going and name not in self._staying

    def are_missing(self, name: str) -> bool:
        """Whether nothing that stays refers to a body."""
        return name not in self._staying
