"""Makes facts of a summary: what is published of it, when a job is done, and what a failure means."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256

import msgspec

from schemas.codec import derived_id
from schemas.events import (
    CompartmentSealed,
    Event,
    FactExtracted,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryFailed,
    HistoryReplaced,
    HistoryRequested,
    ObservationRecorded,
)
from schemas.subjects import Address
from services.domain.compartments import AHEAD
from services.domain.conversation import Conversation, Message
from services.domain.jobs import JobFailed, failure
from services.domain.texts.bounds import bounded
from services.domain.texts.clean import cleaned
from services.domain.texts.content import RecordedMessage
from services.domain.texts.own import own_lines
from services.domain.texts.sentences import alike, words
from services.domain.tokens import tokens
from services.domain.transcript import reader
from services.domain.transcript.reader import Chunk
from services.historian.core.rules.facts import AGAIN, stated_rules
from services.historian.core.state import REBUILD, RESCORE, HistorianSession
from services.historian.core.summary import TRAIT, CompartmentDraft, Observation, Summary

LOOK_AHEAD = 2
"""Messages behind a compartment from which on its end is certain."""
WHOLE = frozenset({AHEAD, "force", "wrapup", REBUILD})
"""Reasons for which even a topic that may go on is compressed to the end of the range."""
UNCOUNTED = frozenset({"no_eligible", "aborted", "stale_fingerprint"})
"""Failures that are nobody's fault: the range may be requested again at once."""
OF_WORK = frozenset({"causal_incident", "open_question"})
"""The kinds of observations that are about the work, and not about a person."""


class SignedSummary(msgspec.Struct, frozen=True):
    """A summary and who wrote it."""

    summary: Summary
    source: str
    seconds: float = 0.0


def fingerprint(conversation: Conversation, first: int, last: int) -> str:
    """Of the messages of a range as they are known now: places, ids and digests of their contents."""
    digest = sha256()
    for message in conversation.after(first - 1):
        if message.ordinal > last:
            break
        parts = [(name, part.recorded.digest) for name, part in conversation.sent_parts(message)]
        digest.update(msgspec.json.encode((message.ordinal, message.recorded.message, parts)))
    return digest.hexdigest()


def published(
    session: HistorianSession, request: HistoryRequested, address: Address, chunk: Chunk, written: SignedSummary
) -> list[Event]:
    """The facts of a summary. The end of the chunk is provisional: its topic may go on behind it.

    A new generation holds once it covers all of its range: what a summary leaves out is the next part of its job.
    Each part covers at least one message more, so that this ends.
    """
    summary = written.summary
    is_anew = is_another_generation(session, request)
    is_end = not unread(session, request, chunk.last)
    drafts = _certain(summary.compartments, chunk, whole=is_end and (is_anew or request.reason in WHOLE))
    last = drafts[-1].last
    rest = unread(session, request, last)
    is_last = not rest if is_anew else is_end
    events: list[Event] = [_sealed(draft, request, address, chunk, written.source) for draft in drafts]
    events += _observed(summary, last, request, chunk, is_subagent=session.is_subagent)
    events.append(
        HistoryAdvanced(
            run=request.run,
            generation=request.generation,
            first=drafts[0].first,
            last=last,
            done=is_last,
            ended=chunk.ended if last == chunk.last else "partial",
            tokens_in=sum(_raw(session.conversation, draft) for draft in drafts),
            tokens_out=sum(tokens(len(draft.p1.encode())) for draft in drafts),
            left=sum(message.tokens for message in rest),
            seconds=round(written.seconds, 3),
        )
    )
    if is_last and is_anew:
        events.append(_promoted(session, request, last, len(drafts)))
    return events


def is_another_generation(session: HistorianSession, request: HistoryRequested) -> bool:
    """Whether a job makes compartments in the place of those that are in force."""
    return request.generation != session.history.generation


def unread(session: HistorianSession, request: HistoryRequested, behind: int) -> Sequence[Message]:
    """The messages of a job's range that stand behind this ordinal."""
    return [message for message in session.conversation.after(behind) if message.ordinal <= request.last]


def closing(session: HistorianSession, request: HistoryRequested) -> list[HistoryAdvanced | HistoryReplaced]:
    """The end of a job that has published everything but that."""
    last = session.reached
    done = HistoryAdvanced(run=request.run, generation=request.generation, first=last + 1, last=last)
    return [done, _promoted(session, request, last, 0)] if is_another_generation(session, request) else [done]


def abandoned(request: HistoryRequested, reason: str) -> HistoryAbandoned:
    return HistoryAbandoned(run=request.run, generation=request.generation, reason=reason)


def _certain(drafts: Sequence[CompartmentDraft], chunk: Chunk, *, whole: bool) -> Sequence[CompartmentDraft]:
    """Without the last one where what follows may belong to it; one is always left, so that there is progress."""
    behind = sum(ordinal > drafts[-1].last for ordinal, _ in chunk.ordinals)
    return drafts if whole or len(drafts) == 1 or behind > LOOK_AHEAD else drafts[:-1]


def _sealed(
    draft: CompartmentDraft, request: HistoryRequested, address: Address, chunk: Chunk, source: str
) -> CompartmentSealed:
    inside = [one for one in chunk.recorded if draft.first <= one.ordinal <= draft.last]
    times = [one.at for one in inside if one.at is not None]
    first, last = inside[0].message, inside[-1].message
    return CompartmentSealed(
        compartment=derived_id("compartment", address.project, address.session, str(request.generation), first),
        run=request.run,
        generation=request.generation,
        first=draft.first,
        last=draft.last,
        first_message=first,
        last_message=last,
        messages=len(inside),
        title=draft.title,
        episode=list(draft.episode),
        importance=draft.importance,
        p1=draft.p1,
        p2=draft.p2,
        p3=draft.p3,
        p4=draft.p4,
        anchors=list(draft.anchors),
        names=list(draft.names),
        began=min(times, default=None),
        ended=max(times, default=None),
        tokens=reader.cost(inside),
        source=source,
        fingerprint=chunk.fingerprint,
    )


def _observed(
    summary: Summary, last: int, request: HistoryRequested, chunk: Chunk, *, is_subagent: bool
) -> Iterator[Event]:
    """The facts and observations that what is published shows, up to this message.

    What only messages behind it show is found again with them. In the session of a sub-agent no person has written
    anything, and it may not write to the project's memory: nothing is published but what is about its work.
    """
    for fact in () if is_subagent else summary.facts:
        evidence = [ordinal for ordinal in fact.evidence if ordinal <= last]
        if evidence or not fact.evidence:
            yield _fact(fact.category, fact.text, evidence, request)
    for one in summary.observations:
        if one.first <= last and (one.kind in OF_WORK or not is_subagent):
            yield _observation(one, min(one.last, last), request, chunk)


def _observation(one: Observation, last: int, request: HistoryRequested, chunk: Chunk) -> ObservationRecorded:
    """An observation up to this message; one about a person with their own sentence, if there is one."""
    inside = [message for message in chunk.recorded if one.first <= message.ordinal <= last]
    own = own_sentence(one.text, inside) if one.kind == TRAIT else ""
    return ObservationRecorded(run=request.run, kind=one.kind, text=one.text, first=one.first, last=last, words=own)


def _fact(category: str, text: str, evidence: Sequence[int], request: HistoryRequested) -> FactExtracted:
    identity = derived_id("fact", category, " ".join(text.lower().split()))
    return FactExtracted(fact=identity, run=request.run, category=category, text=text, evidence=list(evidence))


def _raw(conversation: Conversation, draft: CompartmentDraft) -> int:
    return sum(message.tokens for message in conversation.after(draft.first - 1) if message.ordinal <= draft.last)


def _promoted(session: HistorianSession, request: HistoryRequested, last: int, made: int) -> HistoryReplaced:
    """A new generation holds from here on. Its range ends earlier where its last messages were deleted meanwhile."""
    staged = session.history.staged.get(request.generation, ())
    return HistoryReplaced(
        run=request.run,
        generation=request.generation,
        first=request.first,
        last=last,
        compartments=len(staged) + made,
    )


def failure_facts(
    session: HistorianSession, request: HistoryRequested, code: str, detail: str, *, now: datetime, jitter: float
) -> list[HistoryFailed | HistoryReplaced | HistoryAbandoned]:
    """The end of a job that did not succeed. `jitter`: from 0.8 to 1.2, so that not all try again at once."""
    end = _failure(session, request, code, now=now, jitter=jitter)
    events: list[HistoryFailed | HistoryReplaced | HistoryAbandoned] = [
        HistoryFailed(run=end.name, code=code, detail=detail, failures=end.failures, retry_at=end.retry_at)
    ]
    if is_another_generation(session, request):
        events.append(_salvaged(session, request, detail or code))
    return events


def _failure(
    session: HistorianSession, request: HistoryRequested, code: str, *, now: datetime, jitter: float
) -> JobFailed:
    """The effect of a failure on the next job: one that judges says nothing of those that compress."""
    jobs = session.jobs
    if request.reason == RESCORE:
        return JobFailed(request.run, jobs.failures, jobs.retry_at)
    if code in UNCOUNTED:
        return JobFailed(request.run, jobs.failures, None)
    return failure(jobs, request.run, now=now, jitter=jitter)


def _salvaged(session: HistorianSession, request: HistoryRequested, reason: str) -> HistoryReplaced | HistoryAbandoned:
    """The end of a failed generation: it counts where it ends as a compartment in force does, and else is lost."""
    staged = session.history.staged.get(request.generation, ())
    last = staged[-1].last if staged else 0
    if last and any(one.last == last for one in session.history.sealed):
        return HistoryReplaced(
            run=request.run, generation=request.generation, first=request.first, last=last, compartments=len(staged)
        )
    return abandoned(request, f"the run failed: {reason}")


def own_sentence(trait: str, recorded: Iterable[RecordedMessage]) -> str:
    """The sentence of a person that has most words of a trait; empty: they typed none that says about the same.

    What a model writes of a person may come from anywhere: an output, a file, a page. So it counts only where the
    person typed a rule in about the same words, and then as they typed it. What was pasted or quoted, what the harness
    does not vouch for, and what an agent has written is left out.
    """
    wanted = words(trait)
    found = [(alike(words(sentence), wanted), sentence) for sentence in _typed_rules(recorded)]
    share, sentence = max(found, key=lambda one: one[0], default=(0.0, ""))
    return sentence if share >= AGAIN else ""


def _typed_rules(recorded: Iterable[RecordedMessage]) -> Iterator[str]:
    """The rules that a person typed, in their order."""
    for message in recorded:
        if message.role != "user" or message.synthetic or message.is_task:
            continue
        for piece in message.pieces:
            if piece.kind == "text" and piece.is_typed and not (piece.ignored or piece.synthetic):
                yield from stated_rules("\n".join(own_lines(bounded(cleaned(piece.words)))))
