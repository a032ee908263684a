"""Changes of documents that were proposed, and what people have decided on them."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Literal

import msgspec

from schemas.codec import encode
from schemas.envelope import Envelope
from schemas.events import DocsApplied, DocsDismissed, DocsProposed, Event
from services.domain.documents.edits import TextEdit
from services.domain.finding import echo
from services.domain.fold import Map
from services.domain.secret_paths import is_secret

Status = Literal["pending", "applied", "dismissed"]
DOCUMENTS = ("ARCHITECTURE.md", "STRUCTURE.md")
"""The names of documents that changes are proposed to where no setting has others, in all folders of the project."""
MOST_DOCUMENTS, LONGEST_NAME = 20, 100
"""Documents that changes are proposed to, also the names of them, and characters of such a name."""
LONGEST_PATH = 512
"""Characters of the path of a document."""
ENDING = ".md"
MOST_BYTES = 64 * 1024
"""Of a document."""
MOST_EDITS = 100
"""Of one proposal."""
DIGITS = 12
"""Of the name of a proposal, in hex."""


class DocProposal(msgspec.Struct, frozen=True):
    """A proposal for one document, accepted or dismissed as a whole, and its status."""

    path: str
    name: str
    """The same for the same edits of the same document."""
    digest: str
    """Of the document that it was made from."""
    edits: tuple[TextEdit, ...]
    reason: str = ""
    status: Status = "pending"
    seq: int = 0
    """The position of the newest fact about it."""


class DocProposals(msgspec.Struct, frozen=True):
    """The newest proposal for each document, and all edits that people did not want."""

    known: Map[str, DocProposal] = Map()
    dismissed: frozenset[tuple[str, TextEdit]] = frozenset()
    """Each with the path of its document."""

    def of(self, status: Status) -> tuple[DocProposal, ...]:
        """Those of a status, in the order of their paths."""
        return tuple(one for _, one in sorted(self.known.items()) if one.status == status)

    def pending(self, path: str) -> DocProposal | None:
        """The proposal for a document that waits for a person's decision; None: there is none."""
        found = self.known.get(path)
        return found if found is not None and found.status == "pending" else None

    def wanted(self, path: str, edits: Iterable[TextEdit]) -> tuple[TextEdit, ...]:
        """Those of these edits that nobody has dismissed."""
        return tuple(edit for edit in edits if (path, edit) not in self.dismissed)


def is_name(name: str) -> bool:
    """Whether a document of this name may be changed: one of Markdown, whose name is no secret one."""
    is_short = len(name) <= LONGEST_NAME
    return is_short and _is_plain(name) and name != ENDING and name.endswith(ENDING) and not is_secret(name)


def is_document(path: str) -> bool:
    """Whether a document of this path, from the root of a project, may be changed: it leads nowhere else."""
    *folders, name = path.split("/")
    are_plain = all(_is_plain(one) and one not in (".", "..") for one in folders)
    return len(path) <= LONGEST_PATH and is_name(name) and are_plain and not is_secret(path)


def _is_plain(part: str) -> bool:
    """Whether a part of a path is one everywhere, and looks like what it is."""
    return bool(part) and part.isprintable() and part == part.strip() and not {*part} & {*"/\\:"}


def check_documents(names: Sequence[str]) -> None:
    """Raise `ValueError`, with the right form, for what is no document, and for more of them than are looked after."""
    if len(names) > MOST_DOCUMENTS:
        raise ValueError(f"{len(names)} documents are named, and {MOST_DOCUMENTS} are looked after at most")
    wrong = next((name for name in names if not is_name(name)), None)
    if wrong is not None:
        raise ValueError(
            f"{echo(wrong)} is no document that is looked after: give the name of one in Markdown, such as DESIGN.md; "
            "it is looked for in all folders of a project"
        )


def digest_of(text: str) -> str:
    """The digest of a document."""
    return sha256(text.encode()).hexdigest()


def name_of(path: str, digest: str, edits: Iterable[TextEdit]) -> str:
    """The name of a proposal of these edits."""
    return sha256(encode((path, digest, tuple(edits)))).hexdigest()[:DIGITS]


def edits_in(old: Iterable[str], new: Iterable[str]) -> tuple[TextEdit, ...]:
    """The edits of a fact or a command, which has their texts in two lists."""
    return tuple(TextEdit(*texts) for texts in zip(old, new, strict=False))


def evolve(proposals: DocProposals, event: Event, envelope: Envelope) -> DocProposals:
    """The proposals after this fact. A fact that comes again changes nothing."""
    match event:
        case DocsProposed(path=path, proposal=name, digest=digest, old=old, new=new, reason=reason):
            edits = edits_in(old, new)
            return _with(proposals, DocProposal(path, name, digest, edits, reason, seq=envelope.seq))
        case DocsApplied(path=path, proposal=name):
            return _decided(proposals, path, name, "applied", envelope)
        case DocsDismissed(path=path, proposal=name):
            return _decided(proposals, path, name, "dismissed", envelope)
        case _:
            return proposals


def _decided(proposals: DocProposals, path: str, name: str, status: Status, envelope: Envelope) -> DocProposals:
    known = proposals.known.get(path)
    if known is None or known.name != name:
        return proposals
    proposals = _with(proposals, msgspec.structs.replace(known, status=status, seq=envelope.seq))
    if status != "dismissed":
        return proposals
    unwanted = proposals.dismissed.union((path, edit) for edit in known.edits)
    return msgspec.structs.replace(proposals, dismissed=unwanted)


def _with(proposals: DocProposals, changed: DocProposal) -> DocProposals:
    known = proposals.known.get(changed.path)
    if known is not None and 0 < changed.seq <= known.seq:
        return proposals
    return msgspec.structs.replace(proposals, known=proposals.known.insert(changed.path, changed))
