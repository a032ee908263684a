"""Warm `ask.transform` on the responder's side, and the rebase, at 500 and at 17,000 messages."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from schemas.asks import TransformAsk
from schemas.envelope import Actor
from schemas.events import (
    DropRequested,
    Event,
    FlushRequested,
    MessageListed,
    MessageRecorded,
    PartRecorded,
    StepOpened,
    TagAssigned,
)
from schemas.subjects import Address
from services.domain.envelopes import envelopes
from services.domain.limits import Limits
from services.kit.cache import Entry
from services.kit.room import Kit
from services.responder.answers.transform import Transformer
from services.responder.lanes import View
from services.responder.planner.plan import decide
from services.responder.projections.session import SESSION
from services.responder.session.state import Session
from services.responder.session_cache import SessionCache
from services.responder.steps import Steps
from tests.bench.installations import bare_publishes, kit
from tests.bench.measure import Measure, at_most, median_ms, p99_ms

START = datetime(2026, 1, 1, tzinfo=UTC)
SHORT, LONG = 500, 17_000
STEPS = 200
TOOLS_PER_ANSWER = 1.2
"""20,400 tool parts in 17,000 messages."""


class Writer:
    """Stands in for the tagger: appends a session's facts and feeds them to the session cache."""

    def __init__(self, kit: Kit, cache: SessionCache, session: str, project: str = "bench") -> None:
        self._kit = kit
        self._cache = cache
        self.address = Address(project, session)
        self._expected: dict[str, int] = {}
        self._tag = 0
        self._messages = 0
        self._steps = 0
        self._owed = 0.0

    async def entry(self) -> Entry[Session]:
        """The session as the cache holds it."""
        return await self._cache.entry(SESSION, self.address)

    async def append(self, events: Sequence[Event]) -> None:
        at = START + timedelta(seconds=self._steps)
        made = envelopes(events, self.address, self._expected, at=at, actor=Actor("harness"), cause="")
        subjects = {self.address.log(envelope.type) for envelope in made}
        expected = {subject: seq for subject, seq in self._expected.items() if subject in subjects}
        seqs = await self._kit.appender.append(made, expected)
        for envelope, event, seq in zip(made, events, seqs, strict=True):
            self._expected[self.address.log(envelope.type)] = seq
            self._cache.feed(replace(envelope, seq=seq), event)

    def message(self) -> list[Event]:
        """One message more, with its parts, its place and its tags."""
        number = self._messages + 1
        self._messages = number
        name = f"m{number}"
        role = "user" if number % 20 == 1 else "assistant"
        self._owed += TOOLS_PER_ANSWER
        tools = int(self._owed)
        self._owed -= tools
        parts: list[Event] = [
            PartRecorded(name, f"{name}t", "text", bytes=200, tokens=50, digest="d", text="words " * 33)
        ]
        parts += [
            PartRecorded(
                name, f"{name}c{n}", "tool", position=n + 1, tool="read", call=f"{name}{n}", owner=name,
                status="completed", bytes=3000, input=f'{{"path": "{name}{n}.py"}}', input_bytes=60, tokens=765,
                digest="d",
            )
            for n in range(tools)
        ]  # fmt: skip
        names = [part.part for part in parts if isinstance(part, PartRecorded)]
        tagged = TagAssigned(self._tag + 1, names, [name] * len(names), ["tool"] * len(names))
        self._tag += len(names)
        return [MessageRecorded(name, role), *parts, MessageListed([name], [number]), tagged]

    def step(self, kept: int, served: int) -> StepOpened:
        self._steps += 1
        return StepOpened(
            f"s{self._steps}", kept=kept, last=self._messages, count=self._messages, served=served, context_limit=10**9
        )

    @property
    def messages(self) -> int:
        return self._messages

    @property
    def tags(self) -> int:
        return self._tag


async def measure() -> list[Measure]:
    async with kit() as given:
        short, _ = await _warm(given, "short", SHORT)
        long, rebase = await _warm(given, "long", LONG)
        bare = await bare_publishes(given.bus, STEPS)
    base = median_ms(bare)
    growth = median_ms(long) / median_ms(short)
    return [
        at_most("warm transform, 17,000 messages, p50", median_ms(long), "ms", 5.0, base),
        at_most("warm transform, 17,000 messages, p99", p99_ms(long), "ms", 20.0, base),
        Measure(
            "warm transform, 17,000 / 500 messages", growth, "x", median_ms(short), growth, "<= 1.3", growth <= 1.3
        ),
        at_most("rebase of that session, 2,000 drops", 1000 * rebase, "ms", 300.0, base),
    ]


async def _warm(given: Kit, session: str, count: int) -> tuple[list[float], float]:
    """Seconds of each warm question in a session of so many messages, and of deciding one rebase of it."""
    cache = SessionCache(given.reader, 8)
    warmed = await Warmed.begun(Transformer(given, cache, Steps(), Limits()), Writer(given, cache, session), count)
    seconds = [await warmed.step() for _ in range(STEPS)]
    return seconds, await _rebase(warmed.writer, warmed.entry)


class Warmed:
    """A session of so many messages that goes on step by step."""

    def __init__(self, transformer: Transformer, writer: Writer, entry: Entry[Session]) -> None:
        self.writer = writer
        self.entry = entry
        self._transformer = transformer

    @classmethod
    async def begun(cls, transformer: Transformer, writer: Writer, count: int) -> "Warmed":
        """The session after its first step."""
        entry = await writer.entry()
        for _ in range(0, count, 100):
            await writer.append([event for _ in range(100) for event in writer.message()])
        await writer.append([writer.step(0, 0)])
        await transformer.answer(_ask(writer, "s1", 0))
        return cls(transformer, writer, entry)

    async def step(self) -> float:
        """Seconds of the question about one step more, with two messages."""
        writer, revision = self.writer, self.entry.state.revision
        opened = writer.step(writer.messages, revision)
        events = [*writer.message(), *writer.message()]
        await writer.append([*events, replace(opened, last=writer.messages, count=writer.messages)])
        began = time.perf_counter()
        plan = await self._transformer.answer(_ask(writer, opened.step, revision))
        seconds = time.perf_counter() - began
        if plan.status != "ready":
            raise RuntimeError(str(plan))
        return seconds


async def _rebase(writer: Writer, entry: Entry[Session]) -> float:
    wanted = list(range(1, min(2001, writer.tags - 100)))
    opened = writer.step(writer.messages, entry.state.revision)
    await writer.append(
        [DropRequested(wanted), FlushRequested(), replace(opened, last=writer.messages, count=writer.messages)]
    )
    began = time.perf_counter()
    made = decide(View(entry.state, Limits()))
    seconds = time.perf_counter() - began
    assert made.kind == "rebase", made
    return seconds


def _ask(writer: Writer, step: str, base: int) -> TransformAsk:
    return TransformAsk(writer.address.project, writer.address.session, step, base, deadline_ms=10_000)
