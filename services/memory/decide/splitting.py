"""A memory that states several facts becomes several memories, each of which states one."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import MemorySplit
from schemas.events import MemoryDivided, MemoryProposed
from services.domain.command import command
from services.domain.decision import Decision
from services.domain.senders import PEOPLE
from services.memory.book import Book
from services.memory.decide.changing import check_revision
from services.memory.decide.context import BookContext, Refusal, checked_reason, checked_text
from services.memory.decide.holding import BookChange, is_divided, settled
from services.memory.decide.ids import find_active, find_memory, part_ids, why_not
from services.memory.decide.words import check_words
from services.memory.entry import Memory
from services.memory.keys import exact_key, identity_key

FEWEST, MOST = 2, 8
"""The fewest and the most memories that one becomes."""


@command(MemorySplit, on=Book, sent_by=("person", "dreamer"), writes=(MemoryDivided, MemoryProposed))
def split(book: Book, command: MemorySplit, context: BookContext) -> Decision:
    """Several memories of one. One event has all of them, so that no process ever sees a half of it.

    They have what the memory had: its category, its weight, and what it came from. A person's own words, and pinned
    ones, are only split where a person approves it.
    """
    memory = find_memory(book, command.id)
    parts = tuple(checked_text(one, "text of a part") for one in command.parts)
    if not FEWEST <= len(parts) <= MOST:
        raise Refusal(f"{len(parts)} parts are given; give {FEWEST} to {MOST}, each with one fact of {memory.id}")
    if is_divided(book, memory, parts):
        return Decision(ok=True, text=f"Nothing to do: {_named(memory.parts)} have taken the place of {memory.id}.")
    memory = find_active(book, memory.id)
    check_revision(memory, command.revision)
    check_parts(book, memory, parts)
    for part in parts:
        check_words(part, memory.memory_class, context)
    change = BookChange(
        kind="split",
        memories=(memory,),
        text=memory.text,
        category=memory.category,
        memory_class=memory.memory_class,
        importance=memory.importance,
        trust=context.trust,
        reason=checked_reason(command.reason),
        parts=parts,
        names=part_ids(book.memories, memory.memory_class, parts),
    )
    review = command.review or memory.is_pinned or memory.trust in PEOPLE
    return settled(book, change, f"{_named(change.names)} have taken the place of {memory.id}.", context, review=review)


def check_parts(book: Book, memory: Memory, parts: Sequence[str]) -> None:
    """Raise `Refusal` where a part is no memory of its own: others are or were the same, or are about the same."""
    for key_of, alike in ((exact_key, "are the same"), (identity_key, "are about the same thing")):
        keys = [key_of(memory.memory_class, one) for one in parts]
        if len(set(keys)) < len(keys):
            raise Refusal(f"two of these parts {alike}; give one fact of {memory.id} in each")
    for part in parts:
        twin = book.memories.get(book.exact.get(exact_key(memory.memory_class, part)) or "")
        if twin is None or exact_key(twin.memory_class, twin.text) != exact_key(memory.memory_class, part):
            continue
        if twin.id == memory.id:
            raise Refusal(f"one of these parts is {memory.id} itself; give one fact of it in each")
        if twin.is_active:
            raise Refusal(f"{twin.id} is the same as one of the parts; decide on that one first")
        raise Refusal(f"{twin.id} has the words of a part, and {why_not(twin)}; decide on that one first")


def _named(names: Sequence[str]) -> str:
    return " and ".join(names)
