"""The room's consumer, a session's messages in order, one place that acknowledges."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence

from schemas.codec import Malformed
from schemas.envelope import Envelope
from schemas.events import Event
from schemas.streams import LOG, Stream
from schemas.subjects import Address, BadSubject, parse_log
from services.domain.outcome import Done, Later, Outcome, Refused
from services.domain.record import read_record
from services.kit import metrics
from services.kit.background import watched
from services.kit.bus import BrokerError, Delivery, Missing, Pull, TooLarge, Unreachable
from services.kit.room import Kit

Work = Callable[[Address, "deque[Delivery]"], Awaitable[None]]
"""Works through a session's queue until it is empty; it settles each message, or reports that it is broken."""

CLEANING = 2.0
"""Seconds in which work that is cut off may clean up, while the connection is still there."""


class Consumer:
    """Takes messages from a durable consumer, a session's in order, many sessions at once."""

    def __init__(
        self,
        kit: Kit,
        stream: Stream,
        *,
        durable: str,
        address: Callable[[str], Address],
        work: Work,
        credit: int,
        filters: Sequence[str] = (),
        goes_back: bool = False,
        pending: int = 0,
        newest: bool = False,
    ) -> None:
        """`credit`: messages fetched and not yet settled. `filters`: subjects; none: the whole stream.

        `pending`: messages that may be delivered and not settled, with those that were put off; -1 is without limit.
        `newest`: of messages that are older than the consumer only the newest of each subject counts.
        `goes_back`: what a life before had in hand comes first, before what is behind it, and not when the broker has
        waited in vain: for work that must be done in order and may be done twice.
        """
        self._kit = kit
        self._stream = stream
        self._durable = durable
        self._address = address
        self._work = work
        self._credit = credit
        self._filters = filters
        self._goes_back = goes_back
        self._pending = pending or 2 * credit
        self._newest = newest
        self._queues: dict[Address, deque[Delivery]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_hand: dict[int, Delivery] = {}
        self._pull: Pull | None = None
        self._arrived_at = time.monotonic()
        self.closing = False
        """Whether the room ends: what can be cut in parts should stop behind the one in hand."""

    async def open(self) -> None:
        await self._make_consumer()
        if self._goes_back and await self._was_in_hand():
            await self._kit.bus.rewind(self._stream.name, self._durable)
        self._pull = Pull(
            self._kit.bus,
            self._stream.name,
            self._durable,
            credit=self._credit,
            deliver=self._arrived,
            make=self._make_consumer,
        )
        await self._pull.start()
        self._kit.stack.push_async_callback(self._close, watched(self._kit, self._beat()))

    async def _make_consumer(self) -> None:
        await self._kit.bus.consumer(
            self._stream.name,
            self._durable,
            ack_wait=self._kit.settings.loop.ack_wait,
            max_ack_pending=self._pending,
            filters=self._filters,
            newest=self._newest,
        )

    async def _was_in_hand(self) -> bool:
        lag = await self._kit.bus.lag(self._stream.name, self._durable)
        return lag is not None and lag.in_hand > 0

    async def _beat(self) -> None:
        """Report long work in hand to the broker, so that it does not deliver it again."""
        pause = self._kit.settings.loop.ack_wait / 3
        while True:
            started = dict(self._in_hand)
            await asyncio.sleep(pause)
            for delivery in [delivery for key, delivery in started.items() if self._in_hand.get(key) is delivery]:
                try:
                    await delivery.in_progress()
                except BrokerError as error:
                    self._kit.log.debug("no heartbeat", reason=str(error))

    async def _close(self, heart: "asyncio.Task[None]") -> None:
        """Stop fetching, finish what is in hand; what the grace period cuts off is delivered again."""
        self.closing = True
        if self._pull is not None:
            await self._pull.stop()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=self._kit.settings.loop.grace)
            for task in late:
                task.cancel()
            if late:
                self._kit.log.warning("work in hand was cut off; it will be delivered again", sessions=len(late))
                await asyncio.wait(late, timeout=CLEANING)
        heart.cancel()

    async def idle(self, *, put_off: int | None = 0) -> bool:
        """Whether the consumer has nothing for us and nothing is in hand.

        `put_off`: how many messages may wait at the broker for their time; none: any number.
        """
        lag = await self._kit.bus.lag(self._stream.name, self._durable)
        if self._in_hand or lag is None or lag.waiting:
            return False
        return put_off is None or lag.in_hand <= put_off

    @property
    def quiet(self) -> float:
        """Seconds since a message arrived."""
        return time.monotonic() - self._arrived_at

    @property
    def in_hand(self) -> int:
        return len(self._in_hand)

    def _arrived(self, delivery: Delivery) -> None:
        self._arrived_at = time.monotonic()
        self._in_hand[id(delivery)] = delivery
        metrics.IN_HAND.labels(self._kit.room).set(len(self._in_hand))
        self._queue(delivery)

    def snooze(self, delivery: Delivery, seconds: float) -> None:
        """Go on with a message after so many seconds: it stays in hand, and another one may come in its place.

        So it is not delivered again for that, and nothing counts as an attempt.
        """
        if self._pull is not None:
            self._pull.finished(1)
        asyncio.get_running_loop().call_later(seconds, self._resume, delivery)

    def _resume(self, delivery: Delivery) -> None:
        if self.closing:
            return  # it is delivered again
        if self._pull is not None:
            self._pull.resumed(1)
        self._queue(delivery)

    def _queue(self, delivery: Delivery) -> None:
        try:
            address = self._address(delivery.subject)
        except BadSubject as error:
            self._start(self.settle(delivery, Refused(str(error))))
            return
        queue = self._queues.get(address)
        if queue is not None:
            queue.append(delivery)
            return
        self._queues[address] = deque([delivery])
        self._start(self._through(address))

    def _start(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _through(self, address: Address) -> None:
        """Work through a session's queue; what arrives meanwhile belongs to it."""
        queue = self._queues[address]
        while queue:
            await self._work(address, queue)
        del self._queues[address]

    async def broken(self, delivery: Delivery, error: Exception, attempt: int = 0) -> None:
        """An attempt failed: try again after a while, and at the last attempt give up with the reason.

        `attempt`: which one it was, where not every delivery was one.
        """
        settings = self._kit.settings.loop
        attempt = attempt or delivery.metadata.num_delivered or 1
        if isinstance(error, Unreachable):
            self._kit.log.warning("put off", subject=delivery.subject, reason=str(error))
            await self.settle(delivery, Later(settings.backoff))
        elif isinstance(error, BadSubject | Malformed | Missing | TooLarge):
            await self.settle(delivery, Refused(str(error)))
        elif attempt >= settings.max_deliver:
            self._kit.log.error("gave up", subject=delivery.subject, exc_info=error)
            await self.settle(delivery, Refused(f"failed {attempt} times: {type(error).__name__}: {error}"))
        else:
            self._kit.log.warning("failed, will try again", subject=delivery.subject, attempt=attempt, exc_info=error)
            await self.settle(delivery, Later(settings.backoff * 2 ** (attempt - 1)))

    async def settle(self, delivery: Delivery, outcome: Outcome) -> None:
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
                    await self._kit.bus.dead_letter(self._kit.room, self._stream.name, delivery, reason)
                    await delivery.term()
        except Exception as error:  # noqa: BLE001 - the message comes again, and others must go on
            self._kit.log.warning("could not acknowledge", subject=delivery.subject, reason=str(error))
        self._in_hand.pop(id(delivery), None)
        metrics.IN_HAND.labels(self._kit.room).set(len(self._in_hand))
        if self._pull is not None:
            self._pull.finished(1)


def fact_of(delivery: Delivery) -> tuple[Envelope, Event | None]:
    """The fact in a message of the log. One that cannot be read is passed over, as by the readers of the log."""
    record = read_record(delivery.subject, delivery.data, delivery.metadata.sequence.stream)
    return record.envelope, record.event


def log_consumer(
    kit: Kit,
    events: Iterable[type[Event]],
    work: Work,
    *,
    durable: str = "",
    credit: int = 0,
    goes_back: bool = False,
    pending: int = 0,
    newest: bool = False,
) -> Consumer:
    """One that takes these events from the log, in order per session; it is called as the room is, or `durable`."""
    return Consumer(
        kit,
        LOG,
        durable=durable or kit.room,
        address=lambda subject: parse_log(subject)[0],
        work=work,
        credit=credit or kit.settings.loop.max_in_hand,
        filters=[f"log.*.*.*.{event.TYPE}" for event in events],
        goes_back=goes_back,
        pending=pending,
        newest=newest,
    )
