"""The numbers that the historian decides with, as values."""

from services.domain.limits import History


class HistoryLimits(History, frozen=True):
    """The settings of history, and what follows from other settings."""

    models: bool = False
    """Whether models write, in the place of what the rules have made ahead."""
