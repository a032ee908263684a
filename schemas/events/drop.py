"""Facts about what an agent wants to be rid of."""

from typing import ClassVar

from schemas.events.base import Event


class DropRequested(Event, frozen=True):
    """These tags may go at the next rebase. None of them was requested before."""

    TYPE: ClassVar[str] = "drop.requested"

    tags: list[int]


EVENTS: tuple[type[Event], ...] = (DropRequested,)
