"""Commands that bring a candidate: to remember something, and to propose it."""

from __future__ import annotations

from schemas.commands import MemoryPropose, MemoryWrite
from schemas.events import MemoryJudged, MemoryProposed, MemoryReinforced, MemoryRevised, MemoryWritten
from schemas.tools import OWN_SESSIONS, Action
from services.domain.command import AGENTS, command
from services.domain.decision import Decision
from services.memory.book import Book
from services.memory.decide.admission import admit
from services.memory.decide.candidate import Candidate
from services.memory.decide.context import BookContext, Refusal, checked_text
from services.memory.decide.ids import candidate_id
from services.memory.decide.words import checked_importance, place_of

MOST_EVIDENCE = 100
LAST_ORDINAL = 10**9
ASKERS = ("person", "agent")
"""Those who write what shall hold, and propose what shall be looked at."""


ADMITTED = (MemoryJudged, MemoryProposed, MemoryWritten, MemoryRevised, MemoryReinforced)
"""The events that may follow from a candidate."""


@command(MemoryWrite, on=Book, sent_by=AGENTS, writes=ADMITTED, action=Action("write", OWN_SESSIONS, order=10))
def write(book: Book, command: MemoryWrite, context: BookContext) -> Decision:
    """Remember this, unless the gate or the policy speaks against it."""
    return admit(book, candidate_of(command, context), context)


@command(MemoryPropose, on=Book, sent_by=(*AGENTS, "historian"), writes=ADMITTED)
def propose(book: Book, command: MemoryPropose, context: BookContext) -> Decision:
    """Let this be looked at; of the historian it is taken in as the policy says."""
    return admit(book, candidate_of(command, context), context)


def candidate_of(command: MemoryWrite | MemoryPropose, context: BookContext) -> Candidate:
    """The candidate that a command brings. Raises `Refusal` for what can be none."""
    text = checked_text(command.text)
    place = place_of(command.category, text)
    is_person = context.trust == "person"
    name = candidate_id(f"command/{context.cause}", text)
    if isinstance(command, MemoryWrite):
        return Candidate(
            id=name,
            text=text,
            place=place,
            trust=context.trust,
            rule="person" if is_person else "tool",
            source=context.sender,
            origin=context.session,
            message=command.message,
            importance=checked_importance(command.importance),
            is_asked=True,
        )
    if len(command.evidence) > MOST_EVIDENCE or any(not 0 < number <= LAST_ORDINAL for number in command.evidence):
        raise Refusal(f"evidence is the ordinals of at most {MOST_EVIDENCE} messages, from 1 on")
    return Candidate(
        id=name,
        text=text,
        place=place,
        trust=context.trust,
        rule="fact" if context.trust == "historian" else "proposal",
        source=context.sender,
        origin=context.session,
        run=command.run,
        evidence=command.evidence,
        needs_approval=context.trust in ASKERS,
    )
