"""Takes a secret out of what the broker keeps. Every fact stays at its position; `deploy/README.md` tells the steps.

The log is copied with the secret masked, made anew, and filled from the copy. The copy is complete before the log is
deleted and stays until the new log is complete, so that the script can be run again wherever it was cut off.
"""

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator

from schemas.streams import BODIES, DEAD, IN, INBOUND_BODIES, LOG
from services.kit.bus import Bus
from services.kit.endpoint import find
from services.kit.settings import Settings

COPY = "LOG_COPY"
COPY_SUBJECT = "copy."
MASK = b"[masked:by hand]"
AT_ONCE = 200
SHORTEST = 8

Message = tuple[int, str, bytes]


async def main() -> None:
    secret = os.environ.get("SECRET", "")
    if len(secret) < SHORTEST:
        sys.exit(f"set SECRET to the text to take out, {SHORTEST} characters at least")
    endpoint = find(Settings())
    bus = await Bus.connect(endpoint.url, "mask_log", user=endpoint.user, password=endpoint.password)
    names = await stream_names(bus)
    if COPY not in names or (LOG.name in names and await last(bus, COPY) < await last(bus, LOG.name)):
        replaced = spellings(secret)
        replaced |= await masked_bodies(bus, replaced)
        await copy(bus, replaced)
    await swap(bus)
    for stream in (IN.name, DEAD.name):
        await drop_messages(bus, stream, spellings(secret))
    await drop_bodies(bus, spellings(secret))
    await bus.close()


async def stream_names(bus: Bus) -> set[str]:
    return {str(info.config.name) for info in await bus.js.streams_info()}


async def last(bus: Bus, stream: str) -> int:
    return int((await bus.js.stream_info(stream)).state.last_seq)


def spellings(secret: str) -> dict[bytes, bytes]:
    """The secret as it stands in a text, in JSON, and in JSON within JSON."""
    once = json.dumps(secret, ensure_ascii=False)[1:-1]
    twice = json.dumps(once, ensure_ascii=False)[1:-1]
    return {text.encode(): MASK for text in (twice, once, secret)}


def masked(data: bytes, replaced: dict[bytes, bytes]) -> bytes:
    for old, new in replaced.items():
        data = data.replace(old, new)
    return data


async def masked_bodies(bus: Bus, replaced: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Long bodies are named by their content: a masked one has a new name, which the facts must then say."""
    store = await bus.js.object_store(BODIES.name)
    renamed = {}
    for name in [entry.name for entry in await store.list(ignore_deletes=True)] if await filled(bus, BODIES.name) else []:
        data = (await store.get(name)).data or b""
        clean = masked(data, replaced)
        if clean != data:
            new = hashlib.sha256(clean).hexdigest()
            await store.put(new, clean)
            renamed[name.encode()] = new.encode()
            print(f"body {name} -> {new}")  # noqa: T201 - a script tells what it does
    return renamed


async def filled(bus: Bus, bucket: str) -> bool:
    return bool((await bus.js.stream_info(f"OBJ_{bucket}")).state.messages)


async def messages(bus: Bus, stream: str) -> AsyncIterator[Message]:
    state = (await bus.js.stream_info(stream)).state
    for seq in range(state.first_seq, state.last_seq + 1):
        ...
