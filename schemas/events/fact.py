"""Facts about what a session showed of its project."""

from typing import ClassVar

from schemas.events.base import Event

CATEGORIES = {
    "PROJECT_RULES": "when X, do Y",
    "ARCHITECTURE": "a part works so, because",
    "CONSTRAINTS": "limits from outside",
    "CONFIG_VALUES": "key: value, no snapshot of a state",
    "NAMING": "conventions, not lists",
}
"""The categories of what a fact, and with it a memory of the project, can be about, and how its sentence reads."""


class FactExtracted(Event, frozen=True):
    """Something that may hold beyond the session: a proposal for the project's memory."""

    TYPE: ClassVar[str] = "fact.extracted"

    fact: str
    """Its id: over the category and the text without case and spacing."""
    run: str
    category: str
    """One of `CATEGORIES`: PROJECT_RULES, ARCHITECTURE and so on."""
    text: str
    evidence: list[int] = []
    """Ordinals of the messages that show it."""


EVENTS: tuple[type[Event], ...] = (FactExtracted,)
