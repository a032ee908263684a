"""Ingest: from `in.*` to the visible view, as fast as it goes and at a hundred parts a second.

How far the rooms are is read from what they acknowledge, which passes through the broker anyway: asking them again and
again would take the time of those who are measured.
"""

import asyncio
import time
from datetime import UTC, datetime

import msgspec

from schemas.codec import encode
from schemas.inbox import Inbound, MessageSeen, PartSeen
from schemas.streams import IN, LOG
from schemas.subjects import Address
from services.edges.client.outbox import Outbox, Outgoing
from services.edges.client.pieces import pieces
from services.kit.bus import Bus, LogReader
from tests.bench.installations import Acknowledgements, installation
from tests.bench.measure import Measure, at_least, at_most, median_ms, p99_ms
from tests.helpers.installation import recorded

PARTS = 60_000
SESSIONS = 8
RATE = 100
SECONDS = 10


async def measure() -> list[Measure]:
    async with installation() as (_, bus):
        bare = await _bare(bus)
        rate = await _at_full_speed(bus)
    async with installation() as (_, bus):
        seconds = await _at_a_rate(bus)
    return [
        at_least("ingest to visible view", rate, "parts/s", 5000, bare),
        at_most("ingest at 100 parts/s, p50", median_ms(seconds), "ms", 50.0),
        at_most("ingest at 100 parts/s, p99", p99_ms(seconds), "ms", 250.0),
    ]


async def _bare(bus: Bus) -> float:
    """Messages per second that the broker takes from one client, 1 KB each, each on disk."""
    outbox = Outbox(bus)
    began = time.perf_counter()
    for number in range(2000):
        outbox.put(Outgoing("dead.bench", f"bare-{number}", b"x" * 1024))
    await outbox.flushed()
    await outbox.close()
    return 2000 / (time.perf_counter() - began)


async def _at_full_speed(bus: Bus) -> float:
    """Parts per second, real ones from recorded sessions, in pieces as an import sends them."""
    messages = _messages()
    taken = await Acknowledgements.of(bus, IN.name, "tagger")
    committed = await Acknowledgements.of(bus, LOG.name, "responder")
    outbox = Outbox(bus)
    began = time.perf_counter()
    for outgoing in messages:
        outbox.put(outgoing)
    await outbox.flushed()
    await taken.count(len(messages))
    await committed.through(await LogReader(bus).head())
    seconds = time.perf_counter() - began
    await outbox.close()
    return PARTS / seconds


def _messages() -> list[Outgoing]:
    source = [part for one in recorded("openai", "anthropic") for message in one.messages for part in message.parts]
    now = datetime.now(UTC)
    messages = []
    for session in range(SESSIONS):
        address = Address("bench", f"import-{session}")
        items = []
        for number in range(PARTS // SESSIONS):
            part = source[number % len(source)]
            name = f"m{number // 3}"
            items.append(msgspec.structs.replace(part, message=name, part=f"p{number}", call=f"c{number}"))
            if number % 3 == 0:
                items.append(MessageSeen(name, "assistant", now))
        subject = address.inbound("opencode")
        messages += [Outgoing(subject, piece.id, encode(piece)) for piece in pieces(f"bench/{session}", now, items)]
    return messages


async def _at_a_rate(bus: Bus) -> list[float]:
    """Seconds from publishing a part to its being in the views, at a hundred a second."""
    base = await LogReader(bus).head()
    committed = await Acknowledgements.of(bus, LOG.name, "responder")
    sent: list[float] = []
    began = time.perf_counter()
    for number in range(RATE * SECONDS):
        await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
        part = PartSeen("m", "text", f"p{number}", number, text="some words of a sentence " * 20)
        inbound = Inbound(f"rate-{number}", datetime.now(UTC), (part,))
        sent.append(time.perf_counter())
        await bus.publish(Address("bench", "rate").inbound("opencode"), encode(inbound), inbound.id)
    await committed.through(base + len(sent))
    return [_first(committed.moments, base + number) - at for number, at in enumerate(sent, 1)]


def _first(seen: list[tuple[float, int]], seq: int) -> float:
    return next(at for at, committed in seen if committed >= seq)
