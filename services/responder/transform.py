"""The answer to `ask.transform`: wait for the step, decide, append, and only then reply."""

import time
from collections.abc import Iterator, Sequence

from schemas.asks import Plan, TransformAsk
from schemas.codec import encode
from schemas.envelope import Actor
from schemas.events import PlanRebased
from schemas.plan import Revision
from schemas.subjects import Address
from services.kit import metrics
from services.kit.bus import Conflict, Unreachable
from services.kit.cache import Entry
from services.kit.decide import envelopes
from services.kit.room import Kit
from services.responder.hot import Hot
from services.responder.limits import Limits
from services.responder.plan import Pass, decide
from services.responder.state import Session, evolve

ATTEMPTS = 4
MAX_REPLY_BYTES = 700 * 1024
"""The most edits, as JSON, in one reply; the rest is asked for again."""


class Transformer:
    """Makes and serves the plans. What was served is in the log before it is served."""

    def __init__(self, kit: Kit, hot: Hot, limits: Limits) -> None:
        self._kit = kit
        self._hot = hot
        self._limits = limits

    async def answer(self, ask: TransformAsk) -> Plan:
        deadline = time.monotonic() + ask.deadline_ms / 1000
        entry = await self._hot.entry(Address(ask.project, ask.session))
        if not await self._hot.step(entry, ask.step, max(0.0, deadline - time.monotonic())):
            return Plan("late", revision=entry.state.revision, reason=f"the step {ask.step} was not read in time")
        if entry.state.step is not None and entry.state.step.step == ask.step and not entry.state.step.aligned:
            return Plan("resync", reason="the list of messages is not the one the log knows: tell all of it")
        try:
            made = await self._advance(entry, ask.step, deadline)
        except (Conflict, Unreachable) as error:
            return Plan("failed", revision=entry.state.revision, reason=f"the plan could not be kept: {error}")
        if made is None:
            return Plan("late", revision=entry.state.revision, reason="the asker has stopped listening")
        metrics.PASSES.labels(made.kind).inc()
        return _reply(entry.state, made, ask.base_revision)

    async def _advance(self, entry: Entry[Session], step: str, deadline: float) -> Pass | None:
        """Bring the plan up to this step, unless the asker no longer listens: what nobody gets is not served."""
        async with entry.deciding:
            for _ in range(ATTEMPTS):
                state = entry.state
                if state.step is None or state.step.step != step:
                    return Pass("replay")
                made = decide(state, self._limits)
                for fault in made.faults:
                    self._kit.log.error("left out of the plan", session=entry.address.session, fault=fault)
                if not made.events:
                    return made
                if time.monotonic() > deadline:
                    return None
                try:
                    await self._append(entry, made)
                except Conflict:
                    metrics.CONFLICTS.labels(self._kit.room).inc()
                    await self._hot.sessions.reload(entry)
                    continue
                return made
        raise Conflict("another responder keeps writing this plan")

    async def _append(self, entry: Entry[Session], made: Pass) -> None:
        step_at = entry.state.step_at
        if step_at is None:
            raise ValueError("a plan is made for a step, and there is none")
        facts = envelopes(
            made.events,
            entry.address,
            entry.subjects,
            at=step_at,
            actor=Actor("room", self._kit.room),
            cause=entry.state.step.step if entry.state.step else "",
        )
        seqs = await self._kit.appender.append(facts, entry.subjects)
        state = entry.state
        for fact, event in zip(facts, made.events, strict=True):
            state = evolve(state, event, fact)
            metrics.APPENDED.labels(self._kit.room, fact.type).inc()
        entry.take(facts, seqs, state)


def _reply(state: Session, made: Pass, base: int) -> Plan:
    revisions = [state.revisions[number] for number in range(base + 1, state.revision + 1)]
    page = _page(revisions)
    return Plan(
        "ready",
        pass_="rebase" if any(revision.causes for revision in revisions) else made.kind,
        revision=page[-1].revision if page else state.revision,
        revisions=tuple(page),
        more=len(page) < len(revisions),
        tokens_before=state.talk.tokens,
        tokens_after=max(0, state.talk.tokens - state.saved),
        notices=tuple(_notices(made)),
    )


def _notices(made: Pass) -> Iterator[str]:
    """What a person who asked for a flush is told of it."""
    for event in made.events:
        if isinstance(event, PlanRebased) and "flush" in event.causes:
            saved = event.tokens_before - event.tokens_after
            yield f"The flush was applied: about {max(0, saved):,} tokens have left the prompt."


def _page(revisions: Sequence[Revision]) -> list[Revision]:
    """As many as one reply holds, at least one."""
    page: list[Revision] = []
    size = 0
    for revision in revisions:
        size += len(encode(revision.edits))
        if page and size > MAX_REPLY_BYTES:
            break
        page.append(revision)
    return page
