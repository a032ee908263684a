# ruff: noqa: INP001 - a script beside the packages, not in one
"""Takes a secret out of what the broker keeps, every fact at the position it had; `deploy/README.md` tells when.

The log is copied with the secret masked, made anew, and filled from the copy. The copy is whole before the log is
deleted, and stays until the new log is whole: cut off anywhere, the script can simply be run again.
"""

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator

from nats.js.api import PubAck
from nats.js.errors import NotFoundError

from schemas.streams import BODIES, DEAD, IN, INBOUND_BODIES, LOG
from services.kit.bus import Bus
from services.kit.endpoint import find
from services.settings import Settings

COPY = "LOG_COPY"
PREFIX = "copy."
MASK = b"[masked:by hand]"
AT_ONCE = 200
SHORTEST = 8
"""Characters: masking every occurrence of less would tear other words apart."""

Masks = dict[bytes, bytes]


async def main() -> None:
    """Do all of it, and say so step by step."""
    secret = os.environ.get("SECRET", "")
    if len(secret) < SHORTEST:
        sys.exit(f"set SECRET to the text to take out, at least {SHORTEST} characters")
    masks = spellings(secret)
    endpoint = find(Settings())
    bus = await Bus.connect(endpoint.url, "mask_log", user=endpoint.user, password=endpoint.password)
    if await last(bus, COPY) < await last(bus, LOG.name):
        renamed = await masked_bodies(bus, masks)
        tell(f"{await copy(bus, masks | renamed)} facts masked, {len(renamed)} long bodies")
    tell(f"{await refill(bus)} facts in the new log")
    for stream in (IN.name, DEAD.name):
        tell(f"{await drop_messages(bus, stream, masks)} messages deleted in {stream}")
    for bucket in (BODIES.name, INBOUND_BODIES.name):
        tell(f"{await drop_bodies(bus, bucket, masks)} bodies deleted in {bucket}")
    await bus.close()


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")


def spellings(secret: str) -> Masks:
    """The secret as it stands in JSON within JSON, in JSON, and in plain text."""
    once = json.dumps(secret, ensure_ascii=False)[1:-1]
    twice = json.dumps(once, ensure_ascii=False)[1:-1]
    return dict.fromkeys((spelling.encode() for spelling in (twice, once, secret)), MASK)


def masked(data: bytes, masks: Masks) -> bytes:
    for old, new in masks.items():
        data = data.replace(old, new)
    return data


async def last(bus: Bus, stream: str) -> int:
    """The newest position of a stream; 0 where there is none."""
    try:
        return int((await bus.js.stream_info(stream)).state.last_seq)
    except NotFoundError:
        return 0


async def read(bus: Bus, stream: str) -> AsyncIterator[tuple[int, str, bytes]]:
    """Position, subject and content of all that a stream holds."""
    state = (await bus.js.stream_info(stream)).state
    for seq in range(max(1, state.first_seq), state.last_seq + 1):
        try:
            message = await bus.js.get_msg(stream, seq=seq)
        except NotFoundError:
            continue
        yield seq, message.subject or "", message.data or b""


class Writer:
    """Writes to a stream, many at once, and insists on the positions."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: list[tuple[int, asyncio.Future[PubAck]]] = []

    async def write(self, seq: int, subject: str, data: bytes) -> None:
        self._waiting.append((seq, await self._bus.js.publish_async(subject, data)))
        if len(self._waiting) == AT_ONCE:
            await self.finish()

    async def finish(self) -> None:
        for seq, acknowledged in self._waiting:
            got = (await acknowledged).seq
            if got != seq:
                sys.exit(f"position {seq} became {got}; nothing is lost, but this log needs another way")
        self._waiting.clear()


async def copy(bus: Bus, masks: Masks) -> int:
    """Copy the log with the masks applied; how many facts they changed."""
    await forget(bus, COPY)
    await bus.js.add_stream(name=COPY, subjects=[f"{PREFIX}>"])
    writer, changed = Writer(bus), 0
    async for seq, subject, data in read(bus, LOG.name):
        clean = masked(data, masks)
        changed += clean != data
        await writer.write(seq, PREFIX + subject, clean)
    await writer.finish()
    return changed


async def refill(bus: Bus) -> int:
    """Make the log anew from its copy; how many facts it holds."""
    await forget(bus, LOG.name)
    await bus.ensure()
    writer = Writer(bus)
    if await last(bus, COPY):
        async for seq, subject, data in read(bus, COPY):
            await writer.write(seq, subject.removeprefix(PREFIX), data)
    await writer.finish()
    await forget(bus, COPY)
    return await last(bus, LOG.name)


async def forget(bus: Bus, stream: str) -> None:
    try:
        await bus.js.delete_stream(stream)
    except NotFoundError:
        return


async def bodies(bus: Bus, bucket: str, masks: Masks) -> AsyncIterator[tuple[str, bytes]]:
    """Name and masked content of the bodies in a bucket that hold the secret."""
    store = await bus.js.object_store(bucket)
    try:
        names = [entry.name for entry in await store.list(ignore_deletes=True)]
    except NotFoundError:
        return
    for name in names:
        data = (await store.get(name)).data or b""
        clean = masked(data, masks)
        if clean != data:
            yield name, clean


async def masked_bodies(bus: Bus, masks: Masks) -> Masks:
    """Keep masked bodies beside the old ones. They are named by their content, so the facts must say the new names."""
    store = await bus.js.object_store(BODIES.name)
    renamed = {}
    async for name, clean in bodies(bus, BODIES.name, masks):
        new = hashlib.sha256(clean).hexdigest()
        await store.put(new, clean)
        renamed[name.encode()] = new.encode()
    return renamed


async def drop_messages(bus: Bus, stream: str, masks: Masks) -> int:
    found = [seq async for seq, _, data in read(bus, stream) if masked(data, masks) != data]
    for seq in found:
        await bus.js.delete_msg(stream, seq)
    return len(found)


async def drop_bodies(bus: Bus, bucket: str, masks: Masks) -> int:
    """Overwrite the pieces on disk first: deleting a body only unlinks them."""
    store = await bus.js.object_store(bucket)
    found = [name async for name, _ in bodies(bus, bucket, masks)]
    pieces = {f"$O.{bucket}.C.{(await store.get_info(name)).nuid}" for name in found}
    if pieces:
        async for seq, subject, _ in read(bus, f"OBJ_{bucket}"):
            if subject in pieces:
                await bus.js.delete_msg(f"OBJ_{bucket}", seq)
    for name in found:
        await store.delete(name)
    return len(found)


if __name__ == "__main__":
    asyncio.run(main())
