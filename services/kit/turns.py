"""Turns: how many questions of one kind are answered at once, how many wait, and which of them are answered first."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from contextlib import asynccontextmanager
from typing import NamedTuple

from services.domain.fair_queue import DroppedRequest, FairQueue, Reason, Waiter
from services.kit import metrics
from services.kit.asks import Declined
from services.kit.bus import current_client

SMOOTHING = 0.1
"""Share of the newest turn in how long one is presumed to take."""


class Turns(NamedTuple):
    """The limit of questions of one kind that are answered at once, so that long ones do not delay those of models."""

    at_once: int
    waiting: int
    """The number of further questions that may wait for their turn; one beyond these is refused at once."""


class TooMany(Declined):
    """A question is refused, since so many of this kind wait already that it would wait in vain."""


class Expired(Declined):
    """Whoever asked no longer listens when the answer is there, so that none is made."""

    status = "late"


class ReplacedByNewer(Declined):
    """A newer question of the same asker makes this one useless."""

    status = "late"


class Queue:
    """The questions of one kind that wait for their turn: `domain.fair_queue` with a clock and with answers."""

    def __init__(self, turns: Turns, clock: Callable[[], float] = time.monotonic) -> None:
        self._turns = turns
        self._clock = clock
        self._waiting: FairQueue[asyncio.Future[None]] = FairQueue(turns.waiting)
        self._in_hand = 0
        self._seconds = 0.0
        """The seconds that an answer takes, smoothed."""
        self.dropped: Counter[Reason] = Counter()
        """The number of questions that were not answered, by reason."""

    def __len__(self) -> int:
        """The number of waiting requests."""
        return len(self._waiting)

    @property
    def health(self) -> dict[str, object]:
        """Requests that wait or are in hand, and those that were dropped since the start."""
        return {"waiting": len(self), "in_hand": self._in_hand, "dropped": dict(self.dropped)}

    @asynccontextmanager
    async def turn(self, name: str, *, key: Hashable = None, until: float = math.inf) -> AsyncIterator[None]:
        """Wait for a turn among other clients of the broker.

        `key`: a newer question of this client with the same key replaces this one while it waits. `until`: when the
        asker stops listening, by the clock. Raises `TooMany`, `Expired` and `ReplacedByNewer`.
        """
        await self._wait(name, key, until)
        began = self._clock()
        try:
            yield
        finally:
            self._seconds += SMOOTHING * (self._clock() - began - self._seconds)
            self._in_hand -= 1
            self._go_on(name)

    def count(self, name: str, reason: Reason) -> None:
        """Count a question that is not answered, here or by who takes turns: before one, or in its middle."""
        self.dropped[reason] += 1
        metrics.DROPPED.labels(name, reason).inc()

    async def _wait(self, name: str, key: Hashable, until: float) -> None:
        """Until a turn is ours: whoever hands it over has counted us among those in hand."""
        now = self._clock()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter = Waiter(turn, client=current_client.get(), key=key, arrived=now, until=until)
        if now >= until:
            self._drop(name, [DroppedRequest(waiter, "expired")])
        elif self._in_hand < self._turns.at_once:
            self._in_hand += 1
            return
        else:
            self._drop(name, self._waiting.add(waiter, now))
        alarm = None
        if waiter in self._waiting and until < math.inf:
            alarm = asyncio.get_running_loop().call_later(until - now, self._expire, name, waiter)
        try:
            await turn
        except asyncio.CancelledError:
            self._waiting.remove(waiter)
            if turn.done() and not turn.cancelled() and turn.exception() is None:  # it was just handed to us
                self._in_hand -= 1
                self._go_on(name)
            raise
        finally:
            if alarm is not None:
                alarm.cancel()

    def _expire(self, name: str, waiter: Waiter["asyncio.Future[None]"]) -> None:
        """Say so to one that waits still when its time is over, as where those before it take for ever."""
        if waiter in self._waiting:
            self._waiting.remove(waiter)
            self._drop(name, [DroppedRequest(waiter, "expired")])

    def _go_on(self, name: str) -> None:
        """Hand free turns to those who come next."""
        while self._in_hand < self._turns.at_once:
            waiter, dropped = self._waiting.take(self._clock(), self._seconds)
            self._drop(name, dropped)
            if waiter is None:
                return
            if not waiter.item.done():
                self._in_hand += 1
                waiter.item.set_result(None)

    def _drop(self, name: str, dropped: Iterable[DroppedRequest["asyncio.Future[None]"]]) -> None:
        for one in dropped:
            self.count(name, one.reason)
            if not one.waiter.item.done():
                one.waiter.item.set_exception(self._declined(name, one.reason))

    def _declined(self, name: str, reason: Reason) -> Declined:
        match reason:
            case "expired":
                return Expired(f"nobody would listen to the answer any more: others' {name} came first; ask again")
            case "replaced":
                return ReplacedByNewer(f"a newer {name} of the same session has come: use the answer to that one")
            case _:
                return TooMany(f"{self._turns.waiting} questions {name} wait already: ask again in a moment")
