"""Texts that the lanes need before a pass is decided. Most passes need none, and then nothing is read."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from services.plan.lanes import Lane, View
from services.plan.lanes.base import nothing_needed

T = TypeVar("T")


def needed(view: View, lanes: Iterable[Lane], faults: list[str]) -> tuple[str, ...]:
    """The parts whose text a rebase must know, and that is not reported yet. `lanes`: those that are asked in it."""
    wanted: dict[str, None] = {}
    for lane in lanes:
        if lane.needs is not nothing_needed:
            names: Iterable[str] = guarded(lane.name, faults, partial(_needs, lane, view), ())
            wanted |= dict.fromkeys(name for name in names if name not in view.texts)
    return tuple(wanted)


def _needs(lane: Lane, view: View) -> tuple[str, ...]:
    return tuple(lane.needs(view))


def guarded(name: str, faults: list[str], work: Callable[[], T], nothing: T) -> T:
    """A lane that breaks costs its own edits of this pass, never the request."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - reported with the pass
        faults.append(f"the lane {name} failed: {type(error).__name__}: {error}")
        return nothing
