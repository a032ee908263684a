"""Timers of the log: an event that names a moment wakes its address at that moment, once, whichever process runs.

The log is what is remembered, and the broker is what waits: the event is put off until its moment and delivered to one
process then. A delivery that comes too early, since a process or the broker was started again or a clock was set, is
put off again. To be woken twice changes nothing, as long as what is woken decides on the state at the head of the log.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from schemas.events import Event
from schemas.subjects import Address
from services.domain.outcome import Done, Later, Outcome
from services.kit.bus import Delivery
from services.kit.consumer import fact_of, log_consumer
from services.kit.room import Kit

LONGEST_WAIT = timedelta(minutes=1)
"""An event is put off for so long at once at most: its moment is noticed so late where a clock was set or the machine
slept meanwhile."""

Remaining = Callable[[Event, datetime], timedelta | None]
"""The time that an event has still to wait at a moment; zero or less: it is due; None: it never is."""
Wake = Callable[[Address], Awaitable[None]]
"""The work for an address when an event of it is due. It may be done more than once."""


class Clock:
    """Wakes addresses by the events that name a moment. The consumer is called `<room>_clock`."""

    def __init__(
        self,
        kit: Kit,
        events: Sequence[type[Event]],
        remaining: Remaining,
        wake: Wake,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._remaining = remaining
        self._wake = wake
        self._now = now
        self._failures: Counter[int] = Counter()
        """Position of an event -> how often this process has failed to wake its address."""
        self._consumer = log_consumer(kit, events, self._work, durable=f"{kit.room}_clock", pending=-1, newest=True)

    async def open(self) -> None:
        await self._consumer.open()

    async def idle(self) -> bool:
        """Whether nothing is due. What waits for its moment is not."""
        return await self._consumer.idle(put_off=None)

    async def _work(self, address: Address, queue: "deque[Delivery]") -> None:
        delivery = queue.popleft()
        position = delivery.metadata.sequence.stream
        try:
            outcome = await self._look(address, delivery)
        except Exception as error:  # noqa: BLE001 - it concerns this address only
            self._failures[position] += 1
            await self._consumer.broken(delivery, error, self._failures[position])
        else:
            del self._failures[position]
            await self._consumer.settle(delivery, outcome)

    async def _look(self, address: Address, delivery: Delivery) -> Outcome:
        _, event = fact_of(delivery)
        left = self._remaining(event, self._now()) if event is not None else None
        if left is None:
            return Done()
        if left > timedelta(0):
            return Later(min(left, LONGEST_WAIT).total_seconds())
        await self._wake(address)
        return Done()
