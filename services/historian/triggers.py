"""Triggers of history jobs: a session is looked at, and what is due for it is requested or given up."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from msgspec.structs import replace

from schemas.commands import Command, MemoryPropose, ProfileObserve
from schemas.envelope import Actor, Envelope
from schemas.events import (
    Event,
    FactExtracted,
    HistoryAbandoned,
    HistoryOrdered,
    HistoryRequested,
    ObservationRecorded,
    SessionIdled,
    StepOpened,
    UsageSampled,
)
from schemas.subjects import Address, parse_log
from services.domain import learned_limits
from services.domain.draft import Draft
from services.domain.limits import Limits as PlanLimits
from services.domain.outcome import Done
from services.domain.project_settings import with_own
from services.domain.window import Learned
from services.historian.core.context_pressure import HistoryLimits
from services.historian.core.inheritance import inherited
from services.historian.core.state import HistorianSession
from services.historian.core.summary import TRAIT
from services.historian.core.triggers import due
from services.kit.aggregate import Aggregate
from services.kit.bus import Delivery, Unreachable
from services.kit.cache import Sessions
from services.kit.commands import send
from services.kit.consumer import fact_of, log_consumer
from services.kit.nouns import SettingsReader
from services.kit.pacing import Pacing
from services.kit.projector import QUIET
from services.kit.room import Kit

CALLING: tuple[type[Event], ...] = (
    StepOpened,
    UsageSampled,
    SessionIdled,
    HistoryOrdered,
    FactExtracted,
    ObservationRecorded,
)
"""The events that a session is looked at after."""
COUNTS_ALONE = {FactExtracted.TYPE, ObservationRecorded.TYPE, HistoryOrdered.TYPE}
"""Those that no newer one replaces: two have a content to read, and an order ends the delay of a look."""
MOST_PUT_OFF = 30.0
"""The most seconds until a session is looked at again. History is written long before it is needed."""


class Triggers:
    """Looks at a session whenever something happened to it that may call for a job."""

    def __init__(
        self,
        kit: Kit,
        sessions: Aggregate[HistorianSession],
        plan: PlanLimits,
        limits: HistoryLimits,
        settings: SettingsReader,
    ) -> None:
        self._kit = kit
        self._sessions = sessions
        self._plan = plan
        self._limits = limits
        self._settings = settings
        self._pacing = Pacing(MOST_PUT_OFF)
        self._learned = Sessions(kit.reader, learned_limits.evolve, Learned(), 1)
        self._consumer = log_consumer(kit, CALLING, self._work)

    async def open(self) -> None:
        await self._consumer.open()

    async def idle(self) -> bool:
        return await self._consumer.idle()

    async def _work(self, address: Address, queue: "deque[Delivery]") -> None:
        """Look at a session once for all that happened to it meanwhile. What a person ordered is not put off."""
        began = time.monotonic()
        while (pause := self._pause(address, queue)) > 0:
            await asyncio.sleep(pause)
            await self._settle_superseded(queue)
            began = time.monotonic()
        deliveries = [queue.popleft() for _ in range(len(queue))]
        try:
            await self.look(address)
            for envelope, event in map(fact_of, deliveries):
                if isinstance(event, FactExtracted | ObservationRecorded):
                    await propose(self._kit, envelope, event, await self._settings.of(envelope.project))
        except Exception as error:  # noqa: BLE001 - it concerns this session only
            for delivery in deliveries:
                await self._consumer.broken(delivery, error)
            return
        for delivery in deliveries:
            await self._consumer.settle(delivery, Done())
        self._pacing.done(address, began, time.monotonic())

    def _pause(self, address: Address, queue: "deque[Delivery]") -> float:
        """Seconds until it is to be seen again whether this session has its turn; 0: it has."""
        if self._consumer.closing or self._consumer.quiet >= QUIET:
            return 0.0
        if any(_type(delivery) == HistoryOrdered.TYPE for delivery in queue):
            return 0.0
        return min(self._pacing.wait(address, time.monotonic()), QUIET)

    async def _settle_superseded(self, queue: "deque[Delivery]") -> None:
        """Settle what only calls for a look, but for the newest: one look is for all, and others have room to come."""
        calls = [delivery for delivery in queue if _type(delivery) not in COUNTS_ALONE]
        for delivery in calls[:-1]:
            queue.remove(delivery)
            await self._consumer.settle(delivery, Done())

    async def look(self, address: Address) -> None:
        """Write what is due, until nothing is: behind a rebuild that is given up, a job may have waited."""
        state = await self._sessions.newest(address)
        if await self._inherit(address, state):
            state = await self._sessions.newest(address)
        learned, own = await self.learned(), await self._settings.of(address.project)
        plan, limits = with_own(self._plan, own), with_own(self._limits, own)

        def found(state: HistorianSession) -> HistoryRequested | HistoryAbandoned | None:
            state = replace(state, learned=state.learned.with_shared(learned))
            return due(state, plan, limits, now=datetime.now(UTC))

        while (event := found(state)) is not None:
            await self._write(address, event.run, partial(_again, event, found))
            state = await self._sessions.newest(address)

    async def _inherit(self, address: Address, state: HistorianSession, heirs: tuple[str, ...] = ()) -> bool:
        """Give a copy the compartments of its origin, before anything is compressed in it. Copies of copies wait.

        Returns whether something may have been written.
        """
        if not state.copied or state.has_own_history or address.session in heirs:
            return False
        origin = Address(address.project, state.origin)
        await self._inherit(origin, await self._sessions.newest(origin), (*heirs, address.session))
        known = await self._sessions.newest(origin)
        await self._write(address, state.origin, lambda now: inherited(now, known, address))
        return True

    async def _write(self, address: Address, cause: str, decide: Callable[[HistorianSession], Sequence[Event]]) -> None:
        """Write what is decided at the head of the log."""

        async def decided(draft: Draft[HistorianSession]) -> None:
            draft.record(*decide(draft.state))

        actor = Actor("room", self._kit.room)
        await self._sessions.handle(address, decided, cause=cause, at=datetime.now(UTC), actor=actor)

    async def learned(self) -> Learned:
        """The limits of models that all sessions have learned, up to now."""
        entry = await self._learned.get(learned_limits.GLOBAL)
        await self._learned.catch_up(entry)
        return entry.state


def _again(wanted: Event, found: Callable[[HistorianSession], Event | None], now: HistorianSession) -> Sequence[Event]:
    """The event that was found to be due, if it still is."""
    return [wanted] if found(now) == wanted else []


def _type(delivery: Delivery) -> str:
    return parse_log(delivery.subject)[1]


async def propose(
    kit: Kit, envelope: Envelope, event: FactExtracted | ObservationRecorded, own: Mapping[str, object]
) -> None:
    """Propose what was found, if its project has a memory; `own`: what that has set for itself.

    The same envelope again is the same proposal. Raises `Unreachable` where the desk could not decide on it.
    """
    command = _command(envelope, event)
    if command is None or not with_own(kit.settings.memory, own).enabled:
        return
    answer = await send(kit.bus, Address(envelope.project), command, name=envelope.id, actor=Actor("room", kit.room))
    if answer.again:
        raise Unreachable(f"the desk did not decide on a proposal: {answer.text}")
    if not answer.ok:
        kit.log.warning("what was found was not proposed", session=envelope.session, reason=answer.text)


def _command(envelope: Envelope, event: FactExtracted | ObservationRecorded) -> Command | None:
    """The proposal; none of an observation that is not about a person, or not in words of their own."""
    if isinstance(event, FactExtracted):
        return MemoryPropose(event.category, event.text, envelope.session, tuple(event.evidence), event.run)
    if event.kind != TRAIT or not event.words:
        return None
    return ProfileObserve(event.words, envelope.session, envelope.seq, event.first, event.last)
