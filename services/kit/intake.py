"""The intake of a room: a durable consumer, a session's messages in order, one place that acknowledges."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from schemas.codec import Malformed
from schemas.streams import Stream
from schemas.subjects import Address, BadSubject
from services.kit import metrics
from services.kit.bus import BrokerError, Delivery, Lag, Missing, Pull, TooLarge, Unreachable
from services.kit.outcome import Done, Later, Outcome, Refused
from services.kit.room import Kit

Work = Callable[[Address, "deque[Delivery]"], Awaitable[None]]
"""Works through a session's queue until it is empty; it settles each message, or says that it is broken."""


class Intake:
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
    ) -> None:
        """`credit`: messages fetched and not yet settled. `filters`: subjects; none: the whole stream.

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
        self._queues: dict[Address, deque[Delivery]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_hand: dict[int, Delivery] = {}
        self._pull: Pull | None = None

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
        self._kit.stack.push_async_callback(self._close, asyncio.create_task(self._beat()))

    async def _make_consumer(self) -> None:
        await self._kit.bus.consumer(
            self._stream.name,
            self._durable,
            ack_wait=self._kit.settings.loop.ack_wait,
            max_ack_pending=2 * self._credit,
            filters=self._filters,
        )

    async def _was_in_hand(self) -> bool:
        lag = await self._kit.bus.lag(self._stream.name, self._durable)
        return lag is not None and lag.in_hand > 0

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
        lag = await self._kit.bus.lag(self._stream.name, self._durable)
        return not self._in_hand and lag == Lag(0, 0)

    @property
    def in_hand(self) -> int:
        return len(self._in_hand)

    def _arrived(self, delivery: Delivery) -> None:
        self._in_hand[id(delivery)] = delivery
        metrics.IN_HAND.labels(self._kit.room).set(len(self._in_hand))
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

    async def broken(self, delivery: Delivery, error: Exception) -> None:
        """An attempt failed: try again after a while, and at the last attempt give up with the reason."""
        settings = self._kit.settings.loop
        attempt = delivery.metadata.num_delivered or 1
        if isinstance(error, Unreachable):
            self._kit.log.warning("put off", subject=delivery.subject, reason=str(error))
            await self.settle(delivery, Later(settings.backoff))
        elif isinstance(error, Malformed | Missing | TooLarge):
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
                    await self._kit.bus.bury(self._kit.room, self._stream.name, delivery, reason)
                    await delivery.term()
        except Exception as error:  # noqa: BLE001 - the message comes again, and others must go on
            self._kit.log.warning("could not acknowledge", subject=delivery.subject, reason=str(error))
        self._in_hand.pop(id(delivery), None)
        metrics.IN_HAND.labels(self._kit.room).set(len(self._in_hand))
        if self._pull is not None:
            self._pull.finished(1)
