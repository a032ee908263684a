"""Facts about a person's request to apply what waits."""

from typing import ClassVar

from schemas.events.base import Event


class FlushRequested(Event, frozen=True):
    """Everything that waits is to be applied at the next step."""

    TYPE: ClassVar[str] = "flush.requested"

    reason: str = ""


EVENTS: tuple[type[Event], ...] = (FlushRequested,)
