"""Facts about what background models cost, in a project's own budget."""

from typing import ClassVar

from schemas.events.base import Event


class SpendReserved(Event, frozen=True):
    """A call to a model may cost so much: nobody else can spend that before it is settled."""

    TYPE: ClassVar[str] = "spend.reserved"

    reservation: str
    day: str
    """In UTC, as `2026-11-21`: budgets begin anew each day."""
    purpose: str
    tokens: int
    """In and out."""
    usd: float = 0.0
    origin: str = ""
    """The session that it is spent for."""


class SpendSettled(Event, frozen=True):
    """The final cost of a reserved call; the rest of its reservation is free again."""

    TYPE: ClassVar[str] = "spend.settled"

    reservation: str
    day: str
    tokens: int
    usd: float = 0.0


class SpendRefused(Event, frozen=True):
    """The day's budget is exhausted: the call is not made."""

    TYPE: ClassVar[str] = "spend.refused"

    reservation: str
    day: str
    purpose: str
    tokens: int
    usd: float
    tokens_left: int
    usd_left: float
    origin: str = ""
    """The session that it is spent for."""


EVENTS: tuple[type[Event], ...] = (SpendReserved, SpendSettled, SpendRefused)
