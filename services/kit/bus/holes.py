"""Holes in the log: messages that the broker counts and cannot read, since a disk has changed some bits of them.

A broker that was killed cuts such a block at the first record that it cannot read, and all behind it is lost, with what
was written and confirmed since the fault. So what cannot be read in the newest block matters more than anywhere else.
"""

import asyncio
import contextlib
import fcntl
import json
import os
from collections.abc import AsyncIterator
from math import ceil
from pathlib import Path

from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from schemas.streams import LOG
from services.kit.bus.connection import Bus, Unreachable
from services.kit.bus.marks import SEQUENCE, WAIT
from services.kit.bus.stream_state import StreamNumbers, stream_info
from services.kit.files import open_own

BLOCK = 8 * 1024 * 1024
"""Bytes of the broker's blocks at most, so that so many of the newest ones are read back."""
SPARE = 1.25
"""The factor by which more records are read than fit into a block where all have the same size."""
PAGE = 512
POLL = 0.05
"""Seconds until a room looks again whether another one has read the newest block."""
LOCKED = 30.0
"""Seconds after which a room reads it itself, whoever has the file: that one may hang, and reading takes no second."""
REMEDY = (
    "end the installation, make a copy of the folder jetstream, and put back the copy that you have of before: "
    "docs/operating.md says how"
)

LOST = (
    "the disk has changed or lost a file of the broker, so that it has given them up; where they are needed, put back "
    "the copy that you have of before: docs/operating.md says how"
)


async def newest_unreadable(bus: Bus, known: Path | None, *, locked: float = LOCKED) -> tuple[int, ...]:
    """The positions of the newest block that the log counts and that cannot be read. Raises `Unreachable`.

    A disk is read when a broker begins, and what it has read stays readable. So in the life of a broker one of the
    rooms with the same file `known` reads the block, and the others wait for it, at most `locked` seconds: the file
    names the broker whose newest block was found whole.
    """
    file = _opened(known) if known else None
    if file is None:
        return await unreadable(bus, newest_only=True)
    try:
        if not await _is_locked_within(file, locked):
            return await unreadable(bus, newest_only=True)
        if os.pread(file, 256, 0).decode(errors="replace") == bus.client.server_id:
            return ()
        found = await unreadable(bus, newest_only=True)
        if not found:
            with contextlib.suppress(OSError):  # the next room reads it again
                os.ftruncate(file, 0)
                os.pwrite(file, bus.client.server_id.encode(), 0)
        return found
    finally:
        os.close(file)


def _opened(known: Path) -> int | None:
    try:
        known.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open_own(known, os.O_RDWR)
    except OSError:  # a disk that takes no file is reported where something has to be written
        return None


async def _is_locked_within(file: int, seconds: float) -> bool:
    """Whether the file is this process's within the time. Where the disk knows no locks, it never is."""
    with contextlib.suppress(TimeoutError, OSError):
        async with asyncio.timeout(seconds):
            while not _is_locked(file):  # noqa: ASYNC110 - another process unlocks it
                await asyncio.sleep(POLL)
            return True
    return False


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def unreadable(bus: Bus, *, newest_only: bool = False) -> tuple[int, ...]:
    """The positions that the log counts and that cannot be read: of the newest block, or of all. Raises `Unreachable`.

    What the broker has given up before is not among them: that is lost, and nothing that is written now is.
    """
    try:
        state = await _state(bus)
        start = max(1, state.first_seq)
        if newest_only and state.messages:
            start = max(start, state.last_seq + 1 - ceil(SPARE * BLOCK * state.messages / max(1, state.bytes)))
        read = {seq async for seq in _read(bus, start, state.last_seq)} | {*(state.deleted or ())}
        missing = tuple(seq for seq in range(start, state.last_seq + 1) if seq not in read)
        if missing and await _is_there(bus, missing[0]):
            raise Unreachable(f"the log could not be read back: the reading ended before {missing[0]:,}")
    except (NatsError, TimeoutError) as error:
        raise Unreachable(f"the log could not be read back: {str(error) or type(error).__name__}") from error
    return missing


async def given_up(bus: Bus) -> tuple[int, ...]:
    """The positions that the log once had, and that the broker counts no more: those facts are lost.

    Nobody may delete a fact, so that only a damaged disk leaves such positions. Raises `Unreachable`.
    """
    try:
        state = await _state(bus)
    except (NatsError, TimeoutError) as error:
        raise Unreachable(f"the log could not be read back: {str(error) or type(error).__name__}") from error
    deleted = (seq for seq in state.deleted or () if seq)  # of an empty stream the broker names position 0
    return (*range(1, max(1, state.first_seq)), *deleted)


async def _state(bus: Bus) -> StreamNumbers:
    info = await stream_info(bus, LOG.name, has_deleted=True)
    if info.error is not None:
        raise Unreachable(f"the log could not be read back: {info.error.description}")
    return info.state


async def _is_there(bus: Bus, seq: int) -> bool:
    request = json.dumps({"seq": seq}).encode()
    message = await bus.client.request(f"$JS.API.DIRECT.GET.{LOG.name}", request, timeout=WAIT)
    return SEQUENCE in (message.headers or {})


async def _read(bus: Bus, start: int, end: int) -> AsyncIterator[int]:
    """The positions of what can be read, up to `end`. Their facts are not looked at."""
    seq = start
    while seq <= end:
        newest = 0
        async for newest in _page(bus, seq):
            if newest <= end:
                yield newest
        if not newest:
            return
        seq = newest + 1


async def _page(bus: Bus, start: int) -> AsyncIterator[int]:
    arrived: asyncio.Queue[Msg] = asyncio.Queue()
    inbox = bus.client.new_inbox()
    subscription = await bus.client.subscribe(inbox, cb=arrived.put, pending_msgs_limit=-1, pending_bytes_limit=-1)
    request = json.dumps({"seq": start, "batch": PAGE, "next_by_subj": ">"}).encode()
    try:
        await bus.client.publish(f"$JS.API.DIRECT.GET.{LOG.name}", request, reply=inbox)
        while True:
            async with asyncio.timeout(WAIT):
                headers = (await arrived.get()).headers or {}
            if SEQUENCE not in headers:
                return
            yield int(headers[SEQUENCE])
    finally:
        await subscription.unsubscribe()


def spoken(positions: tuple[int, ...]) -> str:
    """The number of positions, with the first and the last."""
    if len(positions) == 1:
        return f"position {positions[0]:,}"
    return f"{len(positions):,} positions from {positions[0]:,} to {positions[-1]:,}"
