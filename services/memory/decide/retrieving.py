"""Records in the book what searches have shown to agents."""

from collections.abc import Sequence

from schemas.codec import derived_id
from schemas.events import MemoryRetrieved, PartRecorded
from services.domain.decision import Decision
from services.domain.search.answer_text import memories_in_answer
from services.domain.tools.names import is_our_search
from services.memory.book import Book


def shown_by(part: PartRecorded) -> tuple[str, ...]:
    """The memories that a search has shown to the agent, if the part is the answer to one."""
    if part.kind not in ("tool", "tool_result") or not is_our_search(part.tool):
        return ()
    if part.kind == "tool" and part.status != "completed":
        return ()
    return memories_in_answer(part.output)


def retrieval_id(session: str, part: PartRecorded) -> str:
    """The same for an answer however often it is recorded, and for its copies: they are of the same `session`."""
    return derived_id("retrieved", session, part.call or part.part, part.output)


def retrieved(book: Book, memories: Sequence[str], origin: str, message: str) -> Decision:
    """Note which of these memories were shown. What the book does not know is none of its memories."""
    known = [name for name in memories if name in book.memories]
    return Decision(ok=True, text="", events=_retrieval(known, origin, message) if known else ())


def _retrieval(known: Sequence[str], origin: str, message: str) -> tuple[MemoryRetrieved]:
    return (MemoryRetrieved(memories=[*known], origin=origin, message=message),)
