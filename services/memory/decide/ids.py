"""The ids of memories, notes and candidates: how they are made, and what a command names by one or its beginning.

They are short, and the same wherever the same is decided.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import count
from typing import TypeVar

from schemas.codec import derived_id
from services.domain.finding import NotNamed, find
from services.memory.book import Book
from services.memory.classes import MemoryClass
from services.memory.decide.context import Refusal
from services.memory.entry import Memory, Note
from services.memory.keys import canonical
from services.memory.sameness import sentence_key

MEMORY_DIGITS = 10
NOTE_DIGITS = 6
T = TypeVar("T")

_WHY_NOT = {
    "pending": "it waits for a person, who has to decide on it first (memory.decide)",
    "archived": "it is archived; restore it first (memory.restore)",
    "expired": "it has expired; restore it first (memory.restore)",
    "rejected": "it was rejected; a person can restore it (memory.restore)",
    "quarantined": "all that came of its source is taken back; a person can undo that (memory.quarantine with undo)",
}


def memory_id(taken: Container[str], memory_class: MemoryClass, text: str) -> str:
    """`m` and ten digits over the class and the words; where another memory has that id, the next ones.

    Over the words as books of earlier releases have them: the same sentence has the same id in each.
    """
    return _free(taken, "m", MEMORY_DIGITS, "memory", f"{memory_class}:{canonical(text)}")


def change_id(kind: str, memories: Sequence[str], text: str, importance: str = "") -> str:
    """The id of a proposal to change memories: the same change of the same words is proposed once."""
    return "m" + derived_id("change", kind, *memories, text, importance).replace("-", "")[:MEMORY_DIGITS]


def part_ids(taken: Container[str], memory_class: MemoryClass, texts: Sequence[str]) -> tuple[str, ...]:
    """The ids of memories that one is split into: of memories that there were not before."""
    found: list[str] = []
    for text in texts:
        number, name = 0, memory_id(taken, memory_class, text)
        while name in found or name in taken:  # two texts may differ in nothing but punctuation
            number += 1
            name = memory_id(taken, memory_class, f"{text} {number}")
        found.append(name)
    return tuple(found)


def note_id(taken: Container[str], cause: str, text: str) -> str:
    """`n` and six digits over the command and the words: the same words may be noted twice."""
    return _free(taken, "n", NOTE_DIGITS, "note", cause, text)


def candidate_id(holder: str, text: str) -> str:
    """Over what holds a candidate, such as a command or a message, and its words."""
    return derived_id("candidate", holder, sentence_key(text))


def _free(taken: Container[str], letter: str, digits: int, *decided: str) -> str:
    for number in count():
        again = (str(number),) if number else ()
        name = letter + derived_id(*decided, *again).replace("-", "")[:digits]
        if name not in taken:
            return name
    raise AssertionError("there is always a next number")


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
