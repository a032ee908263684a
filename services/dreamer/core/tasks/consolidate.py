"""Memories that state one fact become one: the same sentence, or the same in other words, within one category.

A person's memories and pinned ones are left as they are. Another memory that is the same sentence as one of them is
archived.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from schemas.commands import MemoryArchive, MemoryMerge
from services.dreamer.core.keeping import is_of_people
from services.dreamer.core.pairs import PairQuestions, rank
from services.dreamer.core.same_fact import Words, fact_of
from services.dreamer.core.task import DreamTask, ModelPart, Scene, TaskChange, undecided
from services.memory.decide.context import LONGEST
from services.memory.decide.merging import MOST
from services.memory.entry import Memory
from services.memory.sameness import sentence_key

FEWEST_WORDS = 2
"""Words of a fact that is looked for in other words."""


class Consolidation:
    """Finds memories that state one fact."""

    NAME = "consolidate"
    CRON = "0 4 * * *"
    needs_tree = False
    model: ModelPart = PairQuestions()
    needs_model = False

    def backlog(self, scene: Scene) -> int:
        """The number of merges, and of copies of a protected memory."""
        return len(self.changes(scene))

    def changes(self, scene: Scene) -> Sequence[TaskChange]:
        """A merge for each fact that several memories state, the strongest first."""
        by_place: dict[tuple[str, str], list[Memory]] = defaultdict(list)
        for memory in scene.book.memories.values():
            if memory.is_active:
                by_place[memory.category, memory.memory_class].append(memory)
        return undecided(scene, (change for place in sorted(by_place) for change in _of_place(by_place[place])))


def _of_place(memories: Sequence[Memory]) -> Iterator[TaskChange]:
    """The changes among the memories of one category and class."""
    own, rest = dict[str, str](), list[Memory]()
    for memory in sorted(memories, key=rank):
        if is_of_people(memory):
            own.setdefault(sentence_key(memory.text), memory.id)
        else:
            rest.append(memory)
    free = list[Memory]()
    for memory in rest:
        if twin := own.get(sentence_key(memory.text)):
            reason = f"{twin} is the same sentence, and a person's or pinned"
            yield TaskChange(MemoryArchive(memory.id, reason, revision=memory.revision), reason)
        else:
            free.append(memory)
    for same in _same(free):
        if text := _text_of(same):
            ids, revisions = zip(*((memory.id, memory.revision) for memory in same[:MOST]), strict=True)
            is_keyed = len({sentence_key(memory.text) for memory in same}) == 1
            why = "are the same sentence" if is_keyed else "state one fact in other words"
            yield TaskChange(
                MemoryMerge(ids, text, reason=why, revisions=revisions),
                f"{', '.join(ids)} {why}",
            )


def _same(memories: Sequence[Memory]) -> Iterator[list[Memory]]:
    """Those that state one fact, two or more at a time, the strongest first."""
    by_fact: dict[Words, list[Memory]] = defaultdict(list)
    for memory in memories:
        main = fact_of(memory.text).main
        by_fact[main if len(main) >= FEWEST_WORDS else (sentence_key(memory.text),)].append(memory)
    for same in by_fact.values():
        yield from (some for some in _by_reason(same) if len(some) > 1)


def _by_reason(memories: Sequence[Memory]) -> Iterator[list[Memory]]:
    """One that gives no reason is the same as one that does, unless there are several reasons."""
    reasons: dict[Words, list[Memory]] = defaultdict(list)
    for memory in memories:
        reasons[fact_of(memory.text).reason].append(memory)
    if len(reasons.keys() - {()}) <= 1:
        yield [*memories]
    else:
        yield from reasons.values()


def _text_of(memories: Sequence[Memory]) -> str:
    """The text of one of them that says most; empty: all of them are longer than the desk takes.

    Of equals it is that of the strongest. With a reason is more than without.
    """
    most = sorted(memories, key=lambda memory: (not fact_of(memory.text).reason, -len(sentence_key(memory.text))))
    return next((text for memory in most if 0 < len(text := memory.text.strip()) <= LONGEST), "")


TASK: DreamTask = Consolidation()
