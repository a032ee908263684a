"""Facts about how people work."""

from typing import ClassVar

from schemas.events.base import Event


class ObservationRecorded(Event, frozen=True):
    """Something that a person did or wanted in a way that may be a habit, or a turn that the work took."""

    TYPE: ClassVar[str] = "observation.recorded"

    run: str
    kind: str
    """user_trait, causal_incident, trajectory_correction or open_question."""
    text: str
    first: int = 0
    last: int = 0
    """The messages it was seen in."""
    words: str = ""
    """The person's own sentence that a trait rests on, as they typed it; empty: none is certain to be theirs."""


EVENTS: tuple[type[Event], ...] = (ObservationRecorded,)
