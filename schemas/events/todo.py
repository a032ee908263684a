"""Facts about what an agent has to do."""

from typing import ClassVar

from schemas.events.base import Event


class TodoCaptured(Event, frozen=True):
    """The list of what there is to do is this one now: for each line its content, status and priority."""

    TYPE: ClassVar[str] = "todo.captured"

    contents: list[str]
    statuses: list[str]
    priorities: list[str]


EVENTS: tuple[type[Event], ...] = (TodoCaptured,)
