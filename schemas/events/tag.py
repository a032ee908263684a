"""Facts about tags: the numbers by which an agent names what it sees."""

from typing import ClassVar

from schemas.events.base import Event


class TagAssigned(Event, frozen=True):
    """Parts were sent for the first time and got the numbers `first`, `first + 1`, ... in the order they stand."""

    TYPE: ClassVar[str] = "tag.assigned"

    first: int
    parts: list[str]
    messages: list[str]
    """The message of each part; for a tool the one that made the call."""
    kinds: list[str]
    """message, file or tool, for each part."""


EVENTS: tuple[type[Event], ...] = (TagAssigned,)
