"""Documents as they would be with all that is proposed to them, and the proposals that make them so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from schemas.codec import encode
from schemas.document_commands import DocsPropose
from services.domain.documents.edits import EditMisfit, TextEdit, compared, edited, edits_of
from services.domain.documents.proposals import MOST_DOCUMENTS, MOST_EDITS, DocProposal, digest_of, is_document
from services.domain.secrets import mask
from services.dreamer.core.doc_folder import DocFolder
from services.dreamer.core.paths import MADE_FOLDERS
from services.dreamer.core.task import Scene, Tree

MOST_REASONS = 20
"""Lines of the reason of a proposal."""


class DocDraft(msgspec.Struct, frozen=True):
    """A document of the project."""

    path: str
    """From the root of the project."""
    folder: DocFolder
    text: str
    """As it is."""
    draft: str
    """As it would be with what waits for a person's decision."""
    waiting: DocProposal | None = None
    """That, where it still fits, and the document does not have it yet."""


def drafts(scene: Scene) -> Iterator[DocDraft]:
    """The documents that changes may be proposed to: those that are there, and have no secret in them."""
    if scene.tree is None:
        return
    for path in _documents(scene.tree, scene.documents):
        text = scene.tree.document(path)
        if not text or mask(text) != text:
            continue
        waiting = scene.docs.pending(path)
        try:
            draft = edited(text, waiting.edits) if waiting else text
        except EditMisfit:  # the document has changed since: what comes now takes its place
            draft = text
        # it has what waits already where a person has made the change, or an older log was put back
        yield DocDraft(path, DocFolder(scene.tree, path), text, draft, waiting if draft != text else None)


def _documents(tree: Tree, names: Sequence[str]) -> list[str]:
    """The documents of these names: those at the root, and those that git has in folders, the nearest to it first."""
    found = {path for name in names for path in tree.named(name) if is_document(path) and _is_of_people(path)}
    inner = sorted(found - {*names}, key=lambda path: (path.count("/"), path))
    return [*(name for name in names if tree.exists(name)), *inner][:MOST_DOCUMENTS]


def _is_of_people(path: str) -> bool:
    return MADE_FOLDERS.isdisjoint(path.split("/"))


def proposal(scene: Scene, draft: DocDraft, result: str, reasons: Iterable[str]) -> DocsPropose | None:
    """The proposal that makes the document so; none: it has nothing that a person has not dismissed, or that is new."""
    edits = _edits(draft.text, result, lambda found: scene.docs.wanted(draft.path, found))
    if not edits or len(edits) > MOST_EDITS or (draft.waiting and set(edits) <= set(draft.waiting.edits)):
        return None
    known = draft.waiting.reason.splitlines() if draft.waiting else []
    lines = [*dict.fromkeys((*known, *reasons))]
    command = DocsPropose(
        draft.path,
        digest_of(draft.text),
        [edit.old for edit in edits],
        [edit.new for edit in edits],
        "\n".join(lines[-MOST_REASONS:]),
    )
    words = encode(command).decode()
    return command if mask(words) == words else None


def _edits(
    before: str, after: str, wanted: Callable[[tuple[TextEdit, ...]], tuple[TextEdit, ...]]
) -> tuple[TextEdit, ...]:
    """The edits that make one text of another, as far as they are wanted."""
    found = edits_of(before, compared(before, after))
    left = wanted(found)
    if not left or left == found:
        return left
    again = edits_of(before, compared(before, edited(before, left)))
    return again if wanted(again) == again else ()
