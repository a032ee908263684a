"""The tasks that there are, found by their place, in the order in which a run takes them: that of their own slots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pkgutil import iter_modules

from services.domain.cron import next_slot
from services.dreamer.core import tasks
from services.dreamer.core.task import DreamTask

_MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def _found() -> Iterable[DreamTask]:
    for module in iter_modules(tasks.__path__):
        task: DreamTask = import_module(f"{tasks.__name__}.{module.name}").TASK
        yield task


def in_order(found: Iterable[DreamTask]) -> Mapping[str, DreamTask]:
    """Tasks by their names: by the time of the day of their own slots, and by name where that is the same."""
    return {task.NAME: task for task in sorted(found, key=lambda one: (_hour(one), one.NAME))}


def _hour(task: DreamTask) -> tuple[int, int]:
    """The hour and the minute of a slot; of a task without one: behind all others."""
    if not task.CRON:
        return (24, 0)
    slot = next_slot(task.CRON, UTC, _MONDAY)
    return slot.hour, slot.minute


TASKS = in_order(_found())
