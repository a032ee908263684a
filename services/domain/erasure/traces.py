"""Traces of what goes: samples of texts, by which files are searched, and references to long bodies."""

import re
from collections.abc import Iterator

MOST = 64
"""Samples that are looked for: each is looked for in every byte of every file."""
LEAST, LONGEST = 32, 120
_PLAIN = re.compile(rb"[A-Za-z0-9 ,.;:()_-]{%d,%d}" % (LEAST, LONGEST))
"""Letters that are written alike however often a text is escaped."""
_ID = re.compile(rb"[0-9a-f-]{32,}|[\d:.TZ-]+")
_NAME = re.compile(rb'"([0-9a-f]{64})"')
"""A sha256 that is a text of its own: the name of a body, or a digest that is none."""


class Samples:
    """Pieces of texts that occur nowhere else."""

    def __init__(self) -> None:
        self._found: dict[bytes, None] = {}

    @property
    def is_full(self) -> bool:
        return len(self._found) >= MOST

    def take(self, data: bytes) -> None:
        """A sample of a fact that goes, from the inside of its longest text."""
        if not self.is_full and (longest := max(_pieces(data), key=len, default=b"")):
            self._found[longest] = None

    def leave_out(self, data: bytes) -> None:
        """A fact that stays: what it contains, too, proves nothing."""
        for one in [one for one in self._found if one in data]:
            del self._found[one]

    @property
    def found(self) -> tuple[bytes, ...]:
        return tuple(self._found)


def _pieces(data: bytes) -> Iterator[bytes]:
    """Pieces of the fact itself: its address and its ids stay."""
    begin = data.find(b'"data":')
    return (one[0] for one in _PLAIN.finditer(data, max(0, begin)) if not _ID.fullmatch(one[0].strip()))


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
