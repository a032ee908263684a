"""One step of a session of 500 messages: from publishing it to the plan in hand, through a whole installation."""

from datetime import UTC, datetime, timedelta

from schemas.inbox import MessageSeen, PartSeen, StepSeen, UsageSeen
from schemas.subjects import Address
from services.domain.window import MAX_CONTEXT
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.kit.bus import Bus
from tests.bench.installations import bare_publishes, bare_requests, installation
from tests.bench.measure import Measure, at_most, median_ms, p99_ms, ratio_at_most
from tests.helpers.installation import settle

START = datetime(2026, 1, 1, tzinfo=UTC)
HISTORY = 500
STEPS = 300
LINES = 8
"""Of each file that a tool shows: outputs are so small a part of the session that no rebase is made for its price."""
MOST_REBASES = 15
"""Of these steps: history is ready at some time, and takes the place of its messages."""
OVERHEAD = 10_000
"""Tokens that the provider counts on top of the messages: the system prompt and the tools."""


async def measure() -> list[Measure]:
    async with installation() as (running, bus):
        endpoint = running.endpoint
        before = await bare_requests(endpoint.url, endpoint.password, bus, STEPS)
        seconds = await _steps(bus)
        after = await bare_requests(endpoint.url, endpoint.password, bus, STEPS)
        disk = await bare_publishes(bus, STEPS)
    bare = median_ms([*before, *after])
    return [
        ratio_at_most("step to plan in hand, p50", median_ms(seconds), "ms", 25.0, median_ms(disk)),
        at_most("step to plan in hand, p99", p99_ms(seconds), "ms", 250.0, bare),
        at_most("of that: one write to disk, p50", median_ms(disk), "ms", 5.0, bare),
    ]


async def _steps(bus: Bus) -> list[float]:
    """Seconds of each step; every other brings an answer with a tool call, the rest what a person says.

    Raises `RuntimeError` where more than a few steps made a rebase: then these are no usual steps.
    """
    outbox = Outbox(bus)
    adapter = Adapter(bus, outbox, "opencode", Address("bench", "steps"), deadline_ms=0)
    messages = [message_of(number, LINES) for number in range(HISTORY)]
    served = await adapter.step(step_of(0), messages, START)
    seconds: list[float] = []
    rebases = 0
    for number in range(1, STEPS + 1):
        at = START + timedelta(seconds=number)
        messages.append(message_of(HISTORY + number, LINES))
        await adapter.saw(messages[-1])
        used = OVERHEAD + served.plan.tokens_after
        await adapter.answered(UsageSeen(messages[-1].message, input=100, cache_read=used - 100), at)
        await outbox.flushed()
        await settle(bus)
        served = await adapter.step(step_of(number), messages, at)
        seconds.append(served.seconds)
        assert served.plan.status == "ready", served.plan
        rebases += bool(served.causes)
    await outbox.close()
    if rebases > MOST_REBASES:
        raise RuntimeError(f"{rebases} of {STEPS} steps made a rebase: give the outputs fewer lines")
    return seconds


def step_of(number: int) -> StepSeen:
    return StepSeen(f"s{number}", model="bench", provider="bench", context_limit=MAX_CONTEXT)


def message_of(number: int, lines: int = 100) -> MessageSeen:
    """A message of the session. `lines`: of the file that its tool shows, where it has one."""
    name = f"m{number}"
    parts = [PartSeen(name, "text", f"{name}t", text="some words of a sentence " * 10)]
    if number % 2:
        parts.append(
            PartSeen(
                name, "tool", f"{name}c", 1, tool="read", call=f"c{number}", input='{"path": "a.py"}',
                output="a line of a file\n" * lines, status="completed",
            )
        )  # fmt: skip
    return MessageSeen(name, "assistant" if number % 2 else "user", START, parts=tuple(parts))
