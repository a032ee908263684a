"""The lock of an erasure, on the broker: of two on one store each would copy the log that the other one deletes.

The broker stores who has it and when they last renewed it, so that clocks of machines need not agree. Whoever does not
renew it in time has it no longer, and sends nothing more: see `BusClient.may_send`.
"""

import asyncio
import json
import time
from datetime import datetime
from typing import NamedTuple

import msgspec
from nats.errors import Error as NatsError
from nats.js import api
from nats.js.errors import APIError, NotFoundError

from services.kit.bus.connection import Bus, Unreachable
from services.kit.bus.marks import NANOSECONDS, SEQUENCE, WAIT, nanoseconds, stored_at
from services.kit.bus.stream_state import NO_STREAM, stream_info
from services.kit.logs import logger

NAME = "ERASURE"
SUBJECT = "erasure.lock"
SECONDS = 60.0
"""Until a lock that is not renewed is anybody's."""
RENEWALS = 12
"""The number of renewals of the lock within `SECONDS`."""
MARGIN = 0.8
"""The part of that time after which its owner sends nothing more: what it sent last arrives before all is over."""
WRONG_LAST_SEQUENCE = 10071
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that goes on while the machine sleeps, where the system has one."""


class Owner(msgspec.Struct, frozen=True):
    """The process that erases, as the lock names it."""

    id: str
    """Of the data directory: two processes of one id never run at the same time."""
    machine: str
    pid: int
    began: datetime
    seconds: float = SECONDS
    is_in_container: bool = False
    """Whether `machine` is the name of a container, which is gone when its command has ended."""


class Lease(NamedTuple):
    """The lock as the broker has it."""

    seq: int
    owner: Owner
    age: float
    """Seconds since it was taken or renewed."""

    @property
    def left(self) -> float:
        """Seconds until it is anybody's; 0: it is."""
        return max(0.0, self.owner.seconds - self.age)

    @property
    def sentence(self) -> str:
        ended, again = "wait until it has ended", "on that machine"
        if self.owner.is_in_container:
            ended = f"{ended} (`docker ps` lists that container while it runs)"
            again = "with the same volume at its ANNALS_DATA"
        return (
            f"{describe(self.owner)} works on this broker, last seen {self.age:.0f} s ago; {ended}, "
            f"or, where it was cut off, run it again {again}, or wait for {self.left:.0f} s"
        )


def describe(owner: Owner) -> str:
    """Which erasure it is, for a person."""
    place = "in the container" if owner.is_in_container else "on"
    return f"the erasure that began {place} {owner.machine} at {owner.began:%Y-%m-%d %H:%M} UTC (pid {owner.pid})"


class NotOwned(Unreachable):
    """Another erasure has the lock, or this one has it no longer; says what to do."""


class _Moved(Exception):
    """The lock is not as it was read."""


async def lease_of(bus: Bus) -> Lease | None:
    """The lock as it is now; None: nobody has it. Raises `Unreachable`."""
    try:
        info = await stream_info(bus, NAME)
        if info.error is not None and info.error.err_code == NO_STREAM:
            return None
        newest = json.dumps({"last_by_subj": SUBJECT}).encode()
        message = await bus.client.request(f"$JS.API.DIRECT.GET.{NAME}", newest, timeout=WAIT)
    except (NatsError, TimeoutError) as error:
        raise Unreachable(f"the lock of erasures could not be read ({_reason(error)}); run this again") from error
    headers = message.headers or {}
    if SEQUENCE not in headers:
        return None
    age = (nanoseconds(info.ts) - stored_at(headers)) / NANOSECONDS  # below zero where it was renewed in between
    return Lease(int(headers[SEQUENCE]), msgspec.json.decode(message.data, type=Owner), max(0.0, age))


async def refuse_while_erasing(bus: Bus) -> None:
    """Raise `NotOwned` where an erasure works on this broker: it might miss what is written now."""
    lease = await lease_of(bus)
    if lease is not None and lease.left:
        raise NotOwned(f"no room works while {lease.sentence}")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


class ErasureLock:
    """The lock, in the hands of one process. From `take` to `release` it is renewed in the background."""

    def __init__(self, bus: Bus, owner: Owner) -> None:
        self._bus = bus
        self._owner = owner
        self._seq = 0
        self._until = 0.0
        self._renewing: asyncio.Task[None] | None = None

    async def take(self) -> Lease | None:
        """Take it; the lease of one that was cut off, if any. Raises `NotOwned` where another erasure works."""
        await self._ensure()
        while True:
            found = await lease_of(self._bus)
            if found is not None and found.left and found.owner.id != self._owner.id:
                raise NotOwned(found.sentence)
            try:
                await self._write(found.seq if found else 0)
            except _Moved:
                continue  # another one was faster, and is named in the next round
            break
        self._bus.client.may_send = self.check
        self._renewing = asyncio.create_task(self._renew())
        return found

    def check(self) -> None:
        """Raise `NotOwned` where this process may have it no longer, as when it or its machine slept."""
        if time.clock_gettime(_CLOCK) > self._until:
            raise NotOwned(
                "this erasure could not renew its lock in time, so that another one may work on this broker: it has "
                "sent nothing since; run it again"
            )

    async def release(self) -> None:
        """Give it back at once. Where that fails, it is anybody's in a while."""
        if self._renewing is None:
            return
        self._renewing.cancel()
        await asyncio.gather(self._renewing, return_exceptions=True)
        self._renewing = None
        try:
            found = await lease_of(self._bus)  # it may have been renewed in the moment in which that was broken off
            if found is not None and found.owner == self._owner:
                await self._bus.js.delete_msg(NAME, found.seq)
        except (Unreachable, NatsError, TimeoutError) as error:
            logger().info("the lock of erasures was not given back", reason=_reason(error))

    async def _ensure(self) -> None:
        config = api.StreamConfig(
            name=NAME, description="who erases", subjects=[SUBJECT], storage=api.StorageType.FILE, allow_direct=True,
            max_msgs_per_subject=1,
        )  # fmt: skip
        try:
            try:
                await self._bus.js.stream_info(NAME)
            except NotFoundError:
                await self._bus.js.add_stream(config)  # that another one was faster is as good: it is the same
        except (NatsError, TimeoutError) as error:
            raise Unreachable(f"the lock of erasures could not be made ({_reason(error)}); run this again") from error

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._owner.seconds / RENEWALS)
            try:
                await self._write(self._seq)
            except _Moved:
                self._until = 0.0
                return
            except NotOwned:
                return
            except Unreachable as error:  # it is tried until it is too late
                logger().info("the lock of erasures was not renewed", reason=str(error))

    async def _write(self, seq: int) -> None:
        """Store that it is ours from now on, where the newest lease is the one at this position. Else `_Moved`."""
        now = time.clock_gettime(_CLOCK)
        expected = {api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(seq)}
        try:
            ack = await self._bus.js.publish(SUBJECT, msgspec.json.encode(self._owner), headers=expected)
        except (NatsError, TimeoutError) as error:
            if not isinstance(error, APIError) or error.err_code != WRONG_LAST_SEQUENCE:
                raise Unreachable(
                    f"the lock of erasures could not be written ({_reason(error)}); run this again"
                ) from error
            found = await lease_of(self._bus)
            if found is None or found.owner != self._owner:
                raise _Moved from error
            self._seq = found.seq  # it was renewed, and the answer was lost: the next time counts
            return
        self._seq, self._until = ack.seq, now + MARGIN * self._owner.seconds
