"""Several memories become one: it keeps the id of the first, and what all of them were seen at."""

from __future__ import annotations

from schemas.commands import MemoryMerge
from schemas.events import MemoryMerged, MemoryProposed
from services.domain.command import command
from services.domain.decision import Decision
from services.memory.book import Book
from services.memory.classes import MemoryClass
from services.memory.decide.changing import check_revision, check_twin
from services.memory.decide.context import BookContext, Refusal, checked_reason, checked_text
from services.memory.decide.holding import BookChange, settled
from services.memory.decide.ids import find_active, find_memory
from services.memory.decide.permission import check_change
from services.memory.decide.words import check_words, place_of
from services.memory.entry import Memory
from services.memory.keys import exact_key

FEWEST, MOST = 2, 100
"""The least and the greatest number of memories that are made one at once."""


@command(MemoryMerge, on=Book, sent_by=("person", "dreamer"), writes=(MemoryMerged, MemoryProposed))
def merge(book: Book, command: MemoryMerge, context: BookContext) -> Decision:
    """One memory of several, in these words. One event names all of them.

    Words that one of them has already are in force, and are not judged again: whoever wrote them chose where they
    belong, and they are trusted as before. What a person merges is theirs.
    """
    if not FEWEST <= len(set(command.ids)) <= MOST:
        raise Refusal(f"{len(set(command.ids))} memories are named; name {FEWEST} to {MOST} that say the same")
    text = checked_text(command.text)
    first, *others = dict.fromkeys(find_memory(book, name).id for name in command.ids)
    if not others:
        raise Refusal(f"all ids lead to {first}; name another memory that says the same")
    if _is_done(book.memories[first], others, text):
        return Decision(ok=True, text=f"Nothing to do: {first} says all of it now.")
    memories = [find_active(book, name) for name in (first, *others)]
    for memory in memories:
        check_change(memory, context)
    for name, seen in zip(command.ids, command.revisions, strict=False):
        check_revision(find_memory(book, name), seen)
    category, memory_class = _place(memories, command.category, text)
    if all(memory.text.strip() != text for memory in memories):
        check_words(text, memory_class, context)
    check_twin(book, exact_key(memory_class, text), *memories)
    change = BookChange(
        kind="merge",
        memories=tuple(memories),
        text=text,
        category=category,
        memory_class=memory_class,
        importance=memories[0].importance,
        trust=context.trust,
        origin=context.session,
        reason=checked_reason(command.reason),
    )
    return settled(book, change, f"{first} says all of it now.", context, review=command.review)


def _is_done(first: Memory, others: list[str], text: str) -> bool:
    return first.is_active and first.text == text and set(others) <= set(first.merged)


def _place(memories: list[Memory], category: str, text: str) -> tuple[str, MemoryClass]:
    """The category and the class: those that all have, or the category that is given."""
    places = {(memory.category, memory.memory_class) for memory in memories}
    if category:
        place = place_of(category, text)
        return place.category, place.memory_class
    if len(places) > 1:
        names = ", ".join(sorted({memory.category for memory in memories}))
        raise Refusal(f"they are of several kinds ({names}); name the category of the one that they become")
    (found,) = places
    return found
