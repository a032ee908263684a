"""Ingest: from `in.*` to the visible view, as fast as it goes and at a hundred parts a second.

How far the rooms are is read from what they acknowledge, which passes through the broker anyway: asking them again and
again would take the time of those who are measured. Views are written in larger pieces while nobody asks for them, so
at a rate they are asked for now and then: what counts is how old they are for who asks.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from schemas.codec import encode
from schemas.inbox import Inbound, MessageSeen, PartSeen
from schemas.streams import IN, LOG
from schemas.subjects import Address, ask
from schemas.view_asks import HistoryRunsAsk
from services.edges.client.adapter import pieces
from services.edges.client.outbox import Outbox, Outgoing
from services.kit.bus import Bus, LogReader
from tests.bench.installations import Acknowledgements, installation
from tests.bench.measure import Measure, at_most, median_ms, p99_ms, ratio_at_least
from tests.helpers.installation import recorded

PARTS = 60_000
SESSIONS = 8
RATE = 100
SECONDS = 10
ASKED_EVERY = 0.2
"""Seconds between two questions for what is in the views."""


async def measure() -> list[Measure]:
    async with installation() as (_, bus):
        bare = await _bare(bus)
        rate = await _at_full_speed(bus)
    async with installation() as (_, bus):
        seconds = await _at_a_rate(bus)
    return [
        ratio_at_least("ingest to visible view", rate, "parts/s", 0.7, bare),
        at_most("ingest at 100 parts/s, until asked views show it, p50", median_ms(seconds), "ms", 50.0),
        at_most("ingest at 100 parts/s, until asked views show it, p99", p99_ms(seconds), "ms", 250.0),
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
    """Seconds from publishing a part to views that show it to who asks then, at a hundred parts a second."""
    base = await LogReader(bus).head()
    committed = await Acknowledgements.of(bus, LOG.name, "responder")
    sent: list[float] = []
    asking = asyncio.create_task(_asked(bus, base, committed, sent))
    began = time.perf_counter()
    for number in range(RATE * SECONDS):
        await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
        part = PartSeen("m", "text", f"p{number}", number, text="some words of a sentence " * 20)
        inbound = Inbound(f"rate-{number}", datetime.now(UTC), (part,))
        await bus.publish(Address("bench", "rate").inbound("opencode"), encode(inbound), inbound.id)
        sent.append(time.perf_counter())
    return await asking


async def _asked(bus: Bus, base: int, committed: Acknowledgements, sent: Sequence[float]) -> list[float]:
    """Seconds from the newest part that was sent to its being in the views, for one part after another."""
    seconds: list[float] = []
    while len(sent) < RATE * SECONDS:
        await asyncio.sleep(ASKED_EVERY)
        newest = len(sent)
        while not committed.moments or committed.moments[-1][1] < base + newest:
            await bus.request(ask(HistoryRunsAsk.NAME), encode(HistoryRunsAsk()), 5.0)
        seconds.append(time.perf_counter() - sent[newest - 1])
    return seconds
