"""A project that remembers 10,000 things, among 100,000 other facts: writing, asking, rendering, and the gate."""

import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import psutil

from schemas.asks import MemoryAsk, MemoryReply
from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage, MemoryWrite
from schemas.envelope import Actor, Envelope
from schemas.events import Event, MemoryJudged, MemoryWritten, SessionRenamed, SpendReserved
from schemas.subjects import Address, ask
from services.domain.envelopes import envelopes
from services.domain.limits import Limits, MemoryLimits
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, LogReader, Unreachable
from services.kit.cache import Sessions
from services.kit.logs import logger
from services.kit.retry import retrying
from services.kit.room import Kit
from services.memory.gate.verdict import judge
from services.memory.remembered import Remembered, evolve
from services.memory.rendering import render
from services.plan.head.memories import chosen
from services.responder.answers.transform import Transformer
from services.responder.session_cache import SessionCache, Steps
from services.settings import Settings
from tests.bench.installations import bare_publishes
from tests.bench.measure import Measure, at_most, median_ms, percentile, ratio_at_most
from tests.bench.warm import Warmed, Writer
from tests.helpers.room_process import Process, room

MEMORIES, OTHERS = 10_000, 100_000
WRITES, ASKS, RENDERINGS, CALLS, JUDGED = 400, 40, 30, 150, 2_000
MESSAGES = 500
"""Of a session that is served."""
BATCH = 500
AT = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT = Address("bench")
PERSON = Actor("person", "ada")
MEBIBYTE = 1024 * 1024
SYLLABLES = (
    "ba",
    "do",
    "fe",
    "gi",
    "ku",
    "la",
    "me",
    "no",
    "pi",
    "ru",
    "sa",
    "te",
    "vo",
    "wi",
    "zu",
    "cha",
    "sho",
    "tri",
)
FRAMES = (
    "The {0} keeps its {1} sorted by {2}, because {3} relies on {4}.",
    "Always run {0} before {1} when {2} touches {3} or {4}.",
    "Never let {0} write to {1}: {2} owns it, and {3} reads {4}.",
    "Names of {0} begin with {1} and never with {2} in {3} and {4}.",
    "The {0} of {1} must be {2} where {3} is {4}.",
)


def texts() -> Iterator[str]:
    """Things that can be remembered, the same ones each time; few of them are in nearly the same words."""
    chance = random.Random(1)
    nouns = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(2_000)]
    while True:
        yield chance.choice(FRAMES).format(*chance.choices(nouns, k=5))


async def measure() -> list[Measure]:
    with TemporaryDirectory(prefix="annals-bench-", ignore_cleanup_errors=True) as folder:
        data = Path(folder)
        broker = Broker(data, port=0, max_payload=Settings(data=data).nats.max_payload)
        await broker.start()
        endpoint = broker.endpoint
        bus = await Bus.connect(endpoint.url, "bench", user=endpoint.user, password=endpoint.password)
        try:
            await bus.ensure()
            await _fill(bus)
            written = await _written(bus, data)
            read = [*await _asked(bus, data), *await _rendered(bus)]
            return [*written, *read, *await _served(bus, data), *_judged()]
        finally:
            await bus.close()
            broker.stop()


# What the log holds.


async def _fill(bus: Bus) -> None:
    """The facts of the memories, with as many others between them as come with them in a busy project."""
    log = _Log(Appender(bus))
    memories = enumerate(islice(texts(), MEMORIES))
    for session, start in enumerate(range(0, OTHERS, BATCH)):
        of_session = [SessionRenamed(title=f"title {start + n}") for n in range(BATCH // 2)]
        await log.append(of_session, Address(PROJECT.project, f"s{session % 200}"))
        of_project: list[Event] = [
            SpendReserved(reservation=f"r{start + n}", purpose="p", day="2026-01-01", tokens=1)
            for n in range(BATCH - len(of_session))
        ]
        await log.append(of_project, PROJECT)
        memories_of = islice(memories, MEMORIES * BATCH // OTHERS)
        await log.append([one for number, text in memories_of for one in _remembered(number, text)], PROJECT)


def _remembered(number: int, text: str) -> list[Event]:
    name = f"m{number:010}"
    judged = MemoryJudged(candidate=f"c{number}", verdict="accepted", memory=name, rule="person", trust="person")
    written = MemoryWritten(name, "CONSTRAINTS", text, trust="person", origin=f"s{number % 200}", source="ada")
    return [judged, written]


class _Log:
    """Appends facts as they would come, at ever later moments."""

    def __init__(self, appender: Appender) -> None:
        self._appender = appender
        self._count = 0

    async def append(self, events: Sequence[Event], address: Address) -> None:
        made: list[Envelope] = []
        for event in events:
            self._count += 1
            at = AT + timedelta(seconds=self._count)
            cause = f"w{event.memory}" if isinstance(event, MemoryJudged | MemoryWritten) else f"c{self._count}"
            (one,) = envelopes([event], address, {}, at=at, actor=PERSON, cause=cause)
            is_last = not isinstance(event, MemoryJudged)
            made.append(msgspec.structs.replace(one, id=f"{self._count}", last=is_last))
        await self._appender.append(made, {})


# Writing.


async def _written(bus: Bus, data: Path) -> list[Measure]:
    """A desk that begins with all this in the log, and is written to one by one. Its consumer had been there before."""
    async with room("desk", data, "--until-idle") as process:
        await process.ends()
    more = list(islice(texts(), MEMORIES, MEMORIES + WRITES + 1))
    async with room("desk", data) as process:
        await process.logs("open")
        first = await _timed(lambda: _wished(bus, "first", more[0]))
        worked = _worked(process)
        seconds = [await _timed(lambda: _wished(bus, f"more{n}", text)) for n, text in enumerate(more[1:])]  # noqa: B023 - awaited at once
        worked, size = _worked(process) - worked, _resident(process)
    bare = median_ms(await bare_publishes(bus, WRITES))
    return [
        at_most("first command after a start, among 100,000 other facts", first, "s", 1.0),
        at_most("a command at 10,000 memories, p50", median_ms(seconds), "ms", 5.0, bare),
        at_most("... of which the desk itself works", 1000 * worked / WRITES, "ms", 5.0),
        at_most("... p95", 1000 * percentile(seconds, 0.95), "ms", 20.0),
        at_most("memory of the desk that holds them", size, "MiB", 150.0),
    ]


async def _wished(bus: Bus, name: str, text: str) -> None:
    command: Command = MemoryWrite(text=text, category="CONSTRAINTS")
    data = encode(CommandMessage(name, datetime.now(UTC), PERSON, msgspec.Raw(encode(command))))
    answer = msgspec.json.decode(await bus.request(PROJECT.command(command.TYPE, "person"), data, 20.0), type=Answer)
    if not answer.ok or not answer.seq:
        raise RuntimeError(answer.text)


def _worked(process: Process) -> float:
    """Seconds in which it had the processor."""
    times = psutil.Process(process.process.pid).cpu_times()
    return float(times.user + times.system)


def _resident(process: Process) -> float:
    return float(psutil.Process(process.process.pid).memory_info().rss) / MEBIBYTE


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


# Reading.


async def _asked(bus: Bus, data: Path) -> list[Measure]:
    async with _responder(bus, data):
        measures = []
        known = (await _question(bus, MemoryAsk(PROJECT.project, view="list"))).memories[0].id
        for view in (
            MemoryAsk(PROJECT.project, view="read"),
            MemoryAsk(PROJECT.project, view="list"),
            MemoryAsk(PROJECT.project, view="why", id=known),
            MemoryAsk(PROJECT.project, view="missing"),
            MemoryAsk(PROJECT.project, view="quality"),
            MemoryAsk(PROJECT.project, view="history", id=known),
            MemoryAsk(PROJECT.project, view="twins"),
        ):
            seconds = [await _timed(lambda: _question(bus, view)) for _ in range(ASKS)]  # noqa: B023 - awaited at once
            measures.append(at_most(f"ask.memory, {view.view}, p50", median_ms(seconds), "ms", 50.0))
    return measures


@asynccontextmanager
async def _responder(bus: Bus, data: Path) -> AsyncIterator[Process]:
    async with room("responder", data) as process:
        async for attempt in retrying(Unreachable, seconds=120):
            with attempt:
                await _question(bus, MemoryAsk(PROJECT.project, view="quality"))
        yield process


async def _question(bus: Bus, question: MemoryAsk) -> MemoryReply:
    reply = await bus.request(ask(question.NAME, question.project), encode(question), 20.0)
    found = msgspec.json.decode(reply, type=MemoryReply)
    if found.error:
        raise RuntimeError(found.error)
    return found


async def _rendered(bus: Bus) -> list[Measure]:
    """The memories of a head, chosen and rendered anew, in both modes."""
    remembered = (await Sessions(LogReader(bus), evolve, Remembered(), 1).get(PROJECT)).state
    measures = []
    for limits in (MemoryLimits(), MemoryLimits(mode="full")):
        seconds = []
        for number in range(RENDERINGS):
            began = time.perf_counter()
            render(chosen(remembered, limits, AT + timedelta(days=30 + number)))
            seconds.append(time.perf_counter() - began)
        measures.append(at_most(f"memories of a head, {limits.mode}", median_ms(seconds), "ms", 20.0))
    return measures


# Model calls.


async def _served(bus: Bus, data: Path) -> list[Measure]:
    """Warm model calls of a project that remembers all this, and in turn with them of one that remembers nothing."""
    async with AsyncExitStack() as stack:
        given = Kit("responder", bus, LogReader(bus), Appender(bus), Settings(data=data), stack, logger())
        cache = SessionCache(given.reader, 8)
        transformer = Transformer(given, cache, Steps(), Limits())
        rich, poor = [
            await Warmed.begun(transformer, Writer(given, cache, "served", project), MESSAGES)
            for project in (PROJECT.project, "other")
        ]
        pairs = [(await rich.step(), await poor.step()) for _ in range(CALLS)]
    with_memory, without = (median_ms([pair[place] for pair in pairs]) for place in (0, 1))
    return [ratio_at_most("warm transform with 10,000 memories, p50", with_memory, "ms", 1.05, without)]


# The gate.


def _judged() -> list[Measure]:
    candidates = list(islice(texts(), JUDGED))
    seconds = []
    for text in candidates:
        began = time.perf_counter()
        judge(text, "decision")
        seconds.append(time.perf_counter() - began)
    worst = max(_judging("x" * 60_000), _judging("\u5b57" * 60_000), _judging("/a" * 30_000), _judging("(" * 60_000))
    return [
        at_most("the gate, a text, p50", median_ms(seconds), "ms", 0.2),
        at_most("the gate, 60,000 characters without a blank", worst, "ms", 50.0),
    ]


def _judging(text: str) -> float:
    began = time.perf_counter()
    judge(text, "feedback")
    return 1000 * (time.perf_counter() - began)
