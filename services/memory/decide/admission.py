"""The admission of a candidate: the gate, the policy, its twins in the book, and then a place in it.

A judgement precedes the facts that it leads to. So what is cut short behind it is known to be unfinished, and
deciding again yields the rest: the book is as it was but for the judgement.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from msgspec.structs import replace

from schemas.events import Event, MemoryJudged, MemoryProposed, MemoryReinforced, MemoryRevised, MemoryWritten
from services.domain.decision import Decision
from services.domain.senders import PEOPLE
from services.memory.book import Book
from services.memory.decide.answers import REPORT, judgement_answer
from services.memory.decide.candidate import Candidate, waiting_where_risky
from services.memory.decide.context import BookContext, FirstHead
from services.memory.decide.ids import candidate_id, memory_id
from services.memory.decide.policy import action_of
from services.memory.decide.words import gate_verdict, rejecting
from services.memory.entry import Judgement, Memory
from services.memory.gate.verdict import Verdict, is_report
from services.memory.keys import exact_key, identity_key
from services.memory.policy import FIXED
from services.memory.state import source_key
from services.memory.strength import SOURCE_OF, SOURCE_PRIORITY, renewal

MOST_ATTEMPTS = 3
"""The most attempts of a candidate that was asked for while the policy refuses it."""
MUCH_LONGER = 10
"""Characters by which one of two texts about the same thing must be longer to say more."""

Events = tuple[MemoryJudged, *tuple[Event, ...]] | tuple[()]
"""A judgement and what it leads to; nothing: there is nothing left to judge."""


def admit(book: Book, candidate: Candidate, context: BookContext) -> Decision:
    """Judge a candidate, and enter it where it is taken in. One that was judged before is not judged again."""
    candidate = waiting_where_risky(_weighed(candidate))
    twin = _twin(book, candidate)
    if twin is not None and any(source.session in candidate.family for source in twin.sources):
        return Decision(ok=True, text=f"{twin.id} was seen before this session became a copy of another one.")
    events = partial(_events, book, candidate, twin, context)
    return judged_once(book, candidate.id, context, events, words=candidate.text)


def _weighed(candidate: Candidate) -> Candidate:
    """A person's request to remember the state of the work (`fixed it`) weighs little, and does not go before rules."""
    if candidate.trust not in PEOPLE or candidate.importance != "normal" or candidate.verdict is not None:
        return candidate
    return (
        replace(candidate, importance="low", codes=(*candidate.codes, REPORT))
        if is_report(candidate.text)
        else candidate
    )


def judged_once(
    book: Book, name: str, context: BookContext, judge: Callable[[], Events], *, words: str = ""
) -> Decision:
    """Judge the candidate of this id, unless it was judged before; of what was cut short write the rest."""
    known = book.candidates.get(name)
    is_cut = known is not None and context.cause in book.unfinished
    if known is not None and not is_cut:
        return judgement_answer(book, known, seq=known.seq, words=words)
    events = judge()
    if not events:
        return judgement_answer(book, Judgement("exhausted", "", MOST_ATTEMPTS, 0, ("policy",)))
    judged, *rest = events
    judgement = Judgement(judged.verdict, judged.memory, judged.attempt, 0, tuple(judged.reasons))
    return judgement_answer(book, judgement, events=rest if is_cut else events, words=words)


def _events(book: Book, candidate: Candidate, twin: Memory | None, context: BookContext) -> Events:
    reasons = _reasons(book, candidate)
    if reasons:
        return (candidate.judged("rejected", reasons=reasons),)
    action = action_of(book, candidate.trust)
    if action == "refused":
        return _refused(book, candidate)
    if twin is None:
        return _entered(book, candidate, context, action)
    if reason := _no_sighting(candidate, twin, context):
        return (candidate.judged("absorbed", twin.id, (reason,)),)
    if twin.is_active:
        return _absorbed(candidate, twin, context, action)
    if twin.status == "pending" or (twin.status == "expired" and _may_hold(candidate, twin, action)):
        return _waiting(book, candidate, twin, context, action)
    return candidate.judged("absorbed", twin.id, (twin.status,)), _sighting(candidate, twin)


def _no_sighting(candidate: Candidate, twin: Memory, context: BookContext) -> str:
    """The reason why a candidate is no evidence for the memory that has its words: `shown` or `reread`; empty: it is.

    What a session repeats of its own head is no new sighting. People repeat what they mean, whatever they saw.
    """
    if candidate.trust in PEOPLE:
        return ""
    if _was_read(candidate, twin):
        return "reread"
    return "shown" if twin.is_active and _was_shown(twin, context.head) else ""


def _was_read(candidate: Candidate, twin: Memory) -> bool:
    """Whether it was read off messages that it was read off before: their history is made anew."""
    evidence = set(candidate.evidence)
    return any(one.session == candidate.origin and not evidence.isdisjoint(one.evidence) for one in twin.sources)


def _was_shown(twin: Memory, head: FirstHead | None) -> bool:
    return head is not None and (twin.id in head.memories or twin.facts[0] > head.position)


def _reasons(book: Book, candidate: Candidate) -> tuple[str, ...]:
    """The reasons why it is rejected: those of the gate, or that nothing is taken from where it comes from."""
    sources = (
        ("session", candidate.origin),
        ("message", candidate.message),
        ("run", candidate.run),
        ("actor", candidate.source),
    )
    if any(value and source_key(kind, value) in book.quarantines for kind, value in sources):
        return ("quarantined",)
    if candidate.verdict is not None:
        return candidate.verdict.reasons
    return rejecting(_gate(candidate), candidate.trust)


def _gate(candidate: Candidate) -> Verdict:
    return candidate.verdict or gate_verdict(candidate.text, candidate.place.memory_class, candidate.trust)


def _noted(candidate: Candidate) -> tuple[str, ...]:
    """The notes on a candidate that is taken in: the reasons that do not reject it, and its own codes."""
    return *_gate(candidate).reasons, *candidate.codes


def _refused(book: Book, candidate: Candidate) -> Events:
    """The judgement of a candidate that the policy refuses: it may be tried again where somebody asked for it."""
    if not candidate.is_asked:
        return (candidate.judged("rejected", reasons=("policy",)),)
    known = book.candidates.get(_asked_again(candidate))
    attempt = known.attempt + 1 if known else 1
    if attempt > MOST_ATTEMPTS:
        return ()
    verdict = "exhausted" if attempt == MOST_ATTEMPTS else "retrying"
    return (candidate.judged(verdict, reasons=("policy",), name=_asked_again(candidate), attempt=attempt),)


def _asked_again(candidate: Candidate) -> str:
    """The id of a candidate that is refused: the same for the same words from the same session."""
    return candidate_id(f"{candidate.trust}/{candidate.origin}", candidate.text)


def _twin(book: Book, candidate: Candidate) -> Memory | None:
    """The memory that has these words now, whatever its status."""
    key = exact_key(candidate.place.memory_class, candidate.text)
    memory = book.memories.get(book.exact.get(key) or "")
    return memory if memory is not None and exact_key(memory.memory_class, memory.text) == key else None


def _entered(book: Book, candidate: Candidate, context: BookContext, action: str) -> Events:
    """A memory that is new: it holds, or it waits. Of two about the same thing the better one holds."""
    name = memory_id(book.memories, candidate.place.memory_class, candidate.text)
    if not _may_hold(candidate, None, action):
        return candidate.judged("held", name, _noted(candidate)), proposal_of(candidate, name)
    rival = rival_of(book, candidate, name)
    if rival is not None and rival.id not in candidate.supersedes and not _is_better(candidate, rival):
        return _absorbed(candidate, rival, context, action, ("identity",))
    return candidate.judged("accepted", name, _noted(candidate)), memory_of(book, candidate, name, context)


def _waiting(book: Book, candidate: Candidate, twin: Memory, context: BookContext, action: str) -> Events:
    """The same waits or has expired: it is taken up, if it may hold by now."""
    if not _may_hold(candidate, twin, action):
        return candidate.judged("absorbed", twin.id, (twin.status,)), _sighting(candidate, twin)
    rival = rival_of(book, candidate, twin.id)
    if rival is not None and rival.id not in candidate.supersedes and not _is_better(candidate, rival):
        return _absorbed(candidate, rival, context, action, ("identity",))
    return candidate.judged("accepted", twin.id), memory_of(book, candidate, twin.id, context)


def _may_hold(candidate: Candidate, twin: Memory | None, action: str) -> bool:
    seen = {source.session for source in twin.sources} if twin else set()
    return action == "applied" and not candidate.needs_approval and len(seen | {candidate.origin}) >= candidate.sessions


def rival_of(book: Book, candidate: Candidate, name: str) -> Memory | None:
    """The active memory about the same thing in other words. Two sentences of people both stay."""
    key = identity_key(candidate.place.memory_class, candidate.text)
    memory = book.memories.get(book.identities.get(key) or "")
    if memory is None or not memory.is_active or memory.id == name:
        return None
    if identity_key(memory.memory_class, memory.text) != key:
        return None  # it was about that, and says something else by now
    return None if {memory.trust, candidate.trust} <= PEOPLE else memory


def _is_better(candidate: Candidate, rival: Memory) -> bool:
    """Whether it takes the place of a memory about the same thing: better sourced, or saying more, or newer."""
    if rival.is_pinned:
        return False
    of_candidate, of_rival = _priority(candidate.trust), _priority(rival.trust)
    if of_candidate != of_rival:
        return of_candidate > of_rival
    return len(candidate.text) >= len(rival.text) - MUCH_LONGER


def _absorbed(
    candidate: Candidate, twin: Memory, context: BookContext, action: str, reasons: tuple[str, ...] = ()
) -> Events:
    """It is seen again, and from now on as well sourced as its best source."""
    judged = candidate.judged("absorbed", twin.id, reasons)
    effect = "" if candidate.trust == FIXED else effect_on(twin, context)
    seen = _sighting(candidate, twin, effect)
    if reasons or action != "applied" or _priority(candidate.trust) <= _priority(twin.trust):
        return judged, seen
    better = MemoryRevised(
        memory=twin.id,
        category=twin.category,
        text=twin.text,
        importance=twin.importance,
        origin=candidate.origin,
        trust=candidate.trust,
        memory_class=twin.memory_class,
    )
    return judged, better, seen


def effect_on(memory: Memory, context: BookContext) -> str:
    """The effect of a sighting on the fading of a memory, in the word of its fact."""
    return renewal(memory.reinforced, memory.reinforced_at, context.at)


def _priority(trust: str) -> int:
    return SOURCE_PRIORITY.get(SOURCE_OF.get(trust, ""), 0)


def _sighting(candidate: Candidate, twin: Memory, effect: str = "") -> MemoryReinforced:
    return MemoryReinforced(
        memory=twin.id,
        origin=candidate.origin,
        evidence=list(candidate.evidence),
        message=candidate.message,
        effect=effect,
    )


def proposal_of(candidate: Candidate, name: str) -> MemoryProposed:
    """The candidate as a proposal."""
    return MemoryProposed(
        memory=name,
        category=candidate.place.category,
        text=candidate.text,
        origin=candidate.origin,
        evidence=list(candidate.evidence),
        source=candidate.source,
        trust=candidate.trust,
        importance=candidate.importance,
        message=candidate.message,
        run=candidate.run,
        memory_class=candidate.place.memory_class,
        supersedes=list(candidate.supersedes),
    )


def memory_of(book: Book, candidate: Candidate, name: str, context: BookContext) -> MemoryWritten:
    """The candidate as a memory that holds, in the place of what it corrects and of what is about the same."""
    days = candidate.place.expires_after_days
    rival = rival_of(book, candidate, name)
    named = (*candidate.supersedes, *((rival.id,) if rival else ()))
    superseded = [other for other in dict.fromkeys(named) if other in book.memories and book.memories[other].is_active]
    return MemoryWritten(
        memory=name,
        category=candidate.place.category,
        text=candidate.text,
        trust=candidate.trust,
        importance=candidate.importance,
        origin=candidate.origin,
        message=candidate.message,
        run=candidate.run,
        evidence=list(candidate.evidence),
        source=candidate.source,
        supersedes=superseded,
        expires_at=context.at + timedelta(days=days) if days is not None else None,
        memory_class=candidate.place.memory_class,
    )
