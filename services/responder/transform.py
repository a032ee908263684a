"""The answer to `ask.transform`: wait for the step, decide, append, and only then reply."""

import asyncio
import time
from collections.abc import Iterator, Sequence

import msgspec

from schemas.asks import Plan, TransformAsk
from schemas.codec import decode_event, encode
from schemas.envelope import Actor
from schemas.events import DocumentCaptured, PartRecorded, PlanRebased
from schemas.plan import Revision
from schemas.streams import BODIES
from schemas.subjects import Address
from services.kit import metrics
from services.kit.bus import Bodies, Conflict, Missing, Unreachable
from services.kit.cache import Entry
from services.kit.decide import envelopes
from services.kit.limits import Limits
from services.kit.room import Kit
from services.responder.admission import is_held_back
from services.responder.head.documents import Captured, Document, at_the_head
from services.responder.hot import Hot
from services.responder.lanes import View
from services.responder.plan import Pass, decide
from services.responder.state import Session, evolve

replace = msgspec.structs.replace

ATTEMPTS = 4
MAX_REPLY_BYTES = 700 * 1024
"""The most edits, as JSON, in one reply; the rest is asked for again."""


class Transformer:
    """Makes and serves the plans. What was served is in the log before it is served."""

    def __init__(self, kit: Kit, hot: Hot, limits: Limits) -> None:
        self._kit = kit
        self._hot = hot
        self._limits = limits
        self._bodies = Bodies(kit.bus, BODIES)
        self._documents_held: dict[tuple[str, str], Document] = {}
        """Project and path -> the newest version that was read: documents and key files are few and small."""

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
        if is_held_back(entry.state, ask.base_revision):
            made = Pass("replay", notices=made.notices)
            return _reply(entry.state, made, ask.base_revision, ask.base_revision)
        return _reply(entry.state, made, ask.base_revision, entry.state.revision)

    async def _advance(self, entry: Entry[Session], step: str, deadline: float) -> Pass | None:
        """Bring the plan up to this step, unless the asker no longer listens: what nobody gets is not served."""
        async with entry.deciding:
            for _ in range(ATTEMPTS):
                state = entry.state
                if state.step is None or state.step.step != step:
                    return Pass("replay")
                made = await self._decide(entry)
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

    async def _decide(self, entry: Entry[Session]) -> Pass:
        """Decide; where a lane wants to see texts that memory does not hold, with these."""
        state = entry.state
        view = View(
            state,
            self._limits,
            documents=await self._documents(entry.address.project),
            inherited=await self._inherited(entry),
            learned=await self._hot.learned(),
        )
        made = decide(view)
        if made.needs:
            made = decide(replace(view, texts=await self._texts(state, made.needs)))
        return made

    async def _documents(self, project: str) -> tuple[Document, ...]:
        """What may stand at the head, with the texts: these are read once for each version."""
        captured = (await self._hot.project(project)).among(at_the_head(self._limits))
        found = []
        for one in captured:
            held = self._documents_held.get((project, one.path))
            if held is None or held.seq != one.seq:
                text = await self._document(one) if one.digest else ""
                held = Document(one.path, one.digest, text or "", one.seq)
                if text is not None:
                    self._documents_held[project, one.path] = held
            found.append(held)
        return tuple(found)

    async def _document(self, captured: Captured) -> str | None:
        """Its text; none where the log does not give it now."""
        if captured.text_ref:
            return await self._body(captured.text_ref)
        envelope = await self._kit.reader.at(captured.seq)
        event = decode_event(envelope) if envelope else None
        return event.text if isinstance(event, DocumentCaptured) else None

    async def _inherited(self, entry: Entry[Session]) -> frozenset[int]:
        """What was dropped in the session that this one is a copy of, until its own plan tells that."""
        if not entry.state.origin or entry.state.revision:
            return frozenset()
        origin = await self._hot.entry(Address(entry.address.project, entry.state.origin))
        return frozenset((*origin.state.dropped, *origin.state.queued))

    async def _texts(self, state: Session, names: Sequence[str]) -> dict[str, str]:
        """The pristine texts and outputs of parts, from the log. One that cannot be had is empty: left alone."""
        found = await asyncio.gather(*(self._text(state.talk.parts[name].seq) for name in names))
        return dict(zip(names, found, strict=True))

    async def _text(self, seq: int) -> str:
        envelope = await self._kit.reader.at(seq)
        event = decode_event(envelope) if envelope else None
        if not isinstance(event, PartRecorded):
            return ""
        reference = event.output_ref or event.text_ref
        return (await self._body(reference) or "") if reference else (event.output or event.text)

    async def _body(self, reference: str) -> str | None:
        """A long text; none where it is kept no more: a plan is made without it."""
        try:
            return await self._bodies.get(reference)
        except Missing as error:
            self._kit.log.warning("left out of the plan", reason=str(error))
            return None

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


def _reply(state: Session, made: Pass, base: int, newest: int) -> Plan:
    revisions = [state.revisions[number] for number in range(base + 1, newest + 1)]
    page = _page(revisions)
    return Plan(
        "ready",
        pass_="rebase" if any(revision.causes for revision in revisions) else made.kind,
        revision=page[-1].revision if page else newest,
        revisions=tuple(page),
        more=len(page) < len(revisions),
        tokens_before=state.talk.tokens,
        tokens_after=max(0, state.talk.tokens - state.saved),
        notices=tuple(_notices(made)),
    )


def _notices(made: Pass) -> Iterator[str]:
    """What the person should know, and what one who asked for a flush is told of it."""
    yield from made.notices
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
