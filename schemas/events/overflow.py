"""Facts about prompts that were too long."""

from typing import ClassVar

from schemas.events.base import Event


class OverflowDetected(Event, frozen=True):
    """The provider refused a prompt because of its length."""

    TYPE: ClassVar[str] = "overflow.detected"

    message: str = ""
    text: str = ""
    """The provider's words, cut to 240 characters."""
    limit: int = 0
    """Tokens that the model takes, by the provider's message; 0: it names none."""
    used: int = 0
    """Tokens that the prompt had, by the provider's message; 0: it names none."""
    provider: str = ""
    """The provider that refused; empty: not known."""
    model: str = ""
    """The model for which it refused; empty: not known."""


EVENTS: tuple[type[Event], ...] = (OverflowDetected,)
