"""A person decides on what was proposed."""

from __future__ import annotations

from schemas.commands import MemoryDecide
from schemas.events import MemoryArchived, MemoryDivided, MemoryMerged, MemoryRevised, MemoryWritten
from services.domain.command import PEOPLE, AddressKind, command
from services.domain.decision import Decision
from services.memory.book import Book
from services.memory.classes import Placement, placed
from services.memory.decide.admission import memory_of
from services.memory.decide.candidate import Candidate
from services.memory.decide.changing import check_twin
from services.memory.decide.context import BookContext, Refusal, checked_reason
from services.memory.decide.holding import APPROVED, approved_change, is_divided
from services.memory.decide.ids import find_memory, why_not
from services.memory.decide.splitting import check_parts
from services.memory.entry import Memory, PendingChange
from services.memory.keys import exact_key


@command(
    MemoryDecide,
    on=Book,
    sent_by=PEOPLE,
    writes=(MemoryArchived, MemoryWritten, MemoryRevised, MemoryMerged, MemoryDivided),
    address=AddressKind.PROJECT,
)
def decide_proposal(book: Book, command: MemoryDecide, context: BookContext) -> Decision:
    """Take a proposal up as it is, in the place of what is about the same; or reject it.

    The proposal of a change is applied, and is done with.
    """
    memory = find_memory(book, command.id)
    reason = checked_reason(command.reason)
    if memory.status != "pending":
        return _decided_before(memory, is_approved=command.approve)
    if not command.approve:
        event = MemoryArchived(memory=memory.id, reason=reason, is_rejected=True)
        return Decision(ok=True, text=f"{memory.id} is rejected.", events=(event,))
    if memory.change is not None:
        return _changed(book, memory, memory.change)
    event_written = memory_of(book, _candidate(memory), memory.id, context)
    return Decision(ok=True, text=f"{memory.id} is remembered.", events=(event_written,))


def _changed(book: Book, proposal: Memory, wanted: PendingChange) -> Decision:
    done = MemoryArchived(memory=proposal.id, reason=APPROVED)
    first = book.memories.get(wanted.targets[0][0])
    if wanted.kind == "split" and first is not None and is_divided(book, first, wanted.parts):  # it was cut short
        return Decision(ok=True, text=f"{first.id} is changed as proposed.", events=(done,))
    change = approved_change(book, proposal)
    if change.kind == "split":
        check_parts(book, change.memories[0], change.parts)
    if change.kind in ("merge", "revise"):
        check_twin(book, exact_key(change.memory_class, change.text), *change.memories)
    return Decision(ok=True, text=f"{change.memories[0].id} is changed as proposed.", events=(change.event, done))


def _decided_before(memory: Memory, *, is_approved: bool) -> Decision:
    if memory.change is not None and memory.status == "archived":
        raise Refusal(f"{memory.id} was decided on before; change its memories themselves")
    if memory.is_active and is_approved:
        return Decision(ok=True, text=f"Nothing to do: {memory.id} is remembered.")
    if memory.status == "rejected" and not is_approved:
        return Decision(ok=True, text=f"Nothing to do: {memory.id} is rejected.")
    if memory.is_active:
        raise Refusal(f"{memory.id} is remembered already; archive it if it should not hold (memory.archive)")
    raise Refusal(f"{memory.id} waits for nobody: {why_not(memory)}")


def _candidate(memory: Memory) -> Candidate:
    """A proposal as the candidate that it was: it keeps where it comes from."""
    place = placed(memory.category) or Placement(memory.category, memory.memory_class)
    first = memory.sources[0]
    return Candidate(
        id="",
        text=memory.text,
        place=Placement(memory.category, memory.memory_class, place.expires_after_days),
        trust=memory.trust,
        rule="",
        source=first.actor,
        origin=first.session,
        message=first.message,
        run=first.run,
        evidence=first.evidence,
        importance=memory.importance,
        supersedes=memory.supersedes,
    )
