"""Facts about what is remembered of a project."""

from typing import ClassVar

from schemas.events.base import Event


class MemoryProposed(Event, frozen=True):
    """Something may be worth remembering. It is not known of the project before someone takes it up."""

    TYPE: ClassVar[str] = "memory.proposed"

    memory: str
    """Its id: over the category and the text without case and spacing, so that the same is proposed once."""
    category: str
    text: str
    origin: str = ""
    """The session that showed it."""
    evidence: list[int] = []
    source: str = ""
    """Who proposes it."""


class MemoryReinforced(Event, frozen=True):
    """The same was seen again, in this session or in another."""

    TYPE: ClassVar[str] = "memory.reinforced"

    memory: str
    origin: str = ""
    evidence: list[int] = []
