"""Scores of ranked lists: recall, hits, reciprocal ranks, nDCG, and paired differences with their intervals."""

import math
import random
from collections.abc import Mapping, Sequence

import msgspec

KS = (1, 5, 10)
SAMPLES = 2000
METRICS = (*(f"recall@{k}" for k in KS), "hit@5", "mrr", "ndcg@10")


class Gold(msgspec.Struct, frozen=True):
    """A question with what answers it."""

    id: str
    gold: tuple[str, ...]
    category: str = "-"


class GoldDoc(msgspec.Struct, frozen=True):
    id: str
    group: str | None = None


class GoldSet(msgspec.Struct, frozen=True):
    """What of a set is needed to score it."""

    task: str
    docs: tuple[GoldDoc, ...]
    queries: tuple[Gold, ...]
    gold_level: str = ""


class Ranking(msgspec.Struct, frozen=True):
    """A line that `annals bench search` leaves."""

    task: str
    query_id: str
    ranking: tuple[str, ...]
    ms: float = 0.0


def scores(ranking: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """Each metric of one question, from 0 to 1."""
    wanted = set(gold)
    places = [place for place, one in enumerate(dict.fromkeys(ranking)) if one in wanted]
    found = {f"recall@{k}": sum(place < k for place in places) / len(wanted) for k in KS}
    found["hit@5"] = float(any(place < 5 for place in places))
    found["mrr"] = 1 / (places[0] + 1) if places else 0.0
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
    found["ndcg@10"] = sum(1 / math.log2(place + 2) for place in places if place < 10) / ideal
    return found


def scored(one: GoldSet, lines: Mapping[tuple[str, str], Ranking]) -> list[dict[str, float]]:
    """The metrics of each question of a set; one that was not answered has nothing."""
    groups = {doc.id: doc.group or doc.id for doc in one.docs}
    found = []
    for query in one.queries:
        line = lines.get((one.task, query.id), Ranking(one.task, query.id, ()))
        ranking = [groups.get(name, name) for name in line.ranking] if one.gold_level == "group" else line.ranking
        found.append(scores(ranking, query.gold))
    return found


def mean(found: Sequence[Mapping[str, float]], metric: str) -> float:
    return sum(one[metric] for one in found) / len(found) if found else 0.0


def interval(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float, float]:
    """The mean difference of paired values, and between which it lies in 95 of 100 samples of them."""
    differences = [one - other for one, other in zip(ours, theirs, strict=True)]
    chance = random.Random(1)
    means = sorted(sum(chance.choices(differences, k=len(differences))) / len(differences) for _ in range(SAMPLES))
    return sum(differences) / len(differences), means[int(0.025 * SAMPLES)], means[int(0.975 * SAMPLES)]
