"""The documents and key files of a project: which there are, by their facts; texts are loaded where they are needed."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable, Sequence

import msgspec

from schemas.envelope import Envelope
from schemas.events import DocumentCaptured, Event
from services.kit.fold import Map
from services.kit.limits import Limits

replace = msgspec.structs.replace


class Document(msgspec.Struct, frozen=True):
    """A document or a key file as it was captured. One that is gone has neither digest nor text."""

    path: str
    digest: str
    text: str
    seq: int = 0
    """The position of its fact: another one means that it was changed."""


class Captured(msgspec.Struct, frozen=True):
    """Where its newest content is found."""

    path: str
    digest: str
    """Empty: it is gone. That is kept, for those who were shown it."""
    seq: int
    """The position of the fact that holds the text ..."""
    text_ref: str = ""
    """... or names the body that is the text, where that is too long for a message."""


class Documents(msgspec.Struct, frozen=True):
    """The newest of each document."""

    captured: Map[str, Captured] = Map()

    def among(self, paths: Iterable[str]) -> tuple[Captured, ...]:
        """Those of these paths that are known, in the order of the paths."""
        return tuple(self.captured[path] for path in dict.fromkeys(paths) if path in self.captured)


def evolve(documents: Documents, event: Event, envelope: Envelope) -> Documents:
    match event:
        case DocumentCaptured(path=path, digest=digest):
            found = Captured(path, digest, envelope.seq, event.text_ref)
            return replace(documents, captured=documents.captured.insert(path, found))
        case _:
            return documents


def at_the_head(limits: Limits) -> tuple[str, ...]:
    """The paths of all that may stand at the head, documents before key files, each once."""
    return tuple(dict.fromkeys((*limits.head_documents, *limits.key_files))) if limits.head else ()


def chosen(documents: Sequence[Document], paths: Iterable[str]) -> tuple[Document, ...]:
    """Those of these paths, in the order of the paths."""
    known = {document.path: document for document in documents}
    return tuple(known[path] for path in dict.fromkeys(paths) if path in known)
