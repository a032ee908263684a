"""The answer to `ask.transform`: wait for the step, decide, append, and only then reply."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from schemas.asks import Plan, TransformAsk
from schemas.codec import decode_event, encode
from schemas.envelope import Actor
from schemas.events import DocumentCaptured, PartRecorded, PlanRebased
from schemas.plan import Revision
from schemas.streams import BODIES
from schemas.subjects import Address
from services.domain.draft import Draft
from services.domain.learned_limits import GLOBAL
from services.domain.limits import Limits, MemoryLimits
from services.domain.newest import NewestMap
from services.domain.project_settings import with_own
from services.kit import metrics
from services.kit.aggregate import Aggregate
from services.kit.bus import Bodies, Conflict, Missing, Unconfirmed, Unreachable
from services.kit.cache import Entry
from services.kit.command_queue import PATIENCE, HandledCommand
from services.kit.retry import retrying
from services.kit.room import Kit
from services.kit.turns import Expired, Queue, ReplacedByNewer
from services.memory.remembered import Remembered
from services.plan.head.documents import Document, at_the_head
from services.plan.head.last_session import left_open
from services.plan.lanes import View
from services.plan.lanes.base import PendingSettings
from services.plan.lanes.hint_decisions import hits_of
from services.plan.lanes.note_reminder import status_of
from services.plan.planner.forks import decide
from services.plan.planner.plan import Pass
from services.plan.provider_rules.signed_thinking import is_withheld
from services.plan.session.predecessor import Predecessor
from services.plan.session.state import Session, served_tokens
from services.responder.answers.base import PLANS, Question, in_force, remembered_of, settings_of
from services.responder.hinting import Hinting
from services.responder.new_sessions import NewSessions
from services.responder.projections.documents import DOCUMENTS, CapturedDocument
from services.responder.projections.folds import LEARNED_LIMITS, PROFILES, SESSION
from services.responder.session_cache import SessionCache, SessionOwners, Steps

replace = msgspec.structs.replace

MOST_TEXTS, MOST_PROJECTS = 256, 1_000
"""Texts of documents, of at most 100 KiB each, and projects whose limits are remembered."""
MAX_REPLY_BYTES = 700 * 1024
"""The most edits, as JSON, in one reply; the rest is asked for again."""


class OwnLimits(NamedTuple):
    """The installation's limits with a project's own settings."""

    limits: Limits
    memory: MemoryLimits


class Transformer:
    """Makes and serves the plans. What was served is in the log before it is served."""

    def __init__(
        self,
        kit: Kit,
        cache: SessionCache,
        steps: Steps,
        limits: Limits,
        queue: Queue | None = None,
        new_sessions: NewSessions | None = None,
        hinting: Hinting | None = None,
        owners: SessionOwners | None = None,
    ) -> None:
        """`queue`: where plans wait for their turn; None: one that nobody else sees.

        `new_sessions`: what looks for the session before a new one; None: it is looked for when a session asks.
        `hinting`: the searches for what persons write; None: no plan waits for one.
        `owners`: what waits until it is recorded whose session it is; None: no plan waits for it.
        """
        self._kit = kit
        self._cache = cache
        self._steps = steps
        self._plans = Aggregate.fed(kit, cache.states(SESSION), guard="plan")
        self._limits = limits
        self._queue = Queue(PLANS) if queue is None else queue
        self._new_sessions = NewSessions(kit, cache) if new_sessions is None else new_sessions
        self._hinting = hinting
        self._owners = owners
        self._bodies = Bodies(kit.bus, BODIES)
        self._texts_read = NewestMap[tuple[str, str], Document](MOST_TEXTS)
        """Project and path -> the newest version that was read."""
        self._own_limits = NewestMap[str, tuple[Mapping[str, object], OwnLimits]](MOST_PROJECTS)
        """Project -> what it had set when it was asked for last, and what holds with it."""

    async def answer(self, ask: TransformAsk) -> Plan:
        deadline = time.monotonic() + ask.deadline_ms / 1000
        address = Address(ask.project, ask.session)
        entry = await self._cache.entry(SESSION, address)
        if not await self._steps.read(entry, ask.step, max(0.0, deadline - time.monotonic())):
            self._queue.count(ask.NAME, "expired")
            return Plan("late", revision=entry.state.revision, reason=f"the step {ask.step} was not read in time")
        if entry.state.step is not None and entry.state.step.step == ask.step and not entry.state.step.aligned:
            return Plan("resync", reason="the list of messages is not the one the log knows: send all of it")
        await self._new_sessions.ready(address, entry.state, deadline - time.monotonic())
        if self._owners is not None:
            await self._owners.ready(address, entry.state, deadline - time.monotonic())
        if self._hinting is not None:
            await self._hinting.ready(address, deadline - time.monotonic())
        try:
            async with self._queue.turn(ask.NAME, key=address, until=deadline):
                return await self._made(entry, ask, deadline)
        except (Expired, ReplacedByNewer) as error:
            return Plan("late", revision=entry.state.revision, reason=str(error))

    async def _made(self, entry: Entry[Session], ask: TransformAsk, deadline: float) -> Plan:
        """The plan of a step that was read."""
        try:
            async for attempt in retrying(Unconfirmed, seconds=max(0.0, deadline - time.monotonic())):
                with attempt:
                    handled = await self._advance(entry.address, entry.state, ask.step, deadline)
        except (Conflict, Unreachable) as error:
            return Plan("failed", revision=entry.state.revision, reason=f"the plan could not be stored: {error}")
        state, made = handled.state, handled.result
        if made is None:
            self._queue.count(ask.NAME, "expired")
            return Plan("late", revision=state.revision, reason="the asker has stopped listening")
        metrics.PASSES.labels(made.kind).inc()
        base = max(0, ask.base_revision)
        if is_withheld(state, base):
            made = Pass("replay", notices=made.notices, is_full=made.is_full)
            return _reply(state, made, base, base)
        return _reply(state, made, base, state.revision)

    async def _advance(
        self, address: Address, state: Session, step: str, deadline: float
    ) -> HandledCommand[Session, Pass | None]:
        """Bring the plan up to this step, unless the asker no longer listens: what nobody gets is not served."""

        async def decide(draft: Draft[Session]) -> Pass | None:
            if draft.state.step is None or draft.state.step.step != step:
                return Pass("replay")
            if time.monotonic() > deadline:
                return None
            made = await self._decide(address, draft.state)
            for fault in made.faults:
                self._kit.log.error("left out of the plan", session=address.session, fault=fault)
            if made.events and time.monotonic() > deadline:
                return None
            draft.record(*made.events)
            return made

        if state.calls.at is None:
            raise ValueError("a plan is made for a step, and there is none")
        actor = Actor("room", self._kit.room)
        return await self._plans.handle(address, decide, cause=step, at=state.calls.at, actor=actor, patience=PATIENCE)

    async def _decide(self, address: Address, state: Session) -> Pass:
        """Decide; where a lane wants to see texts that memory does not hold, with these."""
        then, now = await self._own(address.project, state)
        remembered, coming = await self._remembered(address.project, then), None
        if now != then:
            coming = PendingSettings(now.limits, now.memory, await self._remembered(address.project, now))
        view = View(
            state,
            then.limits,
            documents=await self._documents(address.project, (then, now)),
            remembered=remembered,
            memory=then.memory,
            predecessor=self._predecessor(address, state, remembered),
            coming=coming,
            profile=(await self._cache.state(PROFILES, GLOBAL)).of_session(address),
            name=address.session,
            notes=status_of(state, remembered, address.session),
            learned=await self._cache.state(LEARNED_LIMITS, GLOBAL),
            hits=tuple(hits_of(state.hint)),
            least=self._kit.settings.search.hint_score,
        )
        origin = await self._origin(address, state)
        made = decide(view, origin)
        while made.needs:  # first of what is new, and then of what a rebase changes
            known = view.index if origin is not None else made.index
            view = replace(view, texts={**view.texts, **await self._texts(state, made.needs)}, index=known)
            made = decide(view, origin)
        return made

    def _predecessor(self, address: Address, state: Session, remembered: Remembered) -> Predecessor:
        """The open end of the session before this one, for the first plan of a session; later on its plan has it."""
        found = None if state.revision or state.heritage.copied else self._new_sessions.before(address)
        if found is None or state.calls.at is None:
            return Predecessor()
        name, last = found
        return left_open(last, remembered, name, state.calls.at)

    async def _own(self, project: str, state: Session) -> tuple[OwnLimits, OwnLimits]:
        """The limits that apply to a session now, and those from its next rebase on.

        It goes on under what its project had set when its prompt was written last: at its first call, or at the newest
        rebase that has taken in what was set then.
        """
        own = await settings_of(self._cache, project)
        settings, newest = in_force(own, state), own.at(state.seq)
        now = self._with(project, newest)
        return (now if settings is newest else self._with(project, settings)), now

    def _with(self, project: str, settings: Mapping[str, object]) -> OwnLimits:
        """The limits with these settings: made once as long as they hold, since many paths may have to be read."""
        limits = self._own_limits.get(project)
        if limits is None or limits[0] is not settings:
            memory = self._kit.settings.memory
            limits = settings, OwnLimits(with_own(self._limits, settings), with_own(memory, settings))
            self._own_limits[project] = limits
        return limits[1]

    async def _documents(self, project: str, own: Iterable[OwnLimits]) -> tuple[Document, ...]:
        """The documents that may be at the head, with the texts: these are read once for each version."""
        known = await self._cache.state(DOCUMENTS, Address(project))
        found = []
        for one in known.among(path for limits, _ in own for path in at_the_head(limits)):
            document = self._texts_read.get((project, one.path))
            if document is None or document.seq != one.seq:
                text = await self._document(one) if one.digest else ""
                document = Document(one.path, one.digest, text or "", one.seq)
                if text is not None:
                    self._texts_read[project, one.path] = document
            found.append(document)
        return tuple(found)

    async def _remembered(self, project: str, own: OwnLimits) -> Remembered:
        """The project's memory; nothing where memory is off."""
        if not own.memory.enabled:
            return Remembered()
        return await remembered_of(self._cache, project)

    async def _document(self, captured: CapturedDocument) -> str | None:
        """Its text; none where the log does not give it now."""
        if captured.text_ref:
            return await self._body(captured.text_ref)
        envelope = await self._kit.reader.at(captured.seq)
        event = decode_event(envelope) if envelope else None
        return event.text if isinstance(event, DocumentCaptured) else None

    async def _origin(self, address: Address, state: Session) -> Session | None:
        """The session that this one is a copy of, until its own plan records what it takes over."""
        if not state.heritage.copied or state.revision:
            return None
        return await self._cache.state(SESSION, Address(address.project, state.heritage.origin))

    async def _texts(self, state: Session, names: Sequence[str]) -> dict[str, str]:
        """The pristine texts and outputs of parts, from the log. One that cannot be had is empty: left alone."""
        found = await asyncio.gather(*(self._text(state.conversation.parts[name].seq) for name in names))
        return dict(zip(names, found, strict=True))

    async def _text(self, seq: int) -> str:
        envelope = await self._kit.reader.at(seq)
        event = decode_event(envelope) if envelope else None
        if not isinstance(event, PartRecorded):
            return ""
        reference = event.output_ref or event.text_ref
        return (await self._body(reference) or "") if reference else (event.output or event.text)

    async def _body(self, reference: str) -> str | None:
        """A long text; none where it is stored no more: a plan is made without it."""
        try:
            return await self._bodies.get(reference)
        except Missing as error:
            self._kit.log.warning("left out of the plan", reason=str(error))
            return None


def _reply(state: Session, made: Pass, base: int, newest: int) -> Plan:
    revisions = [state.revisions.made[number] for number in range(base + 1, newest + 1)]
    page = _page(revisions)
    return Plan(
        "ready",
        pass_="rebase" if any(revision.causes for revision in revisions) else made.kind,
        revision=page[-1].revision if page else newest,
        revisions=tuple(page),
        more=len(page) < len(revisions),
        tokens_before=state.conversation.tokens,
        tokens_after=served_tokens(state),
        notices=tuple(_notices(made)),
        full=made.is_full,
    )


def _notices(made: Pass) -> Iterator[str]:
    """Notices for the person, and the answer to one who asked for a flush."""
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


TRANSFORM = Question(
    TransformAsk,
    lambda context: (
        Transformer(
            context.kit,
            context.cache,
            context.steps,
            context.limits,
            context.plans,
            context.new_sessions,
            context.hinting,
            context.owners,
        ).answer
    ),
    lambda reason: Plan("failed", reason=reason),
)
