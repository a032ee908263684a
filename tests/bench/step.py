"""One step of a session of 500 messages: from publishing it to the plan in hand, through a whole installation."""

from datetime import UTC, datetime, timedelta

from schemas.inbox import MessageSeen, PartSeen, StepSeen
from schemas.subjects import Address
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.kit.bus import Bus
from tests.bench.installations import bare_publishes, bare_requests, installation
from tests.bench.measure import Measure, at_most, median_ms, p99_ms, ratio_at_most
from tests.helpers.installation import settle

START = datetime(2026, 1, 1, tzinfo=UTC)
HISTORY = 500
STEPS = 300


async def measure() -> list[Measure]:
    async with installation() as (running, bus):
        endpoint = running.endpoint
        before = await bare_requests(endpoint.url, endpoint.password, bus, STEPS)
        seconds = await _steps(bus)
        after = await bare_requests(endpoint.url, endpoint.password, bus, STEPS)
        disk = await bare_publishes(bus, STEPS)
    bare = median_ms([*before, *after])
    return [
        ratio_at_most("step to plan in hand, p50", median_ms(seconds), "ms", 10.0, bare),
        at_most("step to plan in hand, p99", p99_ms(seconds), "ms", 250.0, bare),
        at_most("of that: one write to disk, p50", median_ms(disk), "ms", 5.0, bare),
    ]


async def _steps(bus: Bus) -> list[float]:
    """Seconds of each step; every other brings an answer with a tool call, the rest what a person says."""
    outbox = Outbox(bus)
    adapter = Adapter(bus, outbox, "opencode", Address("bench", "steps"), deadline_ms=0)
    messages = [message_of(number) for number in range(HISTORY)]
    await adapter.step(step_of(0), messages, START)
    seconds = []
    for number in range(1, STEPS + 1):
        messages.append(message_of(HISTORY + number))
        await adapter.saw(messages[-1])
        await outbox.flushed()
        await settle(bus)
        served = await adapter.step(step_of(number), messages, START + timedelta(seconds=number))
        seconds.append(served.seconds)
        assert served.plan.status == "ready", served.plan
    await outbox.close()
    return seconds


def step_of(number: int) -> StepSeen:
    return StepSeen(f"s{number}", model="bench", provider="bench", context_limit=10**9)


def message_of(number: int) -> MessageSeen:
    name = f"m{number}"
    parts = [PartSeen(name, "text", f"{name}t", text="some words of a sentence " * 10)]
    if number % 2:
        parts.append(
            PartSeen(
                name, "tool", f"{name}c", 1, tool="read", call=f"c{number}", input='{"path": "a.py"}',
                output="a line of a file\n" * 100, status="completed",
            )
        )  # fmt: skip
    return MessageSeen(name, "assistant" if number % 2 else "user", START, parts=tuple(parts))
