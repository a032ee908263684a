"""Facts about prompts that were too long."""

from typing import ClassVar

from schemas.events.base import Event


class OverflowDetected(Event, frozen=True):
    """The provider refused a prompt because of its length."""

    TYPE: ClassVar[str] = "overflow.detected"

    message: str = ""
    text: str = ""
    """The provider's words, cut to 240 characters."""
