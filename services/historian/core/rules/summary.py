"""The historian without a model: a stretch of conversation as compartments, by rules alone."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

from services.domain.texts import phrase_patterns
from services.domain.texts.bounds import beginning
from services.domain.texts.posing import unposed
from services.domain.tokens import BYTES_PER_TOKEN
from services.domain.transcript.names import base
from services.domain.transcript.reader import Chunk
from services.historian.core.rules import facts
from services.historian.core.rules.index import index
from services.historian.core.rules.key_sentences import KeySentence, KeySentences, key_sentences
from services.historian.core.rules.steps import steps
from services.historian.core.rules.tiers import ReadUnit, tiers
from services.historian.core.rules.todos import TaskPlan, plans
from services.historian.core.rules.work import UnitWork, common_root, work
from services.historian.core.rules.work_units import WorkUnit, work_units
from services.historian.core.summary import TITLE, CompartmentDraft, Observation, Summary, SummaryFact

_KINDS = {
    "bug": r"\b(?:fix\w*|bugs?|error|broken|crash\w*|regression|fails?|failing|wrong|behoben|Fehler)\b"
    r"|исправ|ошибк|修复|错误|バグ",
    "refactor": r"\b(?:refactor\w*|renam\w+|extract\w*|clean\w* ?up|dedup\w*|simplif\w+|untangle|split|umbau\w*)\b"
    r"|рефактор|重构",
    "release": r"\b(?:releases?|released|releasing|changelog|publish\w*|version bump|tag v?\d)\b|релиз|发布",
    "infra": r"\b(?:ci|workflow|docker\w*|deploy\w*|pipeline|migration|tooling|lint\w*|build system)\b|部署|деплой",
    "docs": r"\b(?:docs?|readme|documentation|document)\b|документ|文档",
    "design": r"\b(?:design|plan|architecture|proposal|approach|spec|trade-?offs?|Entwurf)\b|план|архитект|设计|方案",
    "feature": r"\b(?:add\w*|implement\w*|feature|support|creat\w+|build|new)\b|добав|реализ|添加|实现|新增|hinzu",
}
_MATCHES = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _KINDS.items()}
_DOCUMENT = re.compile(r"\.(?:md|mdx|rst|txt)$")
_INFRA = re.compile(r"(?:^|/)(?:\.github/|Dockerfile|docker-compose|Makefile|\.gitlab)|\.(?:tf|ya?ml)$")
MOST_KINDS = 2
BASE = 35
LONGEST_REQUEST = 20
"""The greatest weight of the length of a person's text."""
_DECISIVE = 2.5
"""The weight from which on a sentence counts as a decision."""


def episode(sentences: KeySentences, done: UnitWork) -> tuple[str, ...]:
    """The one or two kinds of work that most speaks for."""
    text = " ".join((*(request.text for request in sentences.asked), *(one.subject for one in done.commits)))
    report = " ".join(sentence.text for sentence in sentences.agents if sentence.last)[:2000]
    votes = {kind: 3.0 * bool(match.search(text)) + bool(match.search(report)) for kind, match in _MATCHES.items()}
    paths = [path for path, _ in done.changed]
    votes["docs"] += 4.0 * bool(paths and all(_DOCUMENT.search(path) for path in paths))
    votes["infra"] += 2.0 * any(_INFRA.search(path) for path in paths)
    votes["feature"] += 2.0 * bool(done.made)
    votes["bug"] += 1.0 * any(run.before and not run.error for run in done.runs)
    is_work = bool(paths or done.commits)
    if not is_work:
        votes = {kind: vote if kind in {"design", "infra", "release"} else vote - 3.0 for kind, vote in votes.items()}
        votes["investigation"] = 2.0 + bool(done.read)
    ranked = sorted(votes, key=lambda kind: -votes[kind])
    return tuple(kind for kind in ranked[:MOST_KINDS] if votes[kind] >= max(2.0, votes[ranked[0]] * 0.7)) or (
        "feature" if is_work else "investigation",
    )


def importance(sentences: KeySentences, done: UnitWork) -> int:
    """1 to 100: rules, decisions, commits and what was overcome raise it; that nothing came of it lowers it."""
    decisions = sum(sentence.weight >= _DECISIVE for sentence in sentences.agents)
    score = (
        BASE
        + min(24, 6 * sum(request.rule for request in sentences.asked))
        + min(LONGEST_REQUEST, sum(len(request.text) for request in sentences.asked) // 100)
        + min(12, 6 * len(done.commits))
        + min(12, 2 * decisions)
        + min(8, 2 * len(done.changed))
        + min(6, 3 * sum(bool(run.before or run.error) for run in done.runs))
    )
    if not done.changed and not done.commits:
        score -= 10
    if not sentences.asked and not sentences.agents:
        score -= 10
    return max(5, min(95, score))


SHORT = 60
"""Characters of a request of which a unit is only a part."""
SHORTEST_REQUEST = 14
"""UTF-8 bytes of a request that is more than `yes, do that`."""
PART = 90
"""Characters of a sentence that can be a title."""
EMPTY = "Nothing was said or done"


def requests(sentences: KeySentences) -> list[str]:
    """A person's request, where it can be recognised."""
    return [one for one in sentences.openings if len(one.encode()) >= SHORTEST_REQUEST]


def title(sentences: KeySentences, done: UnitWork, plan: TaskPlan, before: str) -> str:
    """The request; for a unit without one its result, or how it continued the request `before`."""
    lead = f"{beginning(before, SHORT).rstrip(' :.')}: " if before else ""
    on = _best(sentences) or _files(done) or _looked(done)
    candidates = (
        next(iter(requests(sentences)), ""),
        _result(sentences, done, plan),
        f"{lead}{on}" if on else "",
        next(iter(sentences.openings), ""),
        sentences.first,
        EMPTY,
    )
    plain = (unposed(text).strip(" :\uff1a") for text in candidates)
    return beginning(next(text for text in plain if text), TITLE)


def _result(sentences: KeySentences, done: UnitWork, plan: TaskPlan) -> str:
    """The result: a commit, a finished task or a report."""
    subject = next((one.subject for one in reversed(done.commits) if one.subject), "")
    tasks = "; ".join((plan.done or plan.active)[:2])
    return subject or tasks or next((one.text for one in _informative(sentences) if one.last), "")


def _best(sentences: KeySentences) -> str:
    """The most informative sentence, in a few words."""
    short = [one for one in _informative(sentences) if len(one.text) <= PART]
    return max(short, key=lambda one: one.weight + len(one.text) / PART).text if short else ""


def _informative(sentences: KeySentences) -> list[KeySentence]:
    plain = [one for one in sentences.agents if not one.head and one.weight > 1]
    return [
        one
        for one in plain
        if not (phrase_patterns.ANNOUNCEMENT.search(one.text) or phrase_patterns.DOING.search(one.text))
    ]


def _files(done: UnitWork) -> str:
    files = ", ".join(base(path) for path, _ in done.changed[:3])
    return f"work on {files}" if files else ""


def _looked(done: UnitWork) -> str:
    """The files that were read or the command that was run, where nothing else came of it."""
    if done.read:
        return f"Read {', '.join(map(base, done.read[:3]))}"
    return f"Ran {done.runs[0].command}" if done.runs else ""


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
