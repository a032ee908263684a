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
    """What the note waits for, in words that are shown with it. Nothing checks whether it has come true: all notes are
    announced at the same moments."""


class NoteUpdated(Event, frozen=True):
    """A note says something else, or waits for something else."""

    TYPE: ClassVar[str] = "note.updated"

    note: str
    text: str
    condition: str = ""


class NoteDismissed(Event, frozen=True):
    """A note is done with."""

    TYPE: ClassVar[str] = "note.dismissed"

    note: str


EVENTS: tuple[type[Event], ...] = (NoteWritten, NoteUpdated, NoteDismissed)
