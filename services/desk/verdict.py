"""What the desk says to a wish, and what holds at the moment that it is made, beside the log."""

import msgspec

from schemas.envelope import Actor
from schemas.events import Event


class Verdict(msgspec.Struct, frozen=True):
    """The facts of a wish that is granted, and what is said to the one who wished."""

    ok: bool
    text: str
    events: tuple[Event, ...] = ()
    seq: int = 0
    """Where the same wish was written down before, if it was."""


class Terms(msgspec.Struct, frozen=True):
    """Who wishes, when, and the limits that are set."""

    actor: Actor = Actor("room")
    day: str = ""
    """In UTC, as `2026-11-21`."""
    protected: int = 0
    """How many of the newest tags are not dropped before newer ones have come."""
    daily_tokens: int = 0
    """The most that the models of a project may spend in a day ..."""
    daily_usd: float = 0.0
    """... and cost."""
