"""Facts about what models take: they belong to no project, and hold for all sessions."""

from typing import ClassVar

from schemas.events.base import Event


class LimitLearned(Event, frozen=True):
    """A refusal named how much a model takes, and no limit as small as this was known."""

    TYPE: ClassVar[str] = "limit.learned"

    provider: str
    model: str
    limit: int
    """Tokens."""
    in_project: str = ""
    """The project in which it was refused."""
    in_session: str = ""
    """The session in which it was refused."""


class LimitWithdrawn(Event, frozen=True):
    """The model has answered a longer prompt than the limit that was learned: that holds no more."""

    TYPE: ClassVar[str] = "limit.withdrawn"

    provider: str
    model: str
    limit: int
    """Tokens of the limit that was learned."""
    accepted: int
    """Tokens of the prompt that was answered."""
    in_project: str = ""
    """The project in which that prompt was answered."""
    in_session: str = ""
    """The session in which that prompt was answered."""


EVENTS: tuple[type[Event], ...] = (LimitLearned, LimitWithdrawn)
