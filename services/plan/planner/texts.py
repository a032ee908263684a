"""Which texts the lanes want to see before a pass is decided. Most passes need none, and then nothing is read."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from services.domain.conversation import Message
from services.plan.lanes import Lane, View
from services.plan.lanes.base import nothing_needed, nothing_read

T = TypeVar("T")


def needed(view: View, lanes: Iterable[Lane], faults: list[str]) -> tuple[str, ...]:
    """The parts whose text a rebase must know, and is not told yet. `lanes`: those that are asked in it."""
    wanted: dict[str, None] = {}
    for lane in lanes:
        if lane.needs is not nothing_needed:
            wanted |= _unknown(view, lane.name, faults, partial(lane.needs, view))
    return tuple(wanted)


def read(view: View, lanes: Iterable[Lane], fresh: Sequence[Message], faults: list[str]) -> tuple[str, ...]:
    """The parts of new messages whose text an extension must know, and is not told yet."""
    wanted: dict[str, None] = {}
    for lane in lanes:
        if lane.reads is not nothing_read and lane.works(view):
            wanted |= _unknown(view, lane.name, faults, partial(lane.reads, view, fresh))
    return tuple(wanted)


def _unknown(view: View, lane: str, faults: list[str], ask: Callable[[], Iterable[str]]) -> dict[str, None]:
    names: Sequence[str] = guarded(lane, faults, lambda: tuple(ask()), ())
    return dict.fromkeys(name for name in names if name not in view.texts)


def guarded(name: str, faults: list[str], work: Callable[[], T], nothing: T) -> T:
    """A lane that breaks costs its own edits of this pass, never the request."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - reported with the pass
        faults.append(f"the lane {name} failed: {type(error).__name__}: {error}")
        return nothing
