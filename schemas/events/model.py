"""Facts about the model of a session."""

from typing import ClassVar

from schemas.events.base import Event


class ModelChanged(Event, frozen=True):
    """Another model answers from this step on, or the same one under other limits."""

    TYPE: ClassVar[str] = "model.changed"

    provider: str
    model: str
    context_limit: int = 0
    output_limit: int = 0


EVENTS: tuple[type[Event], ...] = (ModelChanged,)
