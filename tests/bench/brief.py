"""`ask.brief` in a project of 10,000 memories: each time after the memory has changed, and as it is."""

import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

import msgspec

from schemas.asks import CompactionContext, CompactionContextAsk
from schemas.codec import encode
from schemas.envelope import Actor
from schemas.events import Event, MemoryReinforced, MemoryWritten
from schemas.events.fact import CATEGORIES
from schemas.subjects import Address, ask
from services.domain.envelopes import envelopes
from services.kit.room import Kit
from services.responder.session_cache import SessionCache
from services.responder.worker import Responder
from tests.bench.installations import kit
from tests.bench.measure import Measure, at_most, median_ms, p99_ms
from tests.bench.warm import Writer

MEMORIES, ASKS, BATCH = 10_000, 400, 500
AT = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT = Address("bench")
PERSON = Actor("person", "ada")
SYLLABLES = ("ba", "do", "fe", "gi", "ku", "la", "me", "no", "pi", "ru", "sa", "te", "vo", "wi", "zu")


async def measure() -> list[Measure]:
    async with kit() as given:
        await _append(given, [*islice(_memories(), MEMORIES)])
        writer = Writer(given, SessionCache(given.reader, 1), "s")
        events = [event for _ in range(50) for event in writer.message()]
        step = writer.step(0, -1)
        await writer.append([*events, msgspec.structs.replace(step, last=writer.messages, count=writer.messages)])
        responder = Responder()
        await responder.open(given)
        question = encode(CompactionContextAsk(PROJECT.project, "s"))
        assert "[M20]" in (await _asked(given, question)).text
        seconds = [await _changed(given, responder, question, number) for number in range(ASKS)]
        again = [await _timed(given, question) for _ in range(ASKS)]
    return [
        at_most("brief again, 10,000 memories, p50", median_ms(again), "ms", 50.0),
        at_most("brief again, 10,000 memories, p99", p99_ms(again), "ms", 50.0),
        at_most("brief after a change, 10,000 memories, p50", median_ms(seconds), "ms", 50.0),
        at_most("brief after a change, 10,000 memories, p99", p99_ms(seconds), "ms", 50.0),
    ]


async def _changed(given: Kit, responder: Responder, question: bytes, number: int) -> float:
    """Seconds of a brief, once the responder has read that a memory was seen again."""
    (seq,) = await _append(
        given, [MemoryReinforced(memory=f"m{number:010}", effect="increment")], begin=MEMORIES + number
    )
    while int(str(responder.health()["read_through"])) < seq:
        await given.bus.request(ask("status"), b"{}", 5.0)
    return await _timed(given, question)


async def _timed(given: Kit, question: bytes) -> float:
    began = time.perf_counter()
    await _asked(given, question)
    return time.perf_counter() - began


async def _asked(given: Kit, question: bytes) -> CompactionContext:
    reply = await given.bus.request(ask(CompactionContextAsk.NAME, PROJECT.project), question, 30.0)
    answer = msgspec.json.decode(reply, type=CompactionContext)
    assert "" == answer.error
    return answer


async def _append(given: Kit, events: Sequence[Event], begin: int = 0) -> list[int]:
    found: list[int] = []
    for start in range(0, len(events), BATCH):
        at = AT + timedelta(minutes=begin + start)
        made = envelopes(events[start : start + BATCH], PROJECT, {}, at=at, actor=PERSON, cause=f"c{begin + start}")
        named = [msgspec.structs.replace(one, id=f"{begin + start}.{number}") for number, one in enumerate(made)]
        found += await given.appender.append(named, {})
    return found


def _memories() -> Iterator[MemoryWritten]:
    chance = random.Random(1)
    words = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(2_000)]
    for number in range(MEMORIES):
        text = f"The {' '.join(chance.choices(words, k=9))} is rule {number}."
        category, trust = chance.choice(CATEGORIES), chance.choice(("person", "agent", "summary", "historian"))
        yield MemoryWritten(f"m{number:010}", category, text, trust=trust, origin=f"s{number % 200}")
