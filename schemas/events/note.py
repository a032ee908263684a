"""Facts about notes: what an agent or a person wants to come back to."""

from typing import ClassVar

from schemas.events.base import Event


class NoteWritten(Event, frozen=True):
    """A note was written. It waits until it is dismissed."""

    TYPE: ClassVar[str] = "note.written"

    note: str
    """Its id."""
    text: str
    origin: str = ""
    """The session that it belongs to; empty: it is of the project."""
    message: str = ""
    condition: str = ""
    """When it is to come up; empty: at the next pause of the work."""


class NoteUpdated(Event, frozen=True):
    """A note says something else, or comes up at another time."""

    TYPE: ClassVar[str] = "note.updated"

    note: str
    text: str
    condition: str = ""


class NoteDismissed(Event, frozen=True):
    """A note is done with."""

    TYPE: ClassVar[str] = "note.dismissed"

    note: str


EVENTS: tuple[type[Event], ...] = (NoteWritten, NoteUpdated, NoteDismissed)
