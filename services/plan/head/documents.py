"""The documents and key files of a project, with their texts, and which of them may stand at the head."""

from collections.abc import Iterable, Sequence

import msgspec

from services.domain.limits import Limits


class Document(msgspec.Struct, frozen=True):
    """A document or a key file as it was captured. One that is gone has neither digest nor text."""

    path: str
    digest: str
    text: str
    seq: int = 0
    """The position of its fact: another one means that it was changed."""


def at_the_head(limits: Limits) -> tuple[str, ...]:
    """The paths of all that may stand at the head, documents before key files, each once."""
    return tuple(dict.fromkeys((*limits.head_documents, *limits.key_files))) if limits.head else ()


def choose_paths(documents: Sequence[Document], paths: Iterable[str]) -> tuple[Document, ...]:
    """Those of these paths, in the order of the paths."""
    known = {document.path: document for document in documents}
    return tuple(known[path] for path in dict.fromkeys(paths) if path in known)
