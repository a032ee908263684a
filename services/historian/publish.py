"""From a summary to facts: what is published of it, when a run is done, and what a failure means."""

from collections.abc import Sequence
from datetime import datetime, timedelta
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
from services.historian.drafts import Draft, Summary
from services.historian.state import REBUILD, RESCORE, Session
from services.kit.conversation import Conversation
from services.kit.history.reader import Chunk
from services.kit.tokens import tokens

LOOK_AHEAD = 2
"""Messages behind a compartment from which on its end is certain."""
WHOLE = frozenset({"force", "wrapup", REBUILD})
"""Reasons for which even a topic that may go on is compressed to the end of the range."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(minutes=30)
UNCOUNTED = frozenset({"no_eligible", "aborted", "stale_fingerprint"})
"""Failures that are nobody's fault: the range may be requested again at once."""


class Written(msgspec.Struct, frozen=True):
    """A summary and who wrote it."""

    summary: Summary
    source: str
    seconds: float = 0.0


def fingerprint(talk: Conversation, first: int, last: int) -> str:
    """Of the messages of a range as they are known now: places, ids and digests of their contents."""
    digest = sha256()
    for message in talk.after(first - 1):
        if message.ordinal > last:
            break
        parts = [(name, part.recorded.digest) for name, part in talk.sent_parts(message)]
        digest.update(msgspec.json.encode((message.ordinal, message.recorded.message, parts)))
    return digest.hexdigest()


def published(
    session: Session, request: HistoryRequested, address: Address, chunk: Chunk, written: Written
) -> list[Event]:
    """What becomes of a summary. The end of the chunk is provisional: its topic may go on behind it."""
    behind = [message for message in session.talk.after(chunk.last) if message.ordinal <= request.last]
    is_last = not behind
    summary = written.summary
    drafts = _certain(summary.compartments, chunk, whole=is_last and request.reason in WHOLE)
    last = drafts[-1].last
    events: list[Event] = [_sealed(draft, request, address, chunk, written.source) for draft in drafts]
    events += [
        _fact(fact.category, fact.text, fact.evidence, request)
        for fact in summary.facts
        if all(ordinal <= last for ordinal in fact.evidence)
    ]
    events += [
        ObservationRecorded(run=request.run, kind=one.kind, text=one.text, first=one.first, last=one.last)
        for one in summary.observations
        if one.last <= last
    ]
    left = sum(message.tokens for message in session.talk.after(last) if message.ordinal <= request.last)
    events.append(
        HistoryAdvanced(
            run=request.run,
            generation=request.generation,
            first=drafts[0].first,
            last=last,
            done=is_last,
            ended=chunk.ended if last == chunk.last else "partial",
            tokens_in=sum(_raw(session.talk, draft) for draft in drafts),
            tokens_out=sum(tokens(len(draft.p1.encode())) for draft in drafts),
            left=left,
            seconds=round(written.seconds, 3),
        )
    )
    if is_last and request.generation != session.history.generation:
        events.append(_promoted(session, request, last, len(drafts)))
    return events


def closing(session: Session, request: HistoryRequested) -> list[Event]:
    """The end of a run that has published everything but that."""
    last = session.reached
    done = HistoryAdvanced(run=request.run, generation=request.generation, first=last + 1, last=last)
    if request.generation == session.history.generation:
        return [done]
    return [done, _promoted(session, request, last, 0)]


def _certain(drafts: Sequence[Draft], chunk: Chunk, *, whole: bool) -> Sequence[Draft]:
    """Without the last one where what follows may belong to it; one is always left, so that there is progress."""
    behind = sum(ordinal > drafts[-1].last for ordinal, _ in chunk.ordinals)
    return drafts if whole or len(drafts) == 1 or behind > LOOK_AHEAD else drafts[:-1]


def _sealed(draft: Draft, request: HistoryRequested, address: Address, chunk: Chunk, source: str) -> CompartmentSealed:
    inside = [one for one in chunk.said if draft.first <= one.ordinal <= draft.last]
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
        tokens=sum(
            tokens(len(piece.text.encode()) + len(piece.input.encode()) + len(piece.output.encode()))
            for one in inside
            for piece in one.pieces
        ),
        source=source,
        fingerprint=chunk.fingerprint,
    )


def _fact(category: str, text: str, evidence: Sequence[int], request: HistoryRequested) -> FactExtracted:
    identity = derived_id("fact", category, " ".join(text.lower().split()))
    return FactExtracted(fact=identity, run=request.run, category=category, text=text, evidence=list(evidence))


def _raw(talk: Conversation, draft: Draft) -> int:
    return sum(message.tokens for message in talk.after(draft.first - 1) if message.ordinal <= draft.last)


def _promoted(session: Session, request: HistoryRequested, last: int, made: int) -> Event:
    """A new generation holds from here on, if it covers all of what it was made for."""
    staged = session.history.staged.get(request.generation, ())
    if last != request.last:
        reason = f"it covers the messages up to {last}, and not all up to {request.last}"
        return HistoryAbandoned(run=request.run, generation=request.generation, reason=reason)
    return HistoryReplaced(
        run=request.run,
        generation=request.generation,
        first=request.first,
        last=last,
        compartments=len(staged) + made,
    )


def failed(
    session: Session, request: HistoryRequested, code: str, detail: str, *, now: datetime, jitter: float
) -> list[Event]:
    """The end of a run that did not succeed. `jitter`: from 0.8 to 1.2, so that not all try again at once."""
    is_counted = code not in UNCOUNTED and request.reason != RESCORE
    held = session.retry_at if request.reason == RESCORE else None
    failures = session.failures + is_counted
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** max(0, failures - 1)) * jitter
    events: list[Event] = [
        HistoryFailed(
            run=request.run,
            code=code,
            detail=detail,
            failures=failures,
            retry_at=now + pause if is_counted else held,
        )
    ]
    if request.generation != session.history.generation:
        events.append(_salvaged(session, request, detail or code))
    return events


def _salvaged(session: Session, request: HistoryRequested, reason: str) -> Event:
    """What is made of a generation holds where it ends together with a compartment in force; else nothing of it."""
    staged = session.history.staged.get(request.generation, ())
    last = staged[-1].last if staged else 0
    if last and any(one.last == last for one in session.history.sealed):
        return HistoryReplaced(
            run=request.run, generation=request.generation, first=request.first, last=last, compartments=len(staged)
        )
    return HistoryAbandoned(run=request.run, generation=request.generation, reason=f"the run failed: {reason}")
