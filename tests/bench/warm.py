"""`ask.transform` on the responder's side at 500 and at 17,000 messages: warm, with a rebase declined, and a rebase.

A warm pass adds what is new to a plan and looks at nothing else. Every few passes the prompt has grown enough for a
rebase to be considered; here that never pays, so that it is declined. A measured pass that makes one is an error.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

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
    PlanRebased,
    StepOpened,
    TagAssigned,
    UsageSampled,
)
from schemas.subjects import Address
from services.domain.envelopes import envelopes
from services.domain.limits import Limits, Prices
from services.domain.window import MAX_CONTEXT
from services.kit.cache import Entry
from services.kit.room import Kit
from services.plan.lanes import View
from services.plan.planner.plan import decide
from services.plan.session.state import Session
from services.responder.answers.transform import Transformer
from services.responder.projections.folds import SESSION
from services.responder.session_cache import SessionCache, Steps
from tests.bench.installations import bare_publishes, kit
from tests.bench.measure import Measure, at_most, median_ms, p99_ms

START = datetime(2026, 1, 1, tzinfo=UTC)
SHORT, LONG = 500, 17_000
STEPS = 200
MOST_STEPS = 100
"""Within which a rebase is considered for the first time."""
TOOLS_PER_ANSWER = 1.2
"""20,400 tool parts in 17,000 messages."""
TEXT_TOKENS, OUTPUT_TOKENS, INPUT_TOKENS = 200, 30, 10
"""Estimated tokens of each text, of each tool's output and of its arguments: 4.2 million in 17,000 messages. Outputs
and arguments are less than a quarter of that, so that no rebase is made for its price alone."""
PROVIDER = "bench"
DROPS = 2_000
"""Of the rebase that is measured."""
OVERHEAD = 10_000
"""Tokens that the provider counts on top of the messages: the system prompt and the tools."""


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
            PartRecorded(
                name, f"{name}t", "text", bytes=4 * TEXT_TOKENS, tokens=TEXT_TOKENS, digest="d", text="words " * 133
            )
        ]
        parts += [
            PartRecorded(
                name, f"{name}c{n}", "tool", position=n + 1, tool="read", call=f"{name}{n}", owner=name,
                status="completed", bytes=4 * OUTPUT_TOKENS, input=f'{{"path": "{name}{n}.py"}}', digest="d",
                input_bytes=4 * INPUT_TOKENS, tokens=OUTPUT_TOKENS + INPUT_TOKENS,
            )
            for n in range(tools)
        ]  # fmt: skip
        names = [part.part for part in parts if isinstance(part, PartRecorded)]
        tagged = TagAssigned(self._tag + 1, names, [name] * len(names), ["tool"] * len(names))
        self._tag += len(names)
        return [MessageRecorded(name, role), *parts, MessageListed([name], [number]), tagged]

    def step(self, unchanged: int, served: int) -> StepOpened:
        self._steps += 1
        return StepOpened(
            f"s{self._steps}", unchanged=unchanged, last=self._messages, count=self._messages, served=served,
            provider=PROVIDER, model=PROVIDER, context_limit=MAX_CONTEXT,
        )  # fmt: skip

    def usage(self, served: int) -> UsageSampled:
        """What a provider counts of a prompt with messages of so many estimated tokens: nearly all of it is cached."""
        return UsageSampled(f"m{self._messages}", input=100, output=50, cache_read=served + OVERHEAD - 100)

    @property
    def messages(self) -> int:
        return self._messages

    @property
    def tags(self) -> int:
        return self._tag


async def measure() -> list[Measure]:
    async with kit() as given:
        short, _ = await _measured(given, "short", SHORT)
        long, rebase = await _measured(given, "long", LONG)
        bare = await bare_publishes(given.bus, STEPS)
    base = median_ms(bare)
    return [
        at_most("warm transform, 17,000 messages, p50", median_ms(long.warm), "ms", 5.0, base),
        at_most("warm transform, 17,000 messages, p99", p99_ms(long.warm), "ms", 20.0, base),
        _growth("warm transform, 17,000 / 500 messages", short.warm, long.warm),
        at_most("rebase considered and declined, 17,000 messages, p50", median_ms(long.declined), "ms", 5.0, base),
        _growth("rebase considered and declined, 17,000 / 500 messages", short.declined, long.declined),
        at_most(f"rebase of that session, {DROPS:,} drops", 1000 * rebase, "ms", 300.0, base),
    ]


def _growth(name: str, short: Sequence[float], long: Sequence[float]) -> Measure:
    growth = median_ms(long) / median_ms(short)
    return Measure(name, growth, "x", median_ms(short), growth, "<= 1.3", growth <= 1.3)


async def _measured(given: Kit, session: str, count: int) -> tuple["Passes", float]:
    """The passes of a session of so many messages, and the seconds of deciding one rebase of it."""
    cache = SessionCache(given.reader, 8)
    warmed = await Warmed.begun(Transformer(given, cache, Steps(), Limits()), Writer(given, cache, session), count)
    await warmed.until_declined()
    passes = Passes([], [])
    for _ in range(STEPS):
        seconds = await warmed.step()
        (passes.declined if warmed.is_declined else passes.warm).append(seconds)
    return passes, await _rebase(warmed.writer, warmed.entry)


class Passes(NamedTuple):
    """Seconds of each measured pass that made no rebase."""

    warm: list[float]
    """Of those that considered none ..."""
    declined: list[float]
    """... and of those that considered one, and declined it."""


class Warmed:
    """A session of so many messages that goes on step by step."""

    def __init__(self, transformer: Transformer, writer: Writer, entry: Entry[Session]) -> None:
        self.writer = writer
        self.entry = entry
        self.is_declined = False
        """Whether the newest pass considered a rebase, and declined it."""
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

    async def until_declined(self) -> None:
        """Go on until a rebase is considered for its price: a short session has to be read for some calls first."""
        for _ in range(MOST_STEPS):
            await self.step()
            if self.is_declined:
                return
        raise RuntimeError(f"no rebase was considered in {MOST_STEPS} steps: give the session longer messages")

    async def step(self) -> float:
        """Seconds of the question about one step more, with two messages and the count of the call before.

        Raises `RuntimeError` where the pass made a rebase: its time would say nothing of a warm pass.
        """
        writer, before = self.writer, self.entry.state
        opened = writer.step(writer.messages, before.revision)
        events = [*writer.message(), *writer.message(), writer.usage(before.revisions.sent)]
        await writer.append([*events, replace(opened, last=writer.messages, count=writer.messages)])
        began = time.perf_counter()
        plan = await self._transformer.answer(_ask(writer, opened.step, before.revision))
        seconds = time.perf_counter() - began
        if plan.status != "ready":
            raise RuntimeError(str(plan))
        causes = [cause for revision in plan.revisions for cause in revision.causes]
        if causes:
            raise RuntimeError(
                f"the pass of the step {opened.step} made a rebase ({', '.join(causes)}), and a warm pass makes none: "
                "give the session's outputs fewer tokens, or its model a larger window"
            )
        self.is_declined = self.entry.state.waits.declined != before.waits.declined
        return seconds


async def _rebase(writer: Writer, entry: Entry[Session]) -> float:
    """Seconds of deciding a rebase that serves so many drops, and makes the prompt no smaller than by these.

    Reading what is cached costs nothing here, so that nothing goes for its price. Raises `RuntimeError` where the
    rebase drops anything else: its time would say nothing of that of others.
    """
    wanted = list(range(1, min(DROPS + 1, writer.tags - 100)))
    opened = writer.step(writer.messages, entry.state.revision)
    await writer.append(
        [DropRequested(wanted), FlushRequested(), replace(opened, last=writer.messages, count=writer.messages)]
    )
    view = View(entry.state, Limits(prices={f"{PROVIDER}/*": Prices(read=0.0)}))
    began = time.perf_counter()
    made = decide(view)
    seconds = time.perf_counter() - began
    dropped = [number for event in made.events if isinstance(event, PlanRebased) for number in event.dropped]
    if dropped != wanted:
        raise RuntimeError(f"the rebase drops {len(dropped)} parts and not the {len(wanted)} that it is measured with")
    return seconds


def _ask(writer: Writer, step: str, base: int) -> TransformAsk:
    return TransformAsk(writer.address.project, writer.address.session, step, base, deadline_ms=60_000)
