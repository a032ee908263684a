"""A memory or a note that a command names, by its id or by the beginning of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from services.domain.finding import NotNamed, find
from services.memory.book import Book
from services.memory.decide.context import Refusal
from services.memory.entry import Memory, Note

T = TypeVar("T")

_WHY_NOT = {
    "pending": "it waits for a person, who has to decide on it first (memory.decide)",
    "archived": "it is archived; restore it first (memory.restore)",
    "expired": "it has expired; restore it first (memory.restore)",
    "rejected": "it was rejected; a person can restore it (memory.restore)",
    "quarantined": "all that came of its source is taken back; a person can undo that (memory.quarantine with undo)",
}


def find_memory(book: Book, name: str) -> Memory:
    """The memory of this id. Raises `Refusal` where there is none, or more than one begins so."""
    return _found(book.memories, name, "memory", "memories")


def find_note(book: Book, name: str) -> Note:
    """The note of this id; see `find_memory`."""
    return _found(book.notes, name, "note", "notes")


def find_active(book: Book, name: str) -> Memory:
    """The same of a memory that holds. Raises `Refusal` for any other, with what would make it one."""
    memory = find_memory(book, name)
    if memory.is_active:
        return memory
    raise Refusal(f"{memory.id} does not hold: {why_not(memory)}")


def why_not(memory: Memory) -> str:
    """The reason why a memory does not hold, with what can be done about it."""
    if memory.status == "superseded":
        if len(memory.successors) > 1:
            return f"{' and '.join(memory.successors)} have taken its place; name one of them"
        return f"{memory.superseded_by or 'another one'} has taken its place; name that one"
    return _WHY_NOT[memory.status]


def _found(known: Mapping[str, T], name: str, one: str, many: str) -> T:
    try:
        return find(known, name, one, many)
    except NotNamed as error:
        raise Refusal(str(error)) from error
