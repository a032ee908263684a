"""Waiting for facts of the log: who waits is woken when one is published, by the project that it is of."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from schemas.subjects import Address, BadSubject, parse_log
from services.kit.bus import Bus

PAUSES = tuple(0.005 * 2**number for number in range(12))
"""Seconds after which the log is read again once a fact was heard of, about 20 in all: the broker passes a message on
before it is stored, so that whoever is woken may be earlier than the log."""

LONGEST = 10.0
"""Seconds after which the log is read in any case: a follower hears of a fact once at most."""


class FactWaiter:
    """One who waits."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()
        self._pauses: Iterator[float] = iter(())

    def wake(self) -> None:
        """Something was published, and is in the log now or soon."""
        self._pauses = iter(PAUSES)
        self._woken.set()

    async def wait(self, until: float) -> None:
        """Return when the log is to be read again, or at this time of the loop's clock.

        Whoever reads before the first call misses nothing: what was published meanwhile counts.
        """
        pause = 0.0 if self._woken.is_set() else next(self._pauses, LONGEST)
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(min(until, now + pause)):
                await self._woken.wait()
        except TimeoutError:
            return
        finally:
            self._woken.clear()


class FactWatch:
    """Follows the facts on some subjects, whoever publishes them, and wakes who waits for those of a project."""

    def __init__(self, bus: Bus, facts: str, heard: Callable[[Address, str], None] = lambda *_: None) -> None:
        """`heard`: is given the address and the type of each fact, before anybody is woken."""
        self._bus = bus
        self._facts = facts
        self._heard = heard
        self._waiting: defaultdict[str, set[FactWaiter]] = defaultdict(set)
        self._opening: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """The number of waiters."""
        return sum(map(len, self._waiting.values()))

    async def open(self) -> None:
        """Listen from here on; more than once is once. Where that fails, the next one who opens it tries again."""
        if self._opening is None or _has_failed(self._opening):
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        await self._bus.follow(self._facts, self._published)
        self._bus.on_reconnect.append(self._reconnected)

    @contextmanager
    def waiter(self, project: str) -> Iterator[FactWaiter]:
        """A new waiter for the facts of a project, from here on."""
        waiter = FactWaiter()
        self._waiting[project].add(waiter)
        try:
            yield waiter
        finally:
            self._waiting[project].discard(waiter)
            if not self._waiting[project]:
                del self._waiting[project]

    def wake_all(self) -> None:
        """Wake all who wait."""
        for waiting in self._waiting.values():
            for waiter in waiting:
                waiter.wake()

    def _published(self, subject: str) -> None:
        try:
            address, event_type = parse_log(subject)
        except BadSubject:
            return
        self._heard(address, event_type)
        for waiter in self._waiting.get(address.project, ()):
            waiter.wake()

    async def _reconnected(self) -> None:
        """Wake all waiters: facts that were published meanwhile were missed."""
        self.wake_all()


def _has_failed(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
