"""The documents and key files of a project: which there are; their texts are loaded where they are needed."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable

import msgspec

from schemas.envelope import Envelope
from schemas.events import DocumentCaptured, Event
from services.domain.fold import Map
from services.responder.projections.base import Projection

replace = msgspec.structs.replace


class CapturedDocument(msgspec.Struct, frozen=True):
    """The place of a document's newest content."""

    path: str
    digest: str
    """Empty: the document is gone. That is remembered, for those who were shown it."""
    seq: int
    """The position of the fact with the text, or with the name of the body that is the text."""
    text_ref: str = ""
    """The name of the body that is the text, where that is too long for a message; empty: the fact itself has the
    text."""


class Documents(msgspec.Struct, frozen=True):
    """The newest of each document."""

    captured: Map[str, CapturedDocument] = Map()

    def among(self, paths: Iterable[str]) -> tuple[CapturedDocument, ...]:
        """Those of these paths that are known, in the order of the paths."""
        return tuple(self.captured[path] for path in dict.fromkeys(paths) if path in self.captured)


def evolve(documents: Documents, event: Event, envelope: Envelope) -> Documents:
    """Keep the newest capture of each path."""
    match event:
        case DocumentCaptured(path=path, digest=digest):
            found = CapturedDocument(path, digest, envelope.seq, event.text_ref)
            return replace(documents, captured=documents.captured.insert(path, found))
        case _:
            return documents


DOCUMENTS = Projection("project", Documents(), evolve, ("document",))
