"""The desk's decision on a command, and the circumstances of the command that are not in the log."""

from datetime import UTC, datetime

import msgspec

from schemas.envelope import Actor
from schemas.events import Event


class Decision(msgspec.Struct, frozen=True):
    """The facts of a command that is granted, and the answer to its sender."""

    ok: bool
    text: str
    events: tuple[Event, ...] = ()
    seq: int | None = None
    """The position at which the same was written before, if it was; 0: it is being written now, together with this
    command."""


class InstallationBudget(msgspec.Struct, frozen=True):
    """The budget that all projects of an installation share, and their spending: tokens, and money."""

    daily_tokens: int = 0
    """The most in a day of UTC; 0: there is no limit, and so with all four."""
    daily_usd: float = 0.0
    monthly_tokens: int = 0
    monthly_usd: float = 0.0
    spent_today: tuple[int, int] = (0, 0)
    """Tokens, and millionths of a USD."""
    spent_this_month: tuple[int, int] = (0, 0)

    @property
    def is_limited(self) -> bool:
        return any((self.daily_tokens, self.daily_usd, self.monthly_tokens, self.monthly_usd))


class CommandContext(msgspec.Struct, frozen=True):
    """The context of a command: its sender, its time, and the limits that are set."""

    actor: Actor = Actor("room")
    trust: str = ""
    """The trust in the sender, as `trust_of` finds it."""
    now: datetime = datetime.min.replace(tzinfo=UTC)
    """By the clock of the desk."""
    day: str = ""
    """In UTC, as `2026-11-21`."""
    history: bool = True
    """Whether history is compressed."""
    is_history_own: bool = False
    """Whether the project itself says so."""
    has_models: bool = True
    """Whether a model is set that could be asked."""
    protected: int = 0
    """The number of the newest tags that are not dropped before newer ones have come."""
    daily_tokens: int = 0
    """The most tokens that the models of a project may take in a day of UTC; 0: any number."""
    daily_usd: float = 0.0
    """The most USD that the models of a project may cost in a day of UTC; 0: any amount."""
    monthly_tokens: int = 0
    """The most tokens that the models of a project may take in a month of UTC; 0: the days alone count."""
    monthly_usd: float = 0.0
    """The most USD that the models of a project may cost in a month of UTC; 0: the days alone count."""
    installation: InstallationBudget = InstallationBudget()
    """The same for all projects together."""
    session: str = ""
    """The session that it comes from; empty: none."""
    has_history: bool = True
    """Whether the session has compressed history, or gets that of its origin. It is looked up for orders about it."""
    has_news: bool = True
    """Whether something was recorded since the session's newest rebase that another one would serve.

    It is looked up for a flush alone.
    """
    dreams: bool = True
    """Whether the dreamer works here."""
    remembers: bool = True
    """Whether the project has a memory."""
    tasks: tuple[str, ...] = ()
    """The tasks of the dreamer."""
