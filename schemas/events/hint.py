"""Facts about hints: what an agent is given of the project's knowledge, with a person's message."""

from typing import ClassVar

from schemas.events.base import Event


class HintDecided(Event, frozen=True):
    """The search for a person's message, and whether the agent gets any result of it. Decided once."""

    TYPE: ClassVar[str] = "hint.decided"

    message: str
    decision: str
    """`hint` or `skip`."""
    reason: str = ""
    """Of a skip: too_short, empty, below_threshold, late, timeout, error, or stacked: the message goes out with what is
    known already, because its person has asked for that."""
    score: float = 0.0
    """The score of how well the best fits, from 0 to 1."""
    threshold: float = 0.0
    """The score, from 0 to 1, that the best must have for a hint."""
    sources: list[str] = []
    """Of a hint: what was found, each by its source, its id, its text and its score."""
    ids: list[str] = []
    texts: list[str] = []
    scores: list[float] = []
    ages: list[str] = []
    """Of commits how old they were then; empty for others."""


EVENTS: tuple[type[Event], ...] = (HintDecided,)
