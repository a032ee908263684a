"""Facts about runs of the dreamer, which works on what is remembered of a project. The queue of runs is the log."""

from datetime import datetime
from typing import ClassVar

from schemas.events.base import Event


class DreamOrdered(Event, frozen=True):
    """A person or an agent wants tasks of the dreamer to be run on a project."""

    TYPE: ClassVar[str] = "dream.ordered"

    tasks: list[str] = []
    """Which ones; none: all that are there."""
    origin: str = ""
    """The session that it was ordered from."""
    directory: str = ""
    """The working tree that a person has ordered it in, on their machine; empty: none was named."""


class DreamRequested(Event, frozen=True):
    """Tasks of the dreamer are to be run on a project. There is one open run of a project."""

    TYPE: ClassVar[str] = "dream.requested"

    run: str
    """Its name: the number of the project's runs with this one, such as `d7`."""
    reason: str
    """order, slot (a moment of a task's schedule has come) or idle (nobody works on the project)."""
    tasks: list[str]
    """In the order in which they are run."""
    answers: int = 0
    """Of an order: the position of the newest one that this run answers, with all before it."""
    slot: datetime | None = None
    """Of a slot: the first one that is made up for. The machine may have slept since."""


class DreamStarted(Event, frozen=True):
    """A process has begun with a run. What changes behind this is for the next one."""

    TYPE: ClassVar[str] = "dream.started"

    run: str
    memories: int = 0
    """The number of memories in force."""


class DreamFinished(Event, frozen=True):
    """A run has ended."""

    TYPE: ClassVar[str] = "dream.finished"

    run: str
    outcome: str = "done"
    """done, or cut_short: the tasks that were left are skipped."""
    code: str = ""
    """The reason why it was cut short: the code of the failures."""


EVENTS: tuple[type[Event], ...] = (DreamOrdered, DreamRequested, DreamStarted, DreamFinished)
