"""The historian without a model: a stretch of conversation as compartments, by rules alone."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

from services.historian.drafts import Draft, Fact, Observation, Summary
from services.historian.extract import notes
from services.historian.extract.index import index
from services.historian.extract.judge import episode, importance
from services.historian.extract.points import points
from services.historian.extract.steps import steps
from services.historian.extract.tiers import Read, tiers
from services.historian.extract.titles import title, wishes
from services.historian.extract.todos import plans
from services.historian.extract.units import Unit, units
from services.historian.extract.work import common_root, work
from services.kit.history.reader import Chunk
from services.kit.tokens import BYTES_PER_TOKEN

SHARE, LEAST = 0.4, 200
"""All fullest tiers together take at most this share of the transcript that they stand for, or so many tokens."""
MOST = 12_000
"""Bytes that the fullest tier of the richest unit may have."""
SPARE = 100
"""Bytes of a fullest tier for what it is headed by, and its anchors."""

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
    read = tuple(_read(kept, root))
    wanted = [min(MOST, SPARE + sum(len(one.text.encode()) for one in unit.points if one.weight > 0)) for unit in read]
    room = max(chunk.tokens * SHARE, LEAST) * BYTES_PER_TOKEN
    scale = min(1.0, room / max(1, sum(wanted)))
    return Summary(
        compartments=tuple(
            _draft(unit, one, int(want * scale)) for unit, one, want in zip(kept, read, wanted, strict=True)
        ),
        facts=_few(chain.from_iterable(notes.facts(unit) for unit in kept), notes.MOST_FACTS),
        observations=_few(
            (note for unit, one in zip(kept, read, strict=True) for note in notes.observations(unit, one.done)),
            notes.MOST_OBSERVATIONS,
        ),
        unprocessed_from=left,
    )


def _read(units: Sequence[Unit], root: str) -> Iterator[Read]:
    """Each unit. One without a wish of its own goes on with that before."""
    wanted = ""
    for unit, plan in zip(units, plans(units), strict=True):
        said, done = points(unit), work(unit, root)
        yield Read(said, done, index(unit, root), plan, title(said, done, plan, wanted))
        wanted = next(reversed(wishes(said)), wanted)


def _draft(unit: Unit, read: Read, room: int) -> Draft:
    made = tiers(read, room)
    return Draft(
        first=unit[0].first,
        last=unit[-1].last,
        title=made.title,
        episode=episode(read.said, read.done),
        importance=importance(read.said, read.done),
        p1=made.p1,
        p2=made.p2,
        p3=made.p3,
        p4=made.p4,
        anchors=made.anchors,
        names=read.found.listed(),
    )


def _few(found: Iterable[T], most: int) -> tuple[T, ...]:
    distinct: dict[str, T] = {}
    for one in found:
        distinct.setdefault(one.text, one)
    return tuple(islice(distinct.values(), most))
