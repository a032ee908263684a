"""Facts about notes: what an agent or a person wants to come back to."""

from typing import ClassVar

from schemas.events.base import Event, LogOnly


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
    """The condition that the note waits for, in words that are displayed with it."""
    waits_for: LogOnly = ""
    """The same as JSON (see `schemas.conditions`), where the dreamer looks whether it has come true; empty: nothing
    looks unless the words are translated, and the note is announced with all others."""


class NoteUpdated(Event, frozen=True):
    """A note says something else, or waits for something else."""

    TYPE: ClassVar[str] = "note.updated"

    note: str
    text: str
    condition: str = ""
    waits_for: LogOnly = ""


class NoteTranslated(Event, frozen=True):
    """A model has translated the words of a note's condition, or cannot; or the dreamer has added the default branch.

    The note waits since it has its words.
    """

    TYPE: ClassVar[str] = "note.translated"

    note: str
    waits_for: LogOnly = ""
    """The condition as JSON, as that of `note.written`; empty: nothing looks at these words."""
    reason: str = ""
    """The reason why nothing looks at them."""
    zone: str = ""
    """The name of the time zone by whose days a date was found, such as `Europe/Berlin`."""


class NoteReadied(Event, frozen=True):
    """The condition of a note is met. Each session of the project gets one notice, at its person's next message."""

    TYPE: ClassVar[str] = "note.readied"

    note: str
    reason: str = ""
    """The finding of a look at the condition, in words."""


class NoteParked(Event, frozen=True):
    """The condition of a note cannot be checked. Each session of the project gets one notice of it."""

    TYPE: ClassVar[str] = "note.parked"

    note: str
    code: str
    """`no_tree` (the files of the project are not where the dreamer is), `off` (a setting does not allow it), `barred`
    (it is never looked at: a secret file, a private address) or `denied` (the address does not answer everybody)."""
    reason: str = ""


class NoteDismissed(Event, frozen=True):
    """A note is done with."""

    TYPE: ClassVar[str] = "note.dismissed"

    note: str


EVENTS: tuple[type[Event], ...] = (
    NoteWritten,
    NoteUpdated,
    NoteTranslated,
    NoteReadied,
    NoteParked,
    NoteDismissed,
)
