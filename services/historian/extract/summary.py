"""The historian without a model: a stretch of conversation as compartments, by rules alone."""

from collections.abc import Iterable
from itertools import chain, islice
from typing import TypeVar

from services.historian.drafts import Draft, Fact, Observation, Summary
from services.historian.extract import notes
from services.historian.extract.index import Index, index
from services.historian.extract.judge import episode, importance
from services.historian.extract.points import Points, points
from services.historian.extract.sentences import LONGEST
from services.historian.extract.steps import steps
from services.historian.extract.tiers import tiers
from services.historian.extract.units import Unit, units
from services.historian.extract.work import Work, common_root, work
from services.kit.history.reader import Chunk
from services.kit.tokens import BYTES_PER_TOKEN

SHARE, LEAST = 0.4, 200
"""All fullest tiers together take at most this share of the transcript that they stand for, or so many tokens."""
BASE, MOST = 600, 2800
"""Bytes of a fullest tier: what every unit may have, and what the richest may."""

T = TypeVar("T", Fact, Observation)


def summarise(chunk: Chunk, directory: str = "") -> Summary:
    """What was read, in units of work. `directory`: the project's, which paths are shown from.

    Where more follows and the last unit was not brought to an end by a turn, it is left for the next run.
    """
    every = steps(chunk.said)
    cut = units(every)
    if not cut:
        return Summary()
    root = directory or common_root(every)
    left = cut[-1][0].first if chunk.has_more and len(cut) > 1 else 0
    kept = cut[:-1] if left else cut
    read = [(unit, points(unit), work(unit, root), index(unit, root)) for unit in kept]
    wanted = [_wanted(said, done) for _, said, done, _ in read]
    room = max(chunk.tokens * SHARE, LEAST) * BYTES_PER_TOKEN
    scale = min(1.0, room / max(1, sum(wanted)))
    return Summary(
        compartments=tuple(_draft(one, int(want * scale)) for one, want in zip(read, wanted, strict=True)),
        facts=_few(chain.from_iterable(notes.facts(unit) for unit in kept), notes.MOST_FACTS),
        observations=_few(
            (note for unit, _, done, _ in read for note in notes.observations(unit, done)), notes.MOST_OBSERVATIONS
        ),
        unprocessed_from=left,
    )


def _wanted(said: Points, done: Work) -> int:
    """Bytes that a unit's fullest tier is worth."""
    rich = sum(min(LONGEST, len(wish.text)) for wish in said.wishes) + len(said.rules) * 100 + len(said.told) * 50
    rich += len(done.changed) * 50 + len(done.runs) * 40 + len(done.commits) * 60
    return min(MOST, BASE + rich)


def _draft(read: tuple[Unit, Points, Work, Index], room: int) -> Draft:
    unit, said, done, found = read
    made = tiers(said, done, found, room)
    return Draft(
        first=unit[0].first,
        last=unit[-1].last,
        title=made.title,
        episode=episode(said, done),
        importance=importance(said, done),
        p1=made.p1,
        p2=made.p2,
        p3=made.p3,
        p4=made.p4,
        anchors=made.anchors,
        names=found.listed(),
    )


def _few(found: Iterable[T], most: int) -> tuple[T, ...]:
    distinct: dict[str, T] = {}
    for one in found:
        distinct.setdefault(one.text, one)
    return tuple(islice(distinct.values(), most))
