"""When a run is due: it is ordered, a slot of a task has come, or nobody works on the project. Pure: no clock.

A task has a slot only where something changed since its last run, and the slot is the first one behind that change. So
a slot is made up for once, however long the machine slept, none comes twice, and a project that rests costs nothing.
Where a project sets times of its own, its first slot is behind that moment: one of the past that it did not have then
was not missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo

import msgspec

from schemas.events import DreamRequested
from services.domain.cron import next_slot
from services.domain.dream_times import DreamTimes
from services.dreamer.core.state import AFTER_NOTES, Dreams


class Timetable(msgspec.Struct, frozen=True):
    """When the tasks of a project are run."""

    slots: Mapping[str, str]
    """Task -> its cron line; empty: it is only run when it is ordered. In the order of a run."""
    zone: tzinfo
    idle_after: timedelta
    """The time without any work on the project after which its tasks are run without a slot; zero: never."""
    apart: timedelta
    """From a run to the next one for this reason."""


def timetable_of(
    times: DreamTimes, zone: tzinfo, crons: Mapping[str, str], idle_after: timedelta, apart: timedelta
) -> Timetable:
    """The timetable of a project with these times: a task that they do not name has its slot of `crons`."""
    slots = {task: times.slots.get(task, line).strip() for task, line in crons.items()}
    return Timetable(slots, zone, idle_after, apart)


def due(state: Dreams, timetable: Timetable, now: datetime, worked: datetime | None) -> DreamRequested | None:
    """The run that is due at this moment; none: none is, or one is open.

    `worked`: when somebody last worked on the project; none: only orders count.
    """
    if state.jobs.open is not None:
        return None
    if state.orders:
        return _ordered(state, timetable)
    if worked is None or not _is_of_tasks(state):
        return None
    slots = _slots(state, timetable)
    come = [task for task, slot in slots.items() if slot <= now]
    if come:
        return _request(state, "slot", come, slot=min(slots[task] for task in come))
    idle = _idle_at(state, timetable, worked, slots)
    return _request(state, "idle", [*slots]) if idle is not None and idle <= now else None


def next_due(state: Dreams, timetable: Timetable, worked: datetime) -> datetime | None:
    """When a run will be due, where nothing else happens; none: never, or one is open."""
    if state.jobs.open is not None or not _is_of_tasks(state):
        return None
    slots = _slots(state, timetable)
    idle = _idle_at(state, timetable, worked, slots)
    return min([*slots.values(), *([idle] if idle else [])], default=None)


def _is_of_tasks(state: Dreams) -> bool:
    """Whether anything is remembered under this name of a project."""
    return not state.book.moved_to and not state.book.is_home


def _slots(state: Dreams, timetable: Timetable) -> dict[str, datetime]:
    """The next slot of each task that has one."""
    found = {}
    for task, line in timetable.slots.items():
        changed = state.change_for(task)
        if line and changed is not None:
            since = max(filter(None, (changed, state.asked.get(task), state.timed_at)))
            found[task] = next_slot(line, timetable.zone, since)
    return found


def _idle_at(state: Dreams, timetable: Timetable, worked: datetime, slots: Mapping[str, datetime]) -> datetime | None:
    """When a run is due because nobody works; none: never."""
    if slots.keys() <= AFTER_NOTES or not timetable.idle_after:
        return None
    last = state.last_asked
    idle = worked + timetable.idle_after
    return max(idle, last + timetable.apart) if last else idle


def _ordered(state: Dreams, timetable: Timetable) -> DreamRequested:
    """One run for all orders that wait. A task that is not there any more is named, and skipped."""
    named = {task for order in state.orders for task in order.tasks}
    known = list(timetable.slots)
    tasks = known if any(not order.tasks for order in state.orders) else [task for task in known if task in named]
    return _request(state, "order", [*tasks, *sorted(named - {*known})], answers=state.orders[-1].seq)


def _request(
    state: Dreams, reason: str, tasks: Sequence[str], *, answers: int = 0, slot: datetime | None = None
) -> DreamRequested:
    run = f"d{state.jobs.begun + 1}"
    return DreamRequested(run=run, reason=reason, tasks=list(tasks), answers=answers, slot=slot)
