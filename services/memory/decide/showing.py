"""What a session was shown of the memory: what it says of that is no new sighting, however it says it.

Which heads were served is the responder's to know, and the log flows from the desk to it. But a session is shown what a
head made at its first call shows, and told of what comes to hold later.
"""

from __future__ import annotations

from services.domain.senders import PEOPLE
from services.memory.book import Book
from services.memory.decide.candidate import Candidate
from services.memory.decide.context import BookContext
from services.memory.entry import Memory
from services.memory.rendering import choose
from services.memory.strength import dormant_days


def no_sighting(book: Book, candidate: Candidate, twin: Memory, context: BookContext) -> str:
    """Why a candidate says nothing new of the memory that has its words: `shown` or `reread`; empty: it does."""
    if candidate.trust in PEOPLE:  # they say it again because they mean it, whatever stands before their session
        return ""
    if _was_read(candidate, twin):
        return "reread"
    return "shown" if twin.is_active and _was_shown(book, twin, context) else ""


def _was_read(candidate: Candidate, twin: Memory) -> bool:
    """Whether it was read off messages that it was read off before: their history is made anew."""
    evidence = set(candidate.evidence)
    return any(one.session == candidate.origin and not evidence.isdisjoint(one.evidence) for one in twin.sources)


def _was_shown(book: Book, twin: Memory, context: BookContext) -> bool:
    began = context.began
    if began is None:
        return False
    if twin.facts[0] > began.seq:
        return True
    known = (memory for memory in book.memories.values() if memory.facts[0] <= began.seq)
    dormant = dormant_days(((one.since, one.until) for one in book.pauses), None, began.at)
    return any(one.memory.id == twin.id for one in choose(known, began.at, dormant, context.profile).shown)
