"""Sessions that the historian works on, and what it has written of them."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from schemas.codec import decode_event, encode
from schemas.events import (
    CompartmentSealed,
    Event,
    HistoryAdvanced,
    HistoryFailed,
    HistoryReplaced,
    StepOpened,
    UsageSampled,
)
from schemas.inbox import Inbound, Listed, MessageSeen, PartSeen, Role, Seen, SessionSeen, StepSeen, UsageSeen
from services.domain import compartments
from services.domain.compartments import CompartmentHistory as Known
from services.historian.worker import GUARD, Historian
from services.kit.bus import Appender, Bus, LogReader
from services.settings import History, Limits, Settings
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, NOON, facts, impatient_settings, opened, quick_settings, wrapped
from tests.helpers.waiting import until

WORDS = "The parser reads one line, and then it reads another one, until there is none. " * 24
"""About 480 tokens."""


def settings(**history: Any) -> Settings:  # noqa: ANN401 - settings of several types
    return replace(
        quick_settings(), history=History(**{"tail_tokens": 1000, "ahead": False} | history), plan=Limits(threshold=40)
    )


def hasty(quick: Settings) -> Settings:
    """What is in hand at the end is cut off at once, and delivered again soon."""
    return replace(quick, loop=impatient_settings().loop)


class Session:
    """The reports of a harness on one session."""

    def __init__(self, bus: Bus, *, limit: int = 100_000) -> None:
        self._bus = bus
        self._limit = limit
        self._names: list[str] = []
        self._listed: dict[str, Listed] = {}
        self._sent = 0

    async def add_message(self, role: Role, *parts: PartSeen) -> str:
        name = f"m{len(self._names) + 1}"
        self._names.append(name)
        at = NOON + timedelta(seconds=len(self._names))
        named = [replace(part, message=name, part=f"{name}.{n}", position=n) for n, part in enumerate(parts)]
        self._listed[name] = Listed(name, tuple(part.part for part in named))
        await self.report(MessageSeen(message=name, role=role, at=at, parts=tuple(named)))
        return name

    async def report(self, *items: Seen) -> None:
        self._sent += 1
        name = f"in{self._sent}"
        await self._bus.publish(HARBOUR.inbound("pi"), encode(Inbound(name, NOON, items)), name)

    async def turns(self, count: int, words: str = WORDS) -> None:
        for number in range(count):
            await self.add_message("user", text(f"Now read file number {number}. {words}"))
            await self.add_message("assistant", text(f"I have read file_{number}.py. {words}"))

    async def step(self, used: int = 0) -> None:
        """A model call with all there is, and what the provider counted."""
        step = StepSeen(
            step=f"s{self._sent}",
            messages=tuple(self._listed[name] for name in self._names),
            count=len(self._names),
            provider="anthropic",
            model="opus",
            context_limit=self._limit,
        )
        await self.report(step)
        await until(partial(self._is_newest, StepOpened, "step", step.step))
        if used:
            answer = UsageSeen(message=f"a{self._sent}", input=used)
            await self.report(answer)
            await until(partial(self._is_newest, UsageSampled, "message", answer.message))

    async def _is_newest(self, event: type[Event], field: str, name: str) -> bool:
        """Whether the log has heard of this step or answer: what is ordered next is ordered behind it."""
        newest = await LogReader(self._bus).last(HARBOUR.log(event.TYPE))
        return newest is not None and getattr(decode_event(newest), field) == name


@asynccontextmanager
async def reported_session(bus: Bus) -> AsyncIterator[Session]:
    """A session that the tagger hears of. Whatever the historian makes of it, its decisions can be guarded."""
    async with opened(Tagger(), bus, quick_settings()):
        made = Session(bus)
        await made.report(SessionSeen(title="Parsing", directory="/home/dev/harbour"))
        yield made
    assert [] == await unguarded(bus)


async def unguarded(bus: Bus) -> list[list[str]]:
    """Decisions of historians that write no event of the noun by which two of them meet."""
    found: list[list[str]] = [[]]
    async for one in LogReader(bus).after(0, HARBOUR.log_filter):
        if one.envelope.actor.id == Historian.NAME:
            found[-1].append(one.envelope.type)
            if one.envelope.last:
                found.append([])
    return [types for types in found if types and not any(one.startswith(f"{GUARD}.") for one in types)]


def text(words: str) -> PartSeen:
    return PartSeen(message="", type="text", text=words, typed=True)


def ran(command: str, output: str, call: str) -> PartSeen:
    return PartSeen(
        message="",
        type="tool",
        tool="bash",
        call=call,
        input=encode({"command": command}).decode(),
        output=output,
        status="completed",
    )


async def of(bus: Bus, *kinds: type[Event]) -> list[Event]:
    return [event for event in await facts(bus, HARBOUR) if isinstance(event, kinds)]


async def history(bus: Bus) -> Known:
    """What is compressed now."""
    known = Known()
    for seq, event in enumerate(await facts(bus, HARBOUR), 1):
        known = compartments.evolve(known, event, seq)
    return known


async def ended(bus: Bus, runs: int = 1) -> bool:
    ends = await of(bus, HistoryAdvanced, HistoryFailed, HistoryReplaced)
    return runs <= sum(not isinstance(event, HistoryAdvanced) or event.done for event in ends)


def spans(events: Iterable[Event]) -> list[tuple[int, int]]:
    return [(event.first, event.last) for event in events if isinstance(event, CompartmentSealed)]


def covers(events: Iterable[Event], first: int, last: int) -> bool:
    """Whether these compartments follow each other from one message to another."""
    found = spans(events)
    steps = pairwise(found)
    return found[0][0] == first and found[-1][1] == last and all(one[1] + 1 == other[0] for one, other in steps)


async def sampled(bus: Bus, used: int) -> bool:
    return any(getattr(event, "input", 0) == used for event in await facts(bus, HARBOUR))


async def append(bus: Bus, *events: Event) -> None:
    """Facts of another pen, behind what it has written."""
    for event in events:
        expected: dict[str, int] = {}
        async for recorded in LogReader(bus).after(0, HARBOUR.log(event.TYPE)):
            expected[recorded.subject] = recorded.envelope.seq
        await Appender(bus).append(wrapped([event], expected), expected)
