"""Cyclic garbage, collected in small steps: what has survived a collection is not looked through again.

States of sessions are millions of objects that live long and hold no cycles. Each full collection of Python looks
through all of them, and nothing else runs in the process meanwhile: an eighth of a second for a session of 4,000
messages. Here only what was made since the last full collection is looked through. Objects without cycles are freed as
ever, at once. A state as large as that is let go of piece by piece, for the same reason.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from services.domain.fold import Map

WHOLE_EVERY = 3600.0
"""Seconds after which all is looked through once more, for cycles that were still in use before."""
LOOK, FEW = 30.0, 60
"""Seconds between two looks whether that is due, and the messages that a room at rest may receive in this time."""
S = TypeVar("S")

AT_ONCE = 256
"""Pieces that are let go of together."""


def collect_in_steps() -> None:
    """Have this process look through new objects only. To be called once; a second call changes nothing."""
    if _freeze not in gc.callbacks:
        gc.callbacks.append(_freeze)


def collect_as_ever() -> None:
    """Have a process that ends look through all objects again: libraries complain of what is never freed."""
    if _freeze in gc.callbacks:
        gc.callbacks.remove(_freeze)
    gc.unfreeze()


def _freeze(phase: str, about: dict[str, int]) -> None:
    if phase == "stop" and about["generation"] == 2:  # noqa: PLR2004 - the oldest, as the module `gc` numbers them
        gc.freeze()


def collect_all() -> int:
    """Look through all objects, which holds the process up for as long as that takes. Returns how many were freed."""
    gc.unfreeze()
    return gc.collect()


async def collect_all_at_rest(received: Callable[[], int]) -> None:
    """Look through all objects every hour, where the room is at rest then.

    `received`: the messages that it has received so far.
    """
    loop = asyncio.get_running_loop()
    collected, before = loop.time(), received()
    while True:
        await asyncio.sleep(LOOK)
        is_at_rest = received() - before < FEW
        before = received()
        if is_at_rest and loop.time() - collected >= WHOLE_EVERY:
            collect_all()
            collected = loop.time()


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
