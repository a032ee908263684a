"""Letting go of a large state: piece by piece, so that the interpreter has turns for others in between."""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from services.domain.fold import Map

S = TypeVar("S")

AT_ONCE = 256
"""Pieces that are let go of together."""


def release(states: list[S]) -> None:
    """Empty a list that alone refers to large states. To be called in a thread.

    Where the last reference to a state of a long session goes, all of it is freed in one step, for which nothing else
    runs in the process: not even in another thread. So each piece is referred to first, and then let go of.
    """
    pieces = [*_pieces(states)]
    states.clear()
    while pieces:
        del pieces[-AT_ONCE:]


def _pieces(value: object) -> Iterator[object]:
    """All values that a value is made of, at any depth."""
    for one in _made_of(value):
        if isinstance(one, msgspec.Struct | Map | tuple | list | dict):
            yield one
            yield from _pieces(one)


def _made_of(value: object) -> Iterator[object]:
    match value:
        case msgspec.Struct():
            yield from (getattr(value, name) for name in value.__struct_fields__)
        case Map() | dict():
            yield from value.values()
        case tuple() | list():
            yield from value
