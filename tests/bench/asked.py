"""A step, to its plan in hand, while nobody asks anything else, and while people look at another, long session.

Next to it, what does not depend on what else runs on the machine: for how long, in time of its own processor, the loop
that answers models is blocked by such questions at once.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import cycle

from msgspec.structs import replace

from schemas.ask import Ask
from schemas.asks import SessionAsk, TransformAsk
from schemas.codec import encode
from schemas.explain_asks import ExplainAsk
from schemas.subjects import Address, ask
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.kit.bus import Bus, Unreachable
from services.responder.session_cache import SessionCache
from services.responder.worker import Responder
from tests.bench.installations import installation, kit
from tests.bench.measure import Measure, at_most, p99_ms, ratio_at_most
from tests.bench.step import START, message_of, step_of
from tests.bench.warm import Writer
from tests.helpers.installation import settle

LONG, WORKED = Address("bench", "long"), Address("bench", "worked")
MESSAGES, CALLS = 3_000, 30
"""Of the long session."""
ROUNDS, STEPS = 4, 60
WARM_UP = 5
PAUSE = 0.02
"""Seconds between two steps."""
PER_SECOND = 5
P99 = 3.0
"""How many times as long as undisturbed a step may take."""


STALL = 25.0
"""Milliseconds for which one question may keep the loop."""


async def measure() -> list[Measure]:
    async with installation() as (_, bus):
        await _long(bus)
        worked = ShortSession(bus)
        quiet: list[float] = []
        busy: list[float] = []
        asked: list[float] = []
        for _ in range(ROUNDS):
            quiet += await worked.steps(STEPS)
            async with _asking(bus, asked):
                busy += await worked.steps(STEPS)
        await worked.outbox.close()
    stalls = await _stalls()
    return [
        ratio_at_most("step while a long session is asked about, p99", p99_ms(busy), "ms", P99, p99_ms(quiet)),
        at_most("question about a long session, p99", p99_ms(asked), "ms", 2_000.0),
        *(at_most(f"the loop is blocked by {name}", stall, "ms", STALL) for name, stall in stalls.items()),
    ]


async def _stalls() -> dict[str, float]:
    """By question, the milliseconds of processor time for which it blocked the loop of a responder longest."""
    async with kit() as given:
        responder = Responder()
        await responder.open(given)
        writer = Writer(given, SessionCache(given.reader, 1), LONG.session)
        for _ in range(CALLS):
            written = writer.messages
            events = [event for _ in range(MESSAGES // CALLS) for event in writer.message()]
            step = writer.step(written, -1)
            await writer.append([*events, replace(step, last=writer.messages, count=writer.messages)])
            question = TransformAsk(LONG.project, LONG.session, step.step, deadline_ms=10_000)
            await given.bus.request(ask(question.NAME, LONG.project), encode(question), 10.0)
        await _quiet(responder)
        stalls = {}
        for name, asked in zip(("an explanation", "one of an older step", "a report"), _questions(), strict=True):
            stalls[name] = 1000 * await _retention(given.bus, asked)
        return stalls


async def _quiet(responder: Responder) -> None:
    while not await responder.idle():  # noqa: ASYNC110 - what is waited for is the responder's own reading
        await asyncio.sleep(0.05)


async def _retention(bus: Bus, question: Ask) -> float:
    """The longest time between two turns of a loop whose thread answers this question."""
    answer = asyncio.create_task(bus.request(ask(question.NAME, LONG.project), encode(question), 60.0))
    longest, before = 0.0, time.thread_time()
    while not answer.done():
        await asyncio.sleep(0)
        longest, before = max(longest, time.thread_time() - before), time.thread_time()
    await answer
    return longest


async def _long(bus: Bus) -> None:
    """Write a session of many messages and some calls."""
    outbox = Outbox(bus)
    adapter = Adapter(bus, outbox, "opencode", LONG, deadline_ms=10_000)
    messages = []
    for call in range(CALLS):
        messages += [message_of(len(messages) + number) for number in range(MESSAGES // CALLS)]
        await adapter.step(step_of(call), messages, START + timedelta(seconds=call))
        await settle(bus)
    await outbox.close()


class ShortSession:
    """A short session that goes on step by step."""

    def __init__(self, bus: Bus, address: Address = WORKED) -> None:
        self.outbox = Outbox(bus)
        self._adapter = Adapter(bus, self.outbox, "opencode", address, deadline_ms=10_000)
        self._messages = [message_of(number) for number in range(100)]
        self._step = 0

    async def steps(self, count: int) -> list[float]:
        """Seconds of so many steps, without the first ones."""
        seconds = [await self.step() for _ in range(WARM_UP + count)]
        return seconds[WARM_UP:]

    async def step(self) -> float:
        """Seconds of the next step."""
        self._step += 1
        self._messages.append(message_of(len(self._messages)))
        served = await self._adapter.step(step_of(self._step), self._messages, START + timedelta(seconds=self._step))
        await asyncio.sleep(PAUSE)
        return served.seconds


@asynccontextmanager
async def _asking(bus: Bus, seconds: list[float]) -> AsyncIterator[None]:
    """People who ask so many questions a second, whether they have been answered or not."""
    questions = cycle(_questions())
    running: set[asyncio.Task[None]] = set()

    async def ask_on() -> None:
        while True:
            task = asyncio.create_task(_answered(bus, next(questions), seconds))
            running.add(task)
            task.add_done_callback(running.discard)
            await asyncio.sleep(1 / PER_SECOND)

    asking = asyncio.create_task(ask_on())
    yield
    asking.cancel()
    await asyncio.gather(*running)


def _questions() -> Sequence[Ask]:
    return (
        ExplainAsk(LONG.project, LONG.session),
        ExplainAsk(LONG.project, LONG.session, f"s{CALLS // 2}"),
        SessionAsk(LONG.project, LONG.session),
    )


async def _answered(bus: Bus, question: Ask, seconds: list[float]) -> None:
    began = time.perf_counter()
    try:
        await bus.request(ask(question.NAME, LONG.project), encode(question), 30.0)
    except Unreachable:
        return  # who asks for too much is refused, or waits in vain: the steps are what is measured
    seconds.append(time.perf_counter() - began)
