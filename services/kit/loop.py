"""The loop of a room that turns messages into facts: read a run of a session's messages, decide, append."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Generic, Protocol, TypeVar

from schemas.envelope import Actor, Envelope
from schemas.events import Event
from schemas.streams import Stream
from schemas.subjects import Address
from services.kit import metrics
from services.kit.bus import Conflict, Delivery, Unreachable
from services.kit.cache import Entry, Evolve, Sessions
from services.kit.decide import envelopes
from services.kit.intake import Intake
from services.kit.outcome import Done, Later, Outcome
from services.kit.room import Kit

S = TypeVar("S")
T = TypeVar("T")

RUN = 64
"""The most messages of one session that are decided together."""
RUN_BYTES = 2 * 1024 * 1024
ATTEMPTS = 8
"""How often a decision is made anew when the log keeps moving, before its message is put off."""
SLICE = 0.01
"""Seconds of deciding after which other sessions get their turn."""


class Given(Protocol):
    """An input, with what the facts made of it carry on."""

    @property
    def id(self) -> str: ...
    @property
    def at(self) -> datetime: ...
    @property
    def actor(self) -> Actor: ...


G = TypeVar("G", bound=Given)


class Judgement(Generic[S, G]):
    """What a room brings to the loop: how to read an input, and what it means."""

    def __init__(
        self,
        *,
        address: Callable[[str], Address],
        prepare: Callable[[Delivery], Awaitable[G]],
        decide: Callable[[S, G], Outcome],
        evolve: Evolve[S],
        appended: Callable[[Address, G], Awaitable[None]],
    ) -> None:
        self.address = address
        self.prepare = prepare
        self.decide = decide
        self.evolve = evolve
        self.appended = appended


class Loop(Generic[S, G]):
    """Takes messages from a durable consumer, a session's in order, many sessions at once."""

    def __init__(self, kit: Kit, stream: Stream, judgement: Judgement[S, G], sessions: Sessions[S]) -> None:
        self._kit = kit
        self._judgement = judgement
        self._sessions = sessions
        self._intake = Intake(
            kit,
            stream,
            durable=kit.room,
            address=judgement.address,
            work=self._work,
            credit=kit.settings.loop.max_in_hand,
            goes_back=True,
        )

    async def open(self) -> None:
        await self._intake.open()

    async def idle(self) -> bool:
        """Whether the consumer has nothing for us and nothing is in hand."""
        return await self._intake.idle()

    @property
    def in_hand(self) -> int:
        return self._intake.in_hand

    async def _work(self, address: Address, queue: "deque[Delivery]") -> None:
        """Work through the next run of a session's queue."""
        letters = await self._read(_take_run(queue))
        if letters:
            await self._conclude(address, letters)

    async def _reaching(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try until the broker is there: whoever put the message off would let those behind it go first."""
        while True:
            try:
                return await attempt()
            except Unreachable as error:
                self._kit.log.warning("waiting", reason=str(error))
                await asyncio.sleep(self._kit.settings.loop.backoff)

    async def _read(self, run: list[Delivery]) -> list[tuple[Delivery, G]]:
        """Those of a run that can be read, with what they say."""
        letters = []
        for delivery in run:
            try:
                letters.append((delivery, await self._reaching(partial(self._judgement.prepare, delivery))))
            except Exception as error:  # noqa: BLE001 - it concerns this message only
                await self._intake.broken(delivery, error)
        return letters

    async def _conclude(self, address: Address, letters: list[tuple[Delivery, G]]) -> None:
        """Decide on all of them; where that breaks, on each alone, so that one does not hurt its neighbours."""
        try:
            outcomes = await self._reaching(partial(self._decide, address, letters))
        except Exception as error:  # noqa: BLE001 - whatever broke must not stop the session's queue
            if len(letters) > 1:
                for letter in letters:
                    await self._conclude(address, [letter])
                return
            for delivery, _ in letters:
                await self._intake.broken(delivery, error)
            return
        for (delivery, given), outcome in zip(letters, outcomes, strict=True):
            await self._finish(address, delivery, given, outcome)

    async def _finish(self, address: Address, delivery: Delivery, given: G, outcome: Outcome) -> None:
        try:
            if isinstance(outcome, Done):
                await self._judgement.appended(address, given)
        except Exception as error:  # noqa: BLE001 - its facts are written, but not all of its work is done
            await self._intake.broken(delivery, error)
        else:
            await self._intake.settle(delivery, outcome)

    async def _decide(self, address: Address, letters: list[tuple[Delivery, G]]) -> list[Outcome]:
        """Decide the whole run and append its facts at once; when the log has moved, decide again."""
        entry = await self._sessions.get(address)
        for _ in range(ATTEMPTS):
            state, facts, outcomes = await self._judge(entry, letters)
            try:
                seqs = await self._kit.appender.append(facts, entry.subjects)
            except Conflict:
                metrics.CONFLICTS.labels(self._kit.room).inc()
                await self._sessions.reload(entry)
                continue
            if facts:
                entry.take(facts, seqs, state)
                entry.own.clear()  # this room never catches up: it reloads
            for fact in facts:
                metrics.APPENDED.labels(self._kit.room, fact.type).inc()
            return outcomes
        return [Later(self._kit.settings.loop.backoff) for _ in letters]

    async def _judge(
        self, entry: Entry[S], letters: list[tuple[Delivery, G]]
    ) -> tuple[S, list[Envelope], list[Outcome]]:
        state: S = entry.state
        facts: list[Envelope] = []
        outcomes: list[Outcome] = []
        expected = dict(entry.subjects)
        began = time.monotonic()
        for _, given in letters:
            outcome = self._judgement.decide(state, given)
            outcomes.append(outcome)
            events = outcome.events if isinstance(outcome, Done) else ()
            made = self._wrap(entry.address, events, expected, given, len(facts))
            for event, envelope in zip(events, made, strict=True):
                state = self._judgement.evolve(state, event, envelope)
            facts += made
            if time.monotonic() - began > SLICE:
                await asyncio.sleep(0)
                began = time.monotonic()
        return state, facts, outcomes

    def _wrap(
        self,
        address: Address,
        events: Sequence[Event],
        expected: dict[str, int],
        given: G,
        start: int,
    ) -> list[Envelope]:
        return envelopes(events, address, expected, at=given.at, actor=given.actor, cause=given.id, start=start)


def _take_run(queue: deque[Delivery]) -> list[Delivery]:
    """The next messages of a session, as many as are well decided together."""
    run = [queue.popleft()]
    size = len(run[0].data)
    while queue and len(run) < RUN and size + len(queue[0].data) <= RUN_BYTES:
        size += len(queue[0].data)
        run.append(queue.popleft())
    return run
