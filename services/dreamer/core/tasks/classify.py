"""Sets the importance of memories that nobody has set. A model judges them, next to examples whose weight is known.

What rules know is not left to it: what is worth keeping does not become light, and only what binds, gives a reason, or
names a lesson becomes weighty. An answer that judges the examples otherwise uses another scale, and is dropped whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import msgspec

from schemas.commands import MemoryImportance
from schemas.events.memory import IMPORTANCES
from services.dreamer.core.keeping import is_weighty, is_worth_keeping
from services.dreamer.core.offered import offered_memories, revision_key
from services.dreamer.core.sheet import DATA, judged, listed
from services.dreamer.core.task import DreamTask, JudgedAnswer, QuestionSheet, QuestionTask, Scene, TaskChange
from services.memory.entry import Memory

JUDGED = "a model judged how much it weighs, by these words: "
LEAST_QUOTE = 8
"""Characters that a quotation has at least, unless the memory is shorter."""
NORMAL = "normal"
EXAMPLES = {
    "Never run the migrations of the ledger by hand: in March that lost a day of bookings.": "high",
    "The page for exports has a blue button in its upper corner.": "low",
}
"""Texts whose weight is known."""
_SYSTEM = f"""\
You look after what is remembered of a software project. You are given memories, one JSON object per line: a handle \
and a text. Say how much each weighs for whoever works on the project next.

- high: who does not know it breaks something, loses work, or does what is forbidden.
- normal: it saves looking something up.
- low: nobody would miss it.
- quote: the words of the memory, exactly as they stand there, for which you judge so.

{DATA}

Answer with one JSON object and nothing else, with each handle once:
{{"memories": [{{"handle": "m1", "importance": "normal", "quote": "..."}}]}}"""


class WeighedText(msgspec.Struct, frozen=True):
    """One text in the prompt of a question."""

    handle: str
    text: str


class Weight(msgspec.Struct, frozen=True):
    """The weight that a model gives one text."""

    handle: str
    importance: str
    quote: str = ""


class WeightChoice(msgspec.Struct, frozen=True):
    """The whole answer."""

    memories: tuple[Weight, ...]


class Classification(QuestionTask):
    """Judges how much memories weigh."""

    NAME = "classify"
    CRON = "0 6 * * *"

    def left(self, scene: Scene) -> int:
        """The number of memories with a weight that nobody has given them."""
        return len(_offered(scene))

    def sheet(self, scene: Scene, most: int) -> QuestionSheet | None:
        """The next question, with the examples among the memories."""
        memories = _offered(scene)[:most]
        if not memories:
            return None
        texts: list[Memory | str] = sorted([*memories, *EXAMPLES], key=_place)
        named = {f"m{number}": one for number, one in enumerate(texts, 1)}
        weighed = [WeighedText(name, one if isinstance(one, str) else one.text) for name, one in named.items()]
        return QuestionSheet(
            system=_SYSTEM,
            prompt=listed(f"Judge these {len(weighed)} memories, each by its handle.", weighed),
            shape=WeightChoice,
            check=lambda answer: scale_of(answer, named),
            judge=lambda answer: weighing_of(answer, named),
        )


def scale_of(answer: WeightChoice, named: Mapping[str, Memory | str]) -> str:
    """The fault of an answer by which the examples weigh otherwise. Which texts those are is left open."""
    weights = {one.handle: one.importance for one in answer.memories}
    expected = {name: EXAMPLES[one] for name, one in named.items() if isinstance(one, str)}
    if any(name not in weights for name in expected):
        return f"The answer leaves out memories; judge each of m1 to m{len(named)} once."
    if any(weights[name] not in (right, NORMAL) for name, right in expected.items()):
        return "The weights are not on the scale; judge every memory anew by what high, normal and low mean."
    return ""


def weighing_of(answer: WeightChoice, named: Mapping[str, Memory | str]) -> JudgedAnswer:
    """The items of an answer with weights that pass the checks."""
    offered = {name: one for name, one in named.items() if not isinstance(one, str)}
    known = {name for name, one in named.items() if isinstance(one, str)}
    return judged([one for one in answer.memories if one.handle not in known], offered, revision_key, _decided)


def _decided(weight: Weight, memory: Memory) -> TaskChange | str | None:
    if weight.importance not in IMPORTANCES:
        return "it gives a weight that there is not"
    if weight.importance == NORMAL:
        return None
    if weight.quote.strip() not in memory.text or len(weight.quote.strip()) < min(LEAST_QUOTE, len(memory.text)):
        return "it quotes what the memory does not say"
    if weight.importance == "low" and is_worth_keeping(memory):
        return "it makes light of what is worth keeping"
    if weight.importance == "high" and not is_weighty(memory.text):
        return "it makes much of what is neither a rule, nor a reason, nor a lesson"
    reason = f'{JUDGED}"{weight.quote.strip()[:200]}"'
    command = MemoryImportance(memory.id, weight.importance, reason, revision=memory.revision)
    return TaskChange(command, f"{memory.id}: {reason}", target=revision_key(memory))


def _place(one: Memory | str) -> str:
    """A key that sorts the texts of a question: the examples are anywhere among the others."""
    return sha256((one if isinstance(one, str) else one.id).encode()).hexdigest()


def _offered(scene: Scene) -> list[Memory]:
    """Memories of normal weight that are nobody's own words and that no model was asked about."""
    return offered_memories(scene, lambda memory: memory.importance == NORMAL)


TASK: DreamTask = Classification()
