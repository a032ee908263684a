"""Facts about the documents of a project."""

from typing import ClassVar

from schemas.events.base import Event, LogOnly


class DocumentCaptured(Event, frozen=True):
    """A document has this content now. Secrets are masked."""

    TYPE: ClassVar[str] = "document.captured"

    path: str
    """Relative to the project's root."""
    digest: str
    """sha256 of its bytes as they stand on disk, in hex; empty: it is gone."""
    bytes: int = 0
    """UTF-8 length of the text."""
    text: LogOnly = ""
    text_ref: str = ""
    """sha256 of the text in its bucket, where it is too long for a message."""


EVENTS: tuple[type[Event], ...] = (DocumentCaptured,)
