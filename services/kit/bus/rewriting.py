"""Rewrites a stream of the broker: it is copied, deleted and filled from its copy, at the same positions.

The copy is whole before the stream is deleted, and stays until the stream is whole again: cut off anywhere, it is known
from both which part was done. Nothing else writes to the broker meanwhile, which whoever calls this sees to.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import api
from nats.js.api import PubAck
from nats.js.errors import APIError, NotFoundError

from schemas.streams import LOG, Bucket
from schemas.subjects import Address
from services.kit.bus.connection import Bus, NotAllowed, Unreachable
from services.kit.bus.layout import COPY
from services.kit.bus.log import arrived_next, into
from services.kit.bus.marks import SEQUENCE, STORED, SUBJECT

PREFIX = "copy."
POSITIONS = "annals-positions"
"""The key of the copy's metadata that lists the consumers of the log, with the position that each had reached."""
ORIGINAL = "annals-original"
"""The key of the copy's metadata with the time at which the original was made: a log that was made then is still the
original and not the new one."""
AT_ONCE = 200
PAGE = 128
HEADERS = 128
"""Bytes that the header takes at most by which a fact is expected at its position."""
_OF_BROKER = {SEQUENCE, SUBJECT, STORED, "Nats-Stream", "Nats-Num-Pending", "Nats-Last-Sequence"}
"""The headers that the broker adds to what it sends."""

LOST = Address("").log("record.lost")
"""The subject of what takes a position whose fact is lost. Readers pass it over as a record that cannot be read."""

RESET = frozenset({"all", "by_start_sequence", "by_start_time"})
"""The places at which a consumer may have begun for the broker to let it go on at a position. One that began with the
newest message of each subject gets these again, which changes nothing for a clock."""


class StoredMessage(NamedTuple):
    """One message of a stream."""

    seq: int
    subject: str
    data: bytes
    headers: bytes
    """Its own, as JSON."""


Rewrite = Callable[[StoredMessage], tuple[str, bytes]]
"""The function that rewrites a message: it returns its new subject and data."""
Closing = Callable[[], Iterable[tuple[str, bytes]]]
"""The function that makes the messages behind the last one: the subject and the data of each."""


async def end_of(bus: Bus, stream: str) -> int:
    """The newest position of a stream; 0 where there is none."""
    try:
        return int((await bus.js.stream_info(stream)).state.last_seq)
    except NotFoundError:
        return 0


async def bytes_of(bus: Bus, stream: str) -> int:
    """Bytes that a stream takes on disk; 0 where there is none."""
    try:
        return int((await bus.js.stream_info(stream)).state.bytes)
    except NotFoundError:
        return 0


async def stored_messages(bus: Bus, stream: str, after: int = 0) -> AsyncGenerator[StoredMessage, None]:
    """All that a stream holds behind a position, in order. Close it where you end earlier."""
    end = await end_of(bus, stream)
    while after < end:
        before = after
        async with aclosing(_page(bus, stream, after + 1)) as page:
            async for message in page:
                after = message.seq
                yield message
        if after == before:
            return


async def _page(bus: Bus, stream: str, start: int) -> AsyncGenerator[StoredMessage, None]:
    inbox, arrived = bus.client.new_inbox(), asyncio.Queue[Msg]()
    sub = await bus.client.subscribe(inbox, cb=into(arrived), pending_msgs_limit=-1, pending_bytes_limit=-1)
    request = json.dumps({"seq": start, "batch": PAGE, "next_by_subj": ">"}).encode()
    try:
        await bus.client.publish(f"$JS.API.DIRECT.GET.{stream}", request, reply=inbox)
        while True:
            message = await arrived_next(arrived)
            headers = message.headers or {}
            if SEQUENCE not in headers:
                return
            own = {name: value for name, value in headers.items() if name not in _OF_BROKER}
            yield StoredMessage(int(headers[SEQUENCE]), headers[SUBJECT], message.data, json.dumps(own).encode())
    except (NatsError, TimeoutError) as error:
        raise Unreachable(f"the stream {stream} could not be read: {str(error) or type(error).__name__}") from error
    finally:
        await sub.unsubscribe()


async def refuse_unless_allowed(bus: Bus) -> None:
    """Raise `NotAllowed` where this user may not delete, before anything is done. It deletes nothing itself."""
    try:
        await bus.js.delete_msg(LOG.name, 0)  # a position that no log has
    except APIError:
        return
    except (NatsError, TimeoutError) as error:
        raise NotAllowed(
            "the broker does not let this user delete what it stores, as rooms may not; run this with a broker of its "
            "own on the same store, as deploy/README.md describes"
        ) from error


async def is_read(bus: Bus) -> bool:
    """Whether rooms are connected: somebody waits for the next message of the log."""
    try:
        return any(one.num_waiting for one in await bus.js.consumers_info(LOG.name))
    except NotFoundError:
        return False


async def is_half_done(bus: Bus) -> bool:
    """Whether a rewriting was cut off, and waits to be ended."""
    return bool(await end_of(bus, COPY))


async def end_what_was_begun(bus: Bus) -> bool:
    """End a rewriting that was cut off; whether there was one that had to be ended."""
    if not await end_of(bus, COPY):
        await _delete(bus, COPY)
        return False
    metadata = (await bus.js.stream_info(COPY)).config.metadata or {}
    if metadata.get(ORIGINAL) == await _made(bus):
        await _delete(bus, COPY)  # the log is as it was
        return False
    await refill(bus)
    return True


async def _made(bus: Bus) -> str:
    """When the log was made, which no other log has; empty where there is none."""
    try:
        return str((await bus.js.stream_info(LOG.name)).created)
    except NotFoundError:
        return ""


def refuse_too_long(bus: Bus, data: bytes) -> None:
    """Raise `Unreachable` where the broker does not take a fact of this data, before anything is changed."""
    size = len(data) + HEADERS
    if size > bus.max_payload:
        raise Unreachable(
            f"with its masks a fact has {size:,} bytes, and the broker takes {bus.max_payload:,}: give it a larger "
            "`max_payload`, as in deploy/nats-erase.conf, and run this again"
        )


async def copy_log(bus: Bus, rewrite: Rewrite, closing: Closing = tuple) -> int:
    """Copy the log rewritten, and what closes it behind its end; how many facts differ from what they were."""
    await _delete(bus, COPY)
    positions = await _positions(bus)
    await bus.js.add_stream(
        api.StreamConfig(
            name=COPY, subjects=[f"{PREFIX}>"], storage=api.StorageType.FILE, allow_direct=True,
            metadata={POSITIONS: json.dumps(positions), ORIGINAL: await _made(bus)},
        )
    )  # fmt: skip
    writer, changed, end = _Writer(bus), 0, 0
    async with aclosing(stored_messages(bus, LOG.name)) as log:
        async for message in log:
            await writer.fill(end, message.seq - 1)
            subject, data = rewrite(message)
            changed += (subject, data) != (message.subject, message.data)
            end = message.seq
            await writer.write(end, PREFIX + subject, data)
    end = await writer.fill(end, await end_of(bus, LOG.name))
    for subject, data in closing():
        end += 1
        await writer.write(end, PREFIX + subject, data)
    await writer.finish()
    return changed


async def delete_log(bus: Bus) -> None:
    """Delete the log, of which there is a whole copy. Raises `Unreachable` where there is none."""
    if await end_of(bus, COPY) < await end_of(bus, LOG.name):
        raise Unreachable("the copy of the log is not whole, so that the log was not deleted; run the erasure again")
    await _delete(bus, LOG.name)


async def refill(bus: Bus) -> None:
    """Make the log anew from its copy, from where it ends; then give its consumers back how far they were."""
    await bus.make_log()
    writer = _Writer(bus)
    async with aclosing(stored_messages(bus, COPY, await end_of(bus, LOG.name))) as copy:
        async for message in copy:
            await writer.write(message.seq, message.subject.removeprefix(PREFIX), message.data)
    await writer.finish()
    await _restore(bus)
    await _delete(bus, COPY)


class _Writer:
    """Writes to a stream, many at once, each at the position that it had."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: list[asyncio.Future[PubAck]] = []

    async def write(self, seq: int, subject: str, data: bytes) -> None:
        expected = {api.Header.EXPECTED_LAST_SEQUENCE.value: str(seq - 1)}
        self._waiting.append(await self._bus.js.publish_async(subject, data, headers=expected))
        if len(self._waiting) == AT_ONCE:
            await self.finish()

    async def fill(self, after: int, through: int) -> int:
        """Write a record that is no fact at each position behind one: a disk has lost these, and others stay theirs."""
        for seq in range(after + 1, through + 1):
            await self.write(seq, PREFIX + LOST, b"{}")
        return max(after, through)

    async def finish(self) -> None:
        try:
            for acknowledged in self._waiting:
                await acknowledged
        except (NatsError, TimeoutError) as error:
            raise Unreachable(
                f"the broker did not take a fact at its position ({str(error) or type(error).__name__}); nothing "
                "is lost, run the erasure again"
            ) from error
        finally:
            self._waiting.clear()


async def _positions(bus: Bus) -> list[Mapping[str, Any]]:
    return [
        {"name": one.name, "config": one.config.as_dict(), "floor": one.ack_floor.stream_seq if one.ack_floor else 0}
        for one in await bus.js.consumers_info(LOG.name)
    ]


async def _restore(bus: Bus) -> None:
    """Give the log the consumers that it had, each where it was: rooms go on, and do nothing once more."""
    metadata = (await bus.js.stream_info(COPY)).config.metadata or {}
    there = {one.name: one for one in await bus.js.consumers_info(LOG.name)}
    for one in json.loads(metadata.get(POSITIONS, "[]")):
        known = there.get(one["name"])
        if known is None:
            await bus.js.add_consumer(LOG.name, api.ConsumerConfig.from_response(one["config"]))
        is_behind = known is None or not known.ack_floor or not known.ack_floor.stream_seq
        if is_behind and one["floor"] and one["config"].get("deliver_policy") in RESET:
            await bus.js.reset_consumer(LOG.name, one["name"], seq=one["floor"] + 1)


async def _delete(bus: Bus, stream: str) -> None:
    try:
        await bus.js.delete_stream(stream)
    except NotFoundError:
        return


async def remove(bus: Bus, stream: str, seqs: Iterable[int]) -> None:
    """Delete messages so that their bytes are overwritten, too."""
    for seq in seqs:
        await bus.js.delete_msg(stream, seq)


class RewrittenBodies:
    """The long bodies of one bucket."""

    def __init__(self, bus: Bus, bucket: Bucket) -> None:
        self._bus = bus
        self._bucket = bucket
        self._stream = f"OBJ_{bucket.name}"

    async def each(self) -> AsyncGenerator[tuple[str, bytes], None]:
        """The name and the content of each."""
        store = await self._bus.js.object_store(self._bucket.name)
        for name in await self.names():
            try:
                yield name, (await store.get(name)).data or b""
            except NotFoundError:
                continue

    async def names(self) -> Sequence[str]:
        """The name of each."""
        store = await self._bus.js.object_store(self._bucket.name)
        try:
            return [str(entry.name) for entry in await store.list(ignore_deletes=True)]
        except NotFoundError:
            return []

    async def put(self, body: bytes) -> str:
        """Store a body under the name that its content gives it."""
        name = hashlib.sha256(body).hexdigest()
        store = await self._bus.js.object_store(self._bucket.name)
        try:
            await store.get_info(name)
        except NotFoundError:
            await store.put(name, body)
        return name

    async def remove(self, names: Sequence[str]) -> None:
        """Delete bodies. Their pieces are overwritten first: deleting a body only makes them unreachable."""
        store = await self._bus.js.object_store(self._bucket.name)
        subjects = {f"$O.{self._bucket.name}.C.{(await store.get_info(name)).nuid}" for name in names}
        pieces = [one.seq async for one in stored_messages(self._bus, self._stream) if one.subject in subjects]
        await remove(self._bus, self._stream, pieces)
        for name in names:
            await store.delete(name)

    async def pieces_with(self, is_found: Callable[[StoredMessage], bool]) -> Sequence[int]:
        """Positions of pieces that no body has any more, or of what is known of bodies, in which something is found."""
        return [one.seq async for one in stored_messages(self._bus, self._stream) if is_found(one)]
