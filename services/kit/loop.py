"""The loop of a room that turns messages into facts: one pipeline, one place that acknowledges, one that reports."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from schemas.codec import Malformed
from schemas.envelope import Actor, Envelope
from schemas.events import Event
from schemas.streams import Stream
from schemas.subjects import Address, BadSubject
from services.kit import metrics
from services.kit.bus import BrokerError, Conflict, Delivery, Lag, Missing, Pull, TooLarge, Unreachable
from services.kit.cache import Entry, Evolve, Sessions
from services.kit.decide import envelopes
from services.kit.outcome import Done, Later, Outcome, Refused
from services.kit.room import Kit

S = TypeVar("S")

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
        self._stream = stream
        self._judgement = judgement
        self._sessions = sessions
        self._queues: dict[Address, deque[Delivery]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_hand: dict[int, Delivery] = {}
        self._pull: Pull | None = None

    async def open(self) -> None:
        await self._make_consumer()
        self._pull = Pull(
            self._kit.bus,
            self._stream.name,
            self._kit.room,
            credit=self._kit.settings.loop.max_in_hand,
            deliver=self._arrived,
            make=self._make_consumer,
        )
        await self._pull.start()
        self._kit.stack.push_async_callback(self._close, asyncio.create_task(self._beat()))

    async def _make_consumer(self) -> None:
        settings = self._kit.settings.loop
        await self._kit.bus.consumer(
            self._stream.name,
            self._kit.room,
            ack_wait=settings.ack_wait,
            max_ack_pending=2 * settings.max_in_hand,
        )

    async def _beat(self) -> None:
        """Tell the broker of what is in hand for long, so that it does not deliver it again."""
        pause = self._kit.settings.loop.ack_wait / 3
        while True:
            held = dict(self._in_hand)
            await asyncio.sleep(pause)
            for delivery in [delivery for key, delivery in held.items() if self._in_hand.get(key) is delivery]:
                try:
                    await delivery.in_progress()
                except BrokerError as error:
                    self._kit.log.debug("no heartbeat", reason=str(error))

    async def _close(self, heart: "asyncio.Task[None]") -> None:
        """Stop the intake, finish what is in hand; what the grace period cuts off is delivered again."""
        if self._pull is not None:
            await self._pull.stop()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=self._kit.settings.loop.grace)
            for task in late:
                task.cancel()
            if late:
                self._kit.log.warning("work in hand was cut off; it will be delivered again", sessions=len(late))
        heart.cancel()

    async def idle(self) -> bool:
        """Whether the consumer has nothing for us and nothing is in hand."""
        lag = await self._kit.bus.lag(self._stream.name, self._kit.room)
        return not self._in_hand and lag == Lag(0, 0)

    @property
    def in_hand(self) -> int:
        return len(self._in_hand)

    def _arrived(self, delivery: Delivery) -> None:
        self._in_hand[id(delivery)] = delivery
        metrics.IN_HAND.labels(self._kit.room).set(len(self._in_hand))
        try:
            address = self._judgement.address(delivery.subject)
        except BadSubject as error:
            self._start(self._settle(delivery, Refused(str(error))))
            return
        queue = self._queues.get(address)
        if queue is not None:
            queue.append(delivery)
            return
        self._queues[address] = deque([delivery])
        self._start(self._work(address))

    def _start(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, address: Address) -> None:
        """Work through a session's queue, a run at a time."""
        queue = self._queues[address]
        while queue:
            run = _take_run(queue)
            letters = await self._read(run)
            if letters:
                await self._conclude(address, letters)
        del self._queues[address]

    async def _read(self, run: list[Delivery]) -> list[tuple[Delivery, G]]:
        """Those of a run that can be read, with what they say."""
        letters = []
        for delivery in run:
            try:
                letters.append((delivery, await self._judgement.prepare(delivery)))
            except Exception as error:  # noqa: BLE001 - it concerns this message only
                await self._broken(delivery, error)
        return letters

    async def _conclude(self, address: Address, letters: list[tuple[Delivery, G]]) -> None:
        """Decide on all of them; where that breaks, on each alone, so that one does not hurt its neighbours."""
        try:
            outcomes = await self._decide(address, letters)
        except Exception as error:  # noqa: BLE001 - whatever broke must not stop the session's queue
            if len(letters) > 1 and not isinstance(error, Unreachable):
                for letter in letters:
                    await self._conclude(address, [letter])
                return
            for delivery, _ in letters:
                await self._broken(delivery, error)
            return
        for (delivery, given), outcome in zip(letters, outcomes, strict=True):
            await self._finish(address, delivery, given, outcome)

    async def _finish(self, address: Address, delivery: Delivery, given: G, outcome: Outcome) -> None:
        try:
            if isinstance(outcome, Done):
                await self._judgement.appended(address, given)
        except Exception as error:  # noqa: BLE001 - its facts are written, but not all of its work is done
            await self._broken(delivery, error)
        else:
            await self._settle(delivery, outcome)

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

    async def _broken(self, delivery: Delivery, error: Exception) -> None:
        """An attempt failed: try again after a while, and at the last attempt give up with the reason."""
        settings = self._kit.settings.loop
        attempt = delivery.metadata.num_delivered or 1
        if isinstance(error, Unreachable):
            self._kit.log.warning("put off", subject=delivery.subject, reason=str(error))
            await self._settle(delivery, Later(settings.backoff))
        elif isinstance(error, Malformed | Missing | TooLarge):
            await self._settle(delivery, Refused(str(error)))
        elif attempt >= settings.max_deliver:
            self._kit.log.error("gave up", subject=delivery.subject, exc_info=error)
            await self._settle(delivery, Refused(f"failed {attempt} times: {type(error).__name__}: {error}"))
        else:
            self._kit.log.warning("failed, will try again", subject=delivery.subject, attempt=attempt, exc_info=error)
            await self._settle(delivery, Later(settings.backoff * 2 ** (attempt - 1)))

    async def _settle(self, delivery: Delivery, outcome: Outcome) -> None:
        """The one place that acknowledges. Where the broker is away the message comes again by itself."""
        metrics.OUTCOMES.labels(self._kit.room, type(outcome).__name__.lower()).inc()
        try:
            match outcome:
                case Done():
                    await delivery.ack()
                case Later(seconds=seconds):
                    await delivery.nak(delay=seconds)
                case Refused(reason=reason):
                    self._kit.log.error("dead letter", subject=delivery.subject, reason=reason)
                    await self._kit.bus.bury(self._kit.room, self._stream.name, delivery, reason)
                    await delivery.term()
        except Exception as error:  # noqa: BLE001 - the message comes again, and others must go on
            self._kit.log.warning("could not acknowledge", subject=delivery.subject, reason=str(error))
        self._in_hand.pop(id(delivery), None)
        metrics.IN_HAND.labels(self._kit.room).set(len(self._in_hand))
        if self._pull is not None:
            self._pull.finished(1)


def _take_run(queue: deque[Delivery]) -> list[Delivery]:
    """The next messages of a session, as many as are well decided together."""
    run = [queue.popleft()]
    size = len(run[0].data)
    while queue and len(run) < RUN and size + len(queue[0].data) <= RUN_BYTES:
        size += len(queue[0].data)
        run.append(queue.popleft())
    return run
