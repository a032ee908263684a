"""Requests in a harness's own summary: candidates, and commands about the memories that its writer was shown."""

from __future__ import annotations

from msgspec.structs import replace

from schemas.events import MemoryReinforced
from services.domain.decision import Decision
from services.memory.book import Book
from services.memory.classes import Placement
from services.memory.decide.admission import Events, admit, effect_on, judged_once
from services.memory.decide.asking import Origin
from services.memory.decide.candidate import Candidate
from services.memory.decide.context import BookContext
from services.memory.decide.ids import candidate_id
from services.memory.gate.candidate import judge_candidate
from services.memory.summaries.commands import ListedMemories, RefusedCommand, Reinforcement, check_commands
from services.memory.summaries.grammar import CandidateLine as New
from services.memory.summaries.grammar import Line, MalformedLine, MemoryBlock, Reinforce, Replace

SUMMARY = "summary"
"""The rule that found a candidate."""


def line_id(line: Line, origin: Origin) -> str:
    """The id of a line as a candidate: over its summary and its words."""
    return candidate_id(origin.holder(SUMMARY), _words(line))


def decide_line(
    book: Book, context: BookContext, *, line: Line, block: MemoryBlock, snapshot: ListedMemories | None, origin: Origin
) -> Decision:
    """The decision on a line of a summary's block. Those before it are in the book."""
    if isinstance(line, New):
        judged = judge_candidate(line.text, line.place.memory_class)
        candidate = _candidate(line, origin, judged.text, line.place)
        return admit(book, replace(candidate, verdict=judged.verdict), context)
    (found,) = check_commands(replace(block, lines=(line,)), snapshot, book.memories)
    if not isinstance(found, RefusedCommand | Reinforcement):
        candidate = _candidate(line, origin, found.text, found.place)
        return admit(book, replace(candidate, supersedes=(found.memory,), codes=found.codes), context)
    return judged_once(book, line_id(line, origin), context, lambda: _commanded(book, line, found, origin, context))


def _commanded(
    book: Book, line: Line, outcome: RefusedCommand | Reinforcement, origin: Origin, context: BookContext
) -> Events:
    candidate = _candidate(line, origin, _words(line), Placement("", "project"))
    if isinstance(outcome, RefusedCommand):
        return (candidate.judged("rejected", reasons=outcome.reasons),)
    effect = effect_on(book.memories[outcome.memory], context)
    seen = MemoryReinforced(memory=outcome.memory, origin=origin.session, message=origin.message, effect=effect)
    return candidate.judged("absorbed", outcome.memory), seen


def _candidate(line: Line, origin: Origin, text: str, place: Placement) -> Candidate:
    return Candidate(
        id=line_id(line, origin),
        text=text,
        place=place,
        trust=origin.trust,
        rule=SUMMARY,
        source=origin.source,
        origin=origin.session,
        message=origin.message,
        family=origin.family,
    )


def _words(line: Line) -> str:
    match line:
        case Reinforce(ref=ref):
            return f"REINFORCE M{ref}"
        case Replace(ref=ref, text=text):
            return f"REPLACE M{ref} {text}"
        case MalformedLine(line=words):
            return words
        case New(text=text):
            return text
