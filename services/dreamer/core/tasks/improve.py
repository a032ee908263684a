"""Rewords memories that report how something came about as what holds, in the present tense, and completes paths.

A path is completed by rules: where a memory names a file without its folder, and one file of the tree is called so,
that file's path takes the place of the name, and nothing else changes. A memory that states several facts is split, by
rules or by a model (`splitting.py`). A model words the rest. Its words are taken only where they state no more and
nothing else than the memory did. Where more than words of reporting is left out, a person decides on them, whatever the
policy applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from schemas.commands import MemoryRevise
from services.domain.secret_paths import is_secret
from services.domain.texts.injection import steers
from services.domain.texts.risky import risk_of
from services.dreamer.core.keeping import is_of_people
from services.dreamer.core.named import named_in
from services.dreamer.core.offered import offered_memories, revision_key
from services.dreamer.core.repathing import with_paths
from services.dreamer.core.sheet import DATA, about_offered, judged, listed
from services.dreamer.core.splitting import compound_memories, split_sheet, splits_by_rules
from services.dreamer.core.task import (
    DreamTask,
    JudgedAnswer,
    QuestionSheet,
    QuestionTask,
    Scene,
    TaskChange,
    Tree,
    undecided,
    waiting_in,
)
from services.dreamer.core.wording import is_only_tidied, words_lost_or_new
from services.memory.entry import Memory
from services.memory.sameness import sentence_key, set_of

WHY = "a model words it as what holds, without how it came about"
_TELLING = frozenset({
    "we", "i", "decided", "agreed", "found", "noticed", "learned", "realized", "realised", "figured", "turned", "today",
    "yesterday", "tonight", "recently", "currently", "session", "discussed", "discovered", "was", "were", "had", "did",
})  # fmt: skip
"""Words of a text that reports what happened, rather than states what holds."""
_OWN = "dreamer"
"""The trust of words that the dreamer wrote: it does not word its own again."""
_SYSTEM = f"""\
You look after what is remembered of a software project. You are given memories, one JSON object per line: a handle \
and a text. Some of them tell how something came about. Word each as what holds: one sentence in the present tense.

- Only leave words out, or put a verb into the present tense. Do not add, replace or move a word.
- Keep every name, number, path, negation, condition and reason exactly as it is.
- Where that cannot be done, or where the text is good as it is, give the text back as it is.

{DATA}

Answer with one JSON object and nothing else, with each handle once:
{{"memories": [{{"handle": "m1", "text": "..."}}]}}"""


class MemoryText(msgspec.Struct, frozen=True):
    """One memory in the prompt of a question, and in the answer."""

    handle: str
    text: str


class MemoryTexts(msgspec.Struct, frozen=True):
    """The whole answer."""

    memories: tuple[MemoryText, ...]


class Improvement(QuestionTask):
    """Words memories as what holds."""

    NAME = "improve"
    CRON = "30 5 * * *"
    takes_tree = True

    def backlog(self, scene: Scene) -> int:
        """The number of memories that rules complete or split, and of those that a model would be asked about."""
        return len(self.changes(scene)) + self.left(scene)

    def changes(self, scene: Scene) -> Sequence[TaskChange]:
        """The whole path for each file that a memory names without its folder, where one is called so; and splits.

        A memory whose path is completed is split in a later run, with its new words.
        """
        completed = undecided(scene, self._completed(scene))
        reworded = {one.command.id for one in completed if isinstance(one.command, MemoryRevise)}
        splits = (one for one in splits_by_rules(scene) if getattr(one.command, "id", "") not in reworded)
        return [*completed, *undecided(scene, splits)]

    def _completed(self, scene: Scene) -> Sequence[TaskChange]:
        if scene.tree is None:
            return []
        waiting, taken, found = waiting_in(scene.book), set[str](), list[TaskChange]()
        for memory in sorted(scene.book.memories.values(), key=lambda one: one.id):
            if not memory.is_active or is_of_people(memory) or memory.id in waiting:
                continue
            paths = dict(_completed(memory.text, scene.tree))
            if paths and (text := with_paths(scene.book, memory, paths, taken)):
                reason = "; ".join(f"the one file {short} of the project is {path}" for short, path in paths.items())
                command = MemoryRevise(memory.id, text, revision=memory.revision, reason=reason)
                found.append(TaskChange(command, f"{memory.id}: {reason}"))
        return found

    def left(self, scene: Scene) -> int:
        """The number of memories that are reports and were not worded yet, or may state several facts."""
        return len({memory.id for memory in (*_offered(scene), *compound_memories(scene))})

    def sheet(self, scene: Scene, most: int) -> QuestionSheet | None:
        """The next question: about reports, and then about memories with several facts."""
        offered = {f"m{number}": memory for number, memory in enumerate(_offered(scene)[:most], 1)}
        if not offered:
            return split_sheet(scene, most)
        texts = [MemoryText(handle, memory.text) for handle, memory in offered.items()]
        return QuestionSheet(
            system=_SYSTEM,
            prompt=listed(f"Word these {len(texts)} memories, each under its handle.", texts),
            shape=MemoryTexts,
            check=lambda answer: about_offered(answer.memories, offered, "such as m1"),
            judge=lambda answer: wording_of(answer, offered, scene),
        )


def _completed(text: str, tree: Tree) -> Iterator[tuple[str, str]]:
    """The files that a text names by the end of their paths alone, with those paths, where there is no doubt."""
    named = named_in(text)
    for one in named.paths if not named.may_be_absent else ():
        if one.is_file and not tree.exists(one.path):
            match tree.named(one.path):
                case [path] if not is_secret(path) and tree.exists(path):
                    yield one.path, path


def wording_of(answer: MemoryTexts, offered: Mapping[str, Memory], scene: Scene) -> JudgedAnswer:
    """The items of an answer with new words that pass the checks."""
    known = {sentence_key(memory.text) for memory in scene.book.memories.values() if memory.is_active}
    return judged(answer.memories, offered, revision_key, lambda new, memory: _decided(new, memory, known))


def _decided(new: MemoryText, memory: Memory, known: set[str]) -> TaskChange | str | None:
    text = new.text.strip()
    if text == memory.text.strip():
        return None
    if wrong := words_lost_or_new(text, memory.text):
        return wrong
    if risk_of(text) or steers(text):
        return "the text gives agents an order that only a person may give"
    if (key := sentence_key(text)) in known:
        return None if key == sentence_key(memory.text) else "another memory has these words"
    command = MemoryRevise(
        memory.id, text, revision=memory.revision, review=not is_only_tidied(text, memory.text), reason=WHY
    )
    return TaskChange(command, f"{memory.id}: {WHY}", target=revision_key(memory))


def _offered(scene: Scene) -> list[Memory]:
    """Memories that are reports, in the words of agents or the historian, that no model was asked about."""
    return offered_memories(scene, lambda one: one.trust != _OWN and not _TELLING.isdisjoint(set_of(one.text)))


TASK: DreamTask = Improvement()
