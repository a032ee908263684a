"""Folds, and the persistent map they are made of: a new version of it costs the same at any size."""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import TypeVar

from rpds import HashTrieMap as Map

S = TypeVar("S")
E = TypeVar("E")

__all__ = ["Map", "fold"]


def fold(evolve: Callable[[S, E], S], events: Iterable[E], state: S) -> S:
    """The state after these events."""
    return reduce(evolve, events, state)
