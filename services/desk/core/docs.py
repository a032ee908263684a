"""Changes of documents that the dreamer proposes and people decide on. The desk writes no document."""

from collections.abc import Iterator
from shlex import quote

import msgspec

from schemas.document_commands import DocsApply, DocsDismiss, DocsPropose
from schemas.events import DocsApplied, DocsDismissed, DocsProposed
from services.domain.command import PEOPLE, AddressKind, command
from services.domain.decision import Decision
from services.domain.documents.proposals import (
    DOCUMENTS,
    MOST_BYTES,
    MOST_EDITS,
    DocProposal,
    DocProposals,
    edits_in,
    is_document,
    name_of,
)
from services.domain.finding import echo

LIST = "`annals docs list` shows what there is"


class DocsContext(msgspec.Struct, frozen=True):
    """The context of a command about a document: its sender."""

    trust: str
    documents: tuple[str, ...] = DOCUMENTS
    """The names of those that changes may be proposed to."""


@command(
    DocsPropose,
    on=DocProposals,
    sent_by=("dreamer",),
    writes=(DocsProposed,),
    address=AddressKind.PROJECT,
    remedy="edit the document itself",
)
def propose(state: DocProposals, command: DocsPropose, context: DocsContext) -> Decision:
    """Record a proposal, which takes the place of one that waits."""
    path = command.path
    if problems := [*_problems(command, context.documents)]:
        return _refused(problems)
    edits = edits_in(command.old, command.new)
    name, known = name_of(path, command.digest, edits), state.known.get(path)
    if known is not None and known.status != "applied" and known.name == name:
        return Decision(ok=True, text=f"This was proposed for {path} before; nothing was changed.", seq=known.seq)
    if not state.wanted(path, edits):
        return _refused([f"all of these changes of {path} were dismissed: propose others"])
    event = DocsProposed(
        path=path, proposal=name, digest=command.digest, old=command.old, new=command.new, reason=command.reason
    )
    return Decision(ok=True, text=f"A change of {path} is proposed.", events=(event,))


@command(
    DocsApply,
    on=DocProposals,
    sent_by=PEOPLE,
    writes=(DocsApplied,),
    address=AddressKind.PROJECT,
    remedy="ask a person to run `annals docs apply`",
)
def apply(state: DocProposals, command: DocsApply, _: DocsContext) -> Decision:
    """Record that a person has had a proposal written into the document."""
    known = state.known.get(command.path)
    if known is not None and (known.name, known.status) == (command.proposal, "applied"):
        return Decision(ok=True, text=f"{known.path} was changed before; nothing more was recorded.", seq=known.seq)
    if problems := [*_undecided(known, command.path, command.proposal)]:
        return _refused(problems)
    event = DocsApplied(path=command.path, proposal=command.proposal)
    return Decision(ok=True, text=f"Recorded that {command.path} was changed.", events=(event,))


@command(
    DocsDismiss,
    on=DocProposals,
    sent_by=PEOPLE,
    writes=(DocsDismissed,),
    address=AddressKind.PROJECT,
    remedy="ask a person to run `annals docs dismiss`",
)
def dismiss(state: DocProposals, command: DocsDismiss, _: DocsContext) -> Decision:
    """Have a proposal end without an effect."""
    if problems := [*_undecided(state.known.get(command.path), command.path, command.proposal)]:
        return _refused(problems)
    event = DocsDismissed(path=command.path, proposal=command.proposal)
    text = f"Dismissed the change of {command.path}. None of it is proposed again."
    return Decision(ok=True, text=text, events=(event,))


def _problems(command: DocsPropose, documents: tuple[str, ...]) -> Iterator[str]:
    """Faults of a proposal."""
    if command.path.rpartition("/")[2] not in documents:
        names = ", ".join(documents) or "no document"
        yield f"{echo(command.path)} is none of those that ANNALS_DREAM__DOCUMENTS names ({names}): name it there"
    elif not is_document(command.path):
        yield f"{echo(command.path)} is no path of a document in the project: give one from its root"
    if not 0 < len(command.old) <= MOST_EDITS or len(command.old) != len(command.new):
        yield f"it needs 1 to {MOST_EDITS} changes, each with its old and its new text"
    if not all(command.old) or not all(command.new):
        yield "a text of it is empty: name a change with the lines around it"
    if any(len("".join(texts).encode(errors="replace")) > MOST_BYTES for texts in (command.old, command.new)):
        yield f"its texts take more than {MOST_BYTES} bytes, which no document of it has"


def _undecided(known: DocProposal | None, path: str, name: str) -> Iterator[str]:
    """A sentence where there is no such proposal that waits."""
    if known is None:
        yield f"no change was proposed for {echo(path)}: {LIST}"
    elif known.status != "pending":
        yield f"the change of {path} is {known.status}: {LIST}"
    elif known.name != name:
        yield f"another change of {path} was proposed meanwhile: see it with `annals docs show {quote(path)}`"


def _refused(problems: list[str]) -> Decision:
    return Decision(ok=False, text=f"Nothing was written: {'; '.join(problems)}.")
