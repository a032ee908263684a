"""Units of work: where a conversation turns to something else."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from services.domain.transcript import commits
from services.historian.core.rules.steps import Step

PAUSE = timedelta(minutes=30)
SMALL = 2_000
"""Tokens below which nothing is a unit of its own unless a lot speaks for it."""
LARGE = 8_000
"""Tokens from which on every word of a person, and every commit, ends a unit."""
LARGEST = 14_000
"""Tokens from which on a unit ends where the agent next writes something."""
HUGE = 24_000
"""Tokens from which on a unit ends anywhere."""
MANY = 40
"""Steps that count like `LARGEST`."""
LONG, SHORT = 300, 40
"""Characters: a message that explains something new, and one that only says yes or go on."""
ENOUGH = 3
"""Of what speaks for a turn, to end a unit."""

WorkUnit = tuple[Step, ...]


def work_units(steps: Sequence[Step]) -> tuple[WorkUnit, ...]:
    """The steps in their order, cut into units."""
    return tuple(_work_units(steps))


def _work_units(steps: Sequence[Step]) -> Iterator[WorkUnit]:
    unit: list[Step] = []
    size = 0
    for at, step in enumerate(steps):
        if unit and _turns(unit, size, step, steps[at + 1 :]):
            yield tuple(unit)
            unit, size = [], 0
        unit.append(step)
        size += step.tokens
    if unit:
        yield tuple(unit)


def _turns(unit: list[Step], size: int, step: Step, following: Sequence[Step]) -> bool:
    """Whether a new unit begins with this step."""
    if step.requests:
        if size >= LARGE or not unit[0].requests:
            return True
        return _weight(unit, step, following) - (2 if size < SMALL else 0) >= ENOUGH
    if not step.calls:  # a report belongs to the work it is about
        return len(unit) >= 2 * MANY
    if size >= LARGE and _commits(unit[-1]):
        return True
    if size >= LARGEST or len(unit) >= MANY:
        return bool(step.reports) or size >= HUGE or len(unit) >= 2 * MANY
    return False


def _weight(unit: list[Step], step: Step, following: Sequence[Step]) -> int:
    """The weight of the signs that a person turns to something else."""
    length = sum(map(len, step.requests))
    weight = 2 if length >= LONG else 0 if length < SHORT else 1
    if step.at and unit[-1].at and step.at - unit[-1].at >= PAUSE:
        weight += 2
    if any(map(_commits, unit[-3:])):
        weight += 2
    before, after = _files(unit), _files(_turn(following))
    if before and after:
        weight += 1 if before.isdisjoint(after) else -1
    return weight


def _turn(following: Sequence[Step]) -> Iterator[Step]:
    """The steps up to the next text of a person."""
    for step in following:
        if step.requests:
            return
        yield step


def _files(steps: Sequence[Step] | Iterator[Step]) -> set[str]:
    """Files that are changed."""
    return {path for step in steps for call in step.calls if call.kind == "edit" for path in call.files}


def _commits(step: Step) -> bool:
    return any(commits.made_commits(call) for call in step.calls)
