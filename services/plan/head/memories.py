"""The memories of a project that stand at the head of prompts, as the settings have it."""

from datetime import datetime

from services.domain.limits import MemoryLimits
from services.memory.remembered import Remembered
from services.memory.rendering import Choice, choose, profile_of
from services.memory.strength import dormant_days


def chosen(remembered: Remembered, settings: MemoryLimits, at: datetime, most: int | None = None) -> Choice:
    """The memories that a head shows if it is made at this moment, and the reasons why it does not show the rest.

    Nothing where memory is off, or the project is a home directory.
    """
    book = remembered.book
    if not settings.enabled or book.is_home:
        return Choice()
    dormant = dormant_days(((pause.since, pause.until) for pause in book.pauses), None, at)
    return choose(remembered.shelf, at, dormant, profile_of(settings, most), remembered.shelf.fadings)
