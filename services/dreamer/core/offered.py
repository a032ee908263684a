"""Memories that a model may be asked about, and the record that it was."""

from __future__ import annotations

from collections.abc import Callable

from services.dreamer.core.keeping import is_of_people
from services.dreamer.core.task import Scene, waiting_in
from services.memory.decide.context import LONGEST
from services.memory.entry import Memory


def revision_key(memory: Memory) -> str:
    """The name of a memory in these words: a model that was asked about them is not asked again."""
    return f"{memory.id}@{memory.revision}"


def offered_memories(
    scene: Scene, is_meant: Callable[[Memory], bool], key_of: Callable[[Memory], str] = revision_key
) -> list[Memory]:
    """Of those that are meant, what holds, what others than people may change, and what no model was asked about.

    `key_of`: the name under which that is recorded. What a proposal would change that waits is left out, too.
    """
    waiting = waiting_in(scene.book)
    found = (
        memory
        for memory in scene.book.memories.values()
        if memory.is_active
        and not is_of_people(memory)
        and len(memory.text) <= LONGEST
        and is_meant(memory)
        and memory.id not in waiting
        and key_of(memory) not in scene.asked
    )
    return sorted(found, key=lambda memory: memory.id)
