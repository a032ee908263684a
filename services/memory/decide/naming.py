"""The ids of memories, notes and candidates: short, and the same wherever the same is decided."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import count

from schemas.codec import derived_id
from services.memory.classes import MemoryClass
from services.memory.keys import canonical
from services.memory.sameness import sentence_key

MEMORY_DIGITS = 10
NOTE_DIGITS = 6


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
