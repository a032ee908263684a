"""Facts about model calls that failed."""

from typing import ClassVar

from schemas.events.base import Event


class CallFailed(Event, frozen=True):
    """The provider or the harness refused."""

    TYPE: ClassVar[str] = "call.failed"

    message: str = ""
    name: str = ""
    """The harness's name of this kind of error."""
    status: int = 0
    """The HTTP status; 0: there was none."""
    text: str = ""
    """The error's words, cut to 240 characters."""


EVENTS: tuple[type[Event], ...] = (CallFailed,)
