"""Facts about signed thinking that was refused."""

from typing import ClassVar

from schemas.events.base import Event


class SignatureRefused(Event, frozen=True):
    """The provider refused thinking that came back to it: its signature, its seal, or its place."""

    TYPE: ClassVar[str] = "signature.refused"

    message: str = ""
    text: str = ""
    """The provider's words, cut to 240 characters."""
    provider: str = ""
    """The provider that refused; empty: not known."""
    model: str = ""
    """The model for which it refused; empty: not known."""


EVENTS: tuple[type[Event], ...] = (SignatureRefused,)
