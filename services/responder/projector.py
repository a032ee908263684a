"""The projector: reads the log in order, into the hot states at once and into the store batch by batch.

It owns its position. On start, after a break or at any irregularity it puts its consumer back behind what the store
has committed; the consumer's own acknowledgements serve only the operators' view of its lag.
"""

import asyncio
from collections.abc import Callable

import msgspec

from schemas.codec import Malformed, decode_envelope, decode_event
from schemas.envelope import Envelope
from schemas.events import Event
from schemas.streams import LOG
from services.kit import metrics
from services.kit.bus import BrokerError, Delivery, Pull
from services.kit.room import Kit
from services.responder.store import Store

ACK_WAIT = 300.0
CREDIT = 4
"""Batches under way at most."""

Fact = tuple[Envelope, Event | None]


class Projector:
    """One reader of the whole log for one store."""

    def __init__(self, kit: Kit, store: Store, durable: str, hot: Callable[[Envelope, Event | None], None]) -> None:
        self._kit = kit
        self._store = store
        self._durable = durable
        self._hot = hot
        self._batch: list[Fact] = []
        self._last: Delivery | None = None
        self._read = store.committed
        self._expected = 0
        self._arrived_more = asyncio.Event()
        self._committing = asyncio.Lock()
        self._committed_more = asyncio.Condition()
        self._restarting: asyncio.Task[None] | None = None
        self._pull = Pull(
            kit.bus,
            LOG.name,
            durable,
            credit=CREDIT * kit.settings.views.batch,
            deliver=self._arrived,
            rewind=self._rewind,
            make=self._make_consumer,
        )

    @property
    def read_through(self) -> int:
        return self._read

    async def open(self) -> None:
        await self._make_consumer()
        await self._pull.start()
        committer = asyncio.create_task(self._commit_for_ever())
        self._kit.stack.push_async_callback(self._close, committer)

    async def _make_consumer(self) -> None:
        await self._kit.bus.consumer(
            LOG.name,
            self._durable,
            ack_wait=ACK_WAIT,
            max_ack_pending=2 * CREDIT * self._kit.settings.views.batch,
            ack_all=True,
        )

    async def _close(self, committer: asyncio.Task[None]) -> None:
        await self._pull.stop()
        committer.cancel()
        async with self._committing:
            await self._commit()

    async def _rewind(self) -> None:
        """Put the consumer right behind what is committed."""
        async with self._committing:
            self._batch.clear()
            self._last = None
            await self._kit.bus.rewind(LOG.name, self._durable, self._store.committed + 1)
            self._expected = 1
            self._read = self._store.committed
            metrics.RESETS.inc()

    def _arrived(self, delivery: Delivery) -> None:
        metadata = delivery.metadata
        if metadata.sequence.consumer != self._expected or metadata.num_delivered != 1:
            self._begin_anew()
            return
        self._expected += 1
        envelope, event = self._decoded(delivery, metadata.sequence.stream)
        self._read = envelope.seq
        self._hot(envelope, event)
        self._batch.append((envelope, event))
        self._last = delivery
        self._arrived_more.set()

    def _begin_anew(self) -> None:
        """Something is missing or comes again: read on from what is committed."""
        if self._restarting is None or self._restarting.done():
            self._restarting = asyncio.create_task(self._restart())

    async def _restart(self) -> None:
        try:
            await self._pull.restart()
        except BrokerError as error:
            self._kit.log.warning("the projector could not go back", reason=str(error) or type(error).__name__)

    def _decoded(self, delivery: Delivery, seq: int) -> Fact:
        """The fact at this position; one that cannot be read is set aside, and its position still counts."""
        try:
            envelope = decode_envelope(delivery.data)
            envelope = msgspec.structs.replace(envelope, seq=seq)
            event = decode_event(envelope)
        except Malformed as error:
            metrics.POISON.inc()
            asyncio.get_running_loop().create_task(self._set_aside(delivery, seq, str(error)))
            return _nothing(seq), None
        if event is None:
            metrics.UNKNOWN.labels(self._kit.room, envelope.type).inc()
        return envelope, event

    async def _set_aside(self, delivery: Delivery, seq: int, reason: str) -> None:
        self._kit.log.error("cannot be read, set aside", subject=delivery.subject, seq=seq, reason=reason)
        await self._kit.bus.bury(self._kit.room, LOG.name, delivery, reason)

    async def _commit_for_ever(self) -> None:
        """Commit what has come, a moment after its first fact; checkpoint when nothing comes.

        The moment lets the answer that the facts are for go first: a commit and it would share one interpreter.
        """
        settings = self._kit.settings.views
        dirty = False
        while True:
            try:
                async with asyncio.timeout(settings.checkpoint_idle if dirty else None):
                    await self._arrived_more.wait()
            except TimeoutError:
                await self._store.duck.checkpoint()
                dirty = False
                continue
            if len(self._batch) < settings.batch:
                await asyncio.sleep(settings.linger)
            async with self._committing:
                self._arrived_more.clear()
                await self._commit()
            dirty = True

    async def _commit(self) -> None:
        batch, last = self._batch, self._last
        if not batch or last is None:
            return
        self._batch, self._last = [], None
        facts = [(envelope, event) for envelope, event in batch if event is not None]
        await self._store.commit(facts, batch[-1][0].seq)
        metrics.COMMITTED.set(self._store.committed)
        self._pull.finished(len(batch))
        try:
            await last.ack()
        except BrokerError as error:
            self._kit.log.debug("could not acknowledge", reason=str(error))
        async with self._committed_more:
            self._committed_more.notify_all()

    async def committed(self, seq: int, timeout: float) -> bool:  # noqa: ASYNC109 - a missed deadline is an answer
        """Wait until this position is in the views."""
        try:
            async with asyncio.timeout(timeout), self._committed_more:
                await self._committed_more.wait_for(lambda: self._store.committed >= seq)
        except TimeoutError:
            return False
        return True


def _nothing(seq: int) -> Envelope:
    """The place of a fact that cannot be read."""
    return msgspec.structs.replace(_EMPTY, seq=seq)


_EMPTY = decode_envelope(
    b'{"id":"","type":"","at":"1970-01-01T00:00:00Z","project":"","session":"","actor":{"kind":"room"},"data":null}'
)
