"""Facts about the files that an agent works with."""

from typing import ClassVar

from schemas.events.base import Event


class FileTouched(Event, frozen=True):
    """A finished tool call has read or changed a file."""

    TYPE: ClassVar[str] = "file.touched"

    path: str
    """Relative to the session's directory where it is below that."""
    action: str
    """read, edited, written or deleted."""
    message: str
    part: str
    tool: str


EVENTS: tuple[type[Event], ...] = (FileTouched,)
