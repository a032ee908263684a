"""Pairs of memories that may state one fact in words that no table has: a model says whether they do.

It says only that, and whose words stay: a pair becomes one memory with the words of one of the two. Only those pairs
are offered that have the same numbers, names, negations and conditions in one order. Since a model may be wrong where
this cannot be checked by code, a person decides on each of them, whatever the policy applies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import log

import msgspec

from schemas.commands import MemoryMerge
from services.dreamer.core.keeping import is_of_people
from services.dreamer.core.same_fact import fact_of
from services.dreamer.core.sheet import DATA, about_offered, judged, listed
from services.dreamer.core.task import JudgedAnswer, QuestionSheet, Scene, TaskChange, undecided, waiting_in
from services.dreamer.core.wording import content_of, is_close
from services.memory.decide.context import LONGEST
from services.memory.entry import Memory
from services.memory.sameness import speaks_against
from services.memory.strength import SOURCE_OF, SOURCE_PRIORITY

CLOSE = 0.4
"""The share of the words of two texts that both must have."""
USUAL = 40
"""Memories of one category that may have a word by which pairs are found: a more usual one says nothing."""
FEW = 20
"""Memories of one category up to which a word that several have is no usual one yet."""
SAME = "state one fact, as a model finds"
_SYSTEM = f"""\
You look after what is remembered of a software project. You are given pairs of sentences, one JSON object per line: a \
handle, and the two sentences `one` and `other`.

For each pair say whether the two state one and the same fact, so that whoever knows one of them learns nothing from \
the other: whatever follows from one follows from the other. Another thing, another place, another time, another \
condition or another degree makes two facts of it. If in doubt, they are not the same.

{DATA}

Answer with one JSON object and nothing else. `keep` is `one` or `other`: the sentence that says it better.
{{"pairs": [{{"handle": "p1", "same": true, "keep": "one"}}]}}"""


class SentencePair(msgspec.Struct, frozen=True):
    """One pair in the prompt of a question."""

    handle: str
    one: str
    other: str


class PairVerdict(msgspec.Struct, frozen=True):
    """The verdict of a model on a pair."""

    handle: str
    same: bool
    keep: str = ""


class PairVerdicts(msgspec.Struct, frozen=True):
    """The whole answer."""

    pairs: tuple[PairVerdict, ...]


Pair = tuple[Memory, Memory]


class PairQuestions:
    """The part of `consolidate` that asks a model."""

    def left(self, scene: Scene) -> int:
        """The number of pairs that a model was not asked about."""
        return len(pairs(scene))

    def sheet(self, scene: Scene, most: int) -> QuestionSheet | None:
        """The next pairs, the closest first."""
        offered = {f"p{number}": pair for number, pair in enumerate(pairs(scene)[:most], 1)}
        if not offered:
            return None
        sentences = [SentencePair(handle, one.text, other.text) for handle, (one, other) in offered.items()]
        return QuestionSheet(
            system=_SYSTEM,
            prompt=listed(f"Judge these {len(sentences)} pairs, each by its handle.", sentences),
            shape=PairVerdicts,
            check=lambda answer: about_offered(answer.pairs, offered, "such as p1"),
            judge=lambda answer: verdict_on(answer, offered),
        )


def verdict_on(answer: PairVerdicts, offered: Mapping[str, Pair]) -> JudgedAnswer:
    """The items of an answer about pairs that pass the checks."""
    return judged(answer.pairs, offered, _key, _decided)


def _decided(verdict: PairVerdict, pair: Pair) -> TaskChange | str | None:
    if not verdict.same:
        return None
    if verdict.keep not in ("one", "other"):
        return "it does not say which of the two sentences stays"
    one, other = pair
    text = (one if verdict.keep == "one" else other).text.strip()
    first, second = sorted(pair, key=rank)
    revisions = (first.revision, second.revision)
    command = MemoryMerge((first.id, second.id), text, review=True, reason=SAME, revisions=revisions)
    return TaskChange(command, f"{first.id}, {second.id} {SAME}", target=_key(pair))


def _key(pair: Pair) -> str:
    return "+".join(f"{one.id}@{one.revision}" for one in sorted(pair, key=lambda memory: memory.id))


def pairs(scene: Scene) -> list[Pair]:
    """Pairs that may be one fact and that nobody was asked about, the closest first; each memory in one of them."""
    waiting = waiting_in(scene.book)
    by_place: dict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in scene.book.memories.values():
        if memory.is_active and not is_of_people(memory) and memory.id not in waiting and len(memory.text) <= LONGEST:
            by_place[memory.category, memory.memory_class].append(memory)
    found = [one for place in by_place.values() for one in _close(place) if _key(one[1]) not in scene.asked]
    found.sort(key=lambda one: (-one[0], _key(one[1])))
    return [*_each_once(_open(scene, (pair for _, pair in found)))]


def _open(scene: Scene, found: Iterable[Pair]) -> Iterator[Pair]:
    """Those that a person was not asked about, whichever of the two sentences stays."""
    for pair in found:
        first, second = sorted(pair, key=rank)
        both = [TaskChange(MemoryMerge((first.id, second.id), one.text), "") for one in pair]
        if len(undecided(scene, both)) == len(both):
            yield pair


def _each_once(found: Iterable[Pair]) -> Iterator[Pair]:
    taken = set[str]()
    for one, other in found:
        if taken.isdisjoint((one.id, other.id)):
            taken |= {one.id, other.id}
            yield one, other


def _close(memories: Sequence[Memory]) -> Iterator[tuple[float, Pair]]:
    """Pairs of one category and class that may state one fact, which rules do not settle, and how close they are."""
    by_word: dict[str, list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda one: one.id):
        for word in content_of(memory.text):
            by_word[word].append(memory)
    weights = {word: log((FEW + len(memories)) / len(some)) for word, some in by_word.items()}
    rare = (some for some in by_word.values() if len(some) <= USUAL)
    for pair in {(one.id, other.id): (one, other) for some in rare for one, other in combinations(some, 2)}.values():
        one, other = pair
        closeness = _closeness(pair, weights)
        if closeness >= CLOSE and is_close(one.text, other.text) and not _is_settled(one.text, other.text):
            yield closeness, pair


def _is_settled(one: str, other: str) -> bool:
    return fact_of(one).main == fact_of(other).main or speaks_against(one, other)


def _closeness(pair: Pair, weights: Mapping[str, float]) -> float:
    """The share of the words of two texts that both have, 0 to 1. A word that few memories have weighs more."""
    one, other = (content_of(memory.text) for memory in pair)
    return sum(weights[word] for word in one & other) / max(1e-9, sum(weights[word] for word in one | other))


def rank(memory: Memory) -> tuple[int, bool, int, int, str, str]:
    """A key that sorts memories: those of a stronger source first, then what was seen more often, and the older one."""
    priority = SOURCE_PRIORITY.get(SOURCE_OF.get(memory.trust, ""), 0)
    return (
        -priority,
        memory.verification in ("stale", "flagged"),
        -memory.reinforced,
        -memory.seen,
        memory.created.isoformat(),
        memory.id,
    )
