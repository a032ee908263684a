"""Facts about changes of documents that the dreamer proposes. The documents themselves are files of the project."""

from typing import ClassVar

from schemas.events.base import Event


class DocsProposed(Event, frozen=True):
    """The dreamer proposes a change of a document of the project. It takes the place of one that waits."""

    TYPE: ClassVar[str] = "docs.proposed"

    path: str
    """From the project's root."""
    proposal: str
    """Its name: the first 12 hex digits of a digest of its path, its document and its texts."""
    digest: str
    """sha256 of the document that it was made from, in hex."""
    old: list[str]
    """The texts that are replaced, each of whole lines that are in the document once."""
    new: list[str]
    """The new text in place of each of `old`."""
    reason: str = ""
    """The reason for the changes, in lines."""


class DocsApplied(Event, frozen=True):
    """A person has had a proposal written into the document."""

    TYPE: ClassVar[str] = "docs.applied"

    path: str
    proposal: str
    """Its name."""


class DocsDismissed(Event, frozen=True):
    """A person has dismissed a proposal. None of its changes is proposed again."""

    TYPE: ClassVar[str] = "docs.dismissed"

    path: str
    proposal: str
    """Its name."""


EVENTS: tuple[type[Event], ...] = (DocsProposed, DocsApplied, DocsDismissed)
