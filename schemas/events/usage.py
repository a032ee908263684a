"""Facts about what the provider counted."""

from typing import ClassVar

from schemas.events.base import Event


class UsageSampled(Event, frozen=True):
    """The provider's own count for one answer, in tokens."""

    TYPE: ClassVar[str] = "usage.sampled"

    message: str
    input: int
    """Neither served nor stored by the cache."""
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    """US dollars, as the harness reckons."""
    provider: str = ""
    """The provider that answered; empty: not known."""
    model: str = ""
    """The model that answered; empty: not known."""


EVENTS: tuple[type[Event], ...] = (UsageSampled,)
