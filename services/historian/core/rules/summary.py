"""The historian without a model: a stretch of conversation as compartments, by rules alone."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

from services.domain.tokens import BYTES_PER_TOKEN
from services.domain.transcript.reader import Chunk
from services.historian.core.rules import facts
from services.historian.core.rules.index import index
from services.historian.core.rules.judge import episode, importance
from services.historian.core.rules.key_sentences import key_sentences
from services.historian.core.rules.steps import steps
from services.historian.core.rules.tiers import ReadUnit, tiers
from services.historian.core.rules.titles import requests, title
from services.historian.core.rules.todos import plans
from services.historian.core.rules.work import common_root, work
from services.historian.core.rules.work_units import WorkUnit, work_units
from services.historian.core.summary import CompartmentDraft, Observation, Summary, SummaryFact

SHARE, RAW_SHARE, LEAST = 0.4, 0.08, 200
"""All fullest tiers together take at most this share of the transcript that they stand for, or of the messages as they
are where outputs make up most of them, or so many tokens."""
MOST = 12_000
"""Bytes that the fullest tier of the richest unit may have."""
SPARE = 100
"""Bytes of a fullest tier for what it is headed by, and its anchors."""

T = TypeVar("T", SummaryFact, Observation)


def summarise(chunk: Chunk, directory: str = "") -> Summary:
    """The summary of a chunk, in units of work. `directory`: the project's, which paths are shown from.

    Where more follows and the last unit was not brought to an end by a turn, it is left for the next run.
    """
    every = steps(chunk.recorded)
    cut = work_units(every)
    if not cut:
        return Summary()
    root = directory or common_root(every)
    left = cut[-1][0].first if chunk.has_more and len(cut) > 1 else 0
    whole = cut[:-1] if left else cut
    read = tuple(_read(whole, root))
    done = [one.done for one in read]
    wanted = [
        min(MOST, SPARE + sum(len(one.text.encode()) for one in unit.key_sentences if one.weight > 0)) for unit in read
    ]
    room = max(chunk.tokens * SHARE, chunk.raw_tokens * RAW_SHARE, LEAST) * BYTES_PER_TOKEN
    scale = min(1.0, room / max(1, sum(wanted)))
    return Summary(
        compartments=tuple(
            _draft(unit, one, int(want * scale)) for unit, one, want in zip(whole, read, wanted, strict=True)
        ),
        facts=_few([*chain.from_iterable(map(facts.facts, whole)), *facts.checking(done)], facts.MOST_FACTS),
        observations=(
            *_few(
                chain.from_iterable(map(facts.observations, whole, done)),
                facts.MOST_OBSERVATIONS,
            ),
            *_few(facts.repeated([*chain.from_iterable(whole)]), facts.MOST_TRAITS),
            *_few(facts.failing(done), facts.MOST_QUESTIONS),
        ),
        unprocessed_from=left,
    )


def _read(units: Sequence[WorkUnit], root: str) -> Iterator[ReadUnit]:
    """Each unit. One without a request of its own continues the one before."""
    wanted = ""
    for unit, plan in zip(units, plans(units), strict=True):
        sentences, done = key_sentences(unit), work(unit, root)
        yield ReadUnit(sentences, done, index(unit, root), plan, title(sentences, done, plan, wanted))
        wanted = next(reversed(requests(sentences)), wanted)


def _draft(unit: WorkUnit, read: ReadUnit, room: int) -> CompartmentDraft:
    made = tiers(read, room)
    return CompartmentDraft(
        first=unit[0].first,
        last=unit[-1].last,
        title=made.title,
        episode=episode(read.sentences, read.done),
        importance=importance(read.sentences, read.done),
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
