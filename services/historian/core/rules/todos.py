"""The agent's own todo list: which tasks are done, and which are open, at the end of each unit."""

from collections.abc import Iterable, Iterator

import msgspec

from services.domain.texts.bounds import beginning
from services.domain.tools.todos import ACTIVE, DONE, Task
from services.historian.core.rules.work_units import WorkUnit

LONGEST = 100
"""Characters of a task that are quoted."""


class TaskPlan(msgspec.Struct, frozen=True):
    """Tasks by name, in the order of the plan."""

    done: tuple[str, ...] = ()
    """The tasks that were finished in the unit."""
    active: tuple[str, ...] = ()
    """The tasks that are being done at its end, or were in between."""
    open: tuple[str, ...] = ()
    """The tasks that are not begun at its end."""


def plans(units: Iterable[WorkUnit]) -> Iterator[TaskPlan]:
    """One for each unit; a unit that says nothing of the plan has an empty one."""
    known: dict[str, Task] = {}
    for unit in units:
        before = known
        touched: list[str] = []
        for step in unit:
            for call in step.calls:
                known = _after(known, call.tasks)
                touched += [key for key, one in known.items() if one.state == ACTIVE]
        yield _plan(before, known, touched)


def _after(known: dict[str, Task], tasks: tuple[Task, ...]) -> dict[str, Task]:
    """A list takes the place of what was known; a single task is added, or changes its state."""
    if not tasks:
        return known
    if not tasks[0].number:
        return {one.name: one for one in tasks}
    changed = dict(known)
    for one in tasks:
        name = one.name or (known[one.number].name if one.number in known else "")
        if name:
            changed[one.number] = Task(name, one.state, one.number)
    return changed


def _plan(before: dict[str, Task], known: dict[str, Task], touched: Iterable[str]) -> TaskPlan:
    if known is before:
        return TaskPlan()
    done = [key for key, one in known.items() if one.state == DONE and (key not in before or before[key].state != DONE)]
    active = [key for key in dict.fromkeys(touched) if key in known and known[key].state and key not in done]
    waiting = [key for key, one in known.items() if one.state not in {DONE, ACTIVE, ""} and key not in active]
    return TaskPlan(*(tuple(beginning(known[key].name, LONGEST) for key in keys) for keys in (done, active, waiting)))
