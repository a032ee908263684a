"""What a step costs the broker: requests and synced writes, counted as the tagger sends them."""

from collections.abc import AsyncIterator

import pytest

from schemas.codec import encode
from schemas.inbox import Inbound, Listed, MessageSeen, PartSeen, Seen, SessionSeen, StepSeen, UsageSeen
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, NOON, connected, facts, opened, quick_settings
from tests.helpers.sent_requests import Sent
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

SESSIONS = 40


@pytest.fixture
async def sent(broker: Broker) -> AsyncIterator[Sent]:
    """The tagger's connection."""
    bus = await connected(broker)
    yield Sent(bus)
    await bus.close()


async def see(bus: Bus, name: str, *items: Seen, address: Address = HARBOUR) -> None:
    await bus.publish(address.inbound("pi"), encode(Inbound(name, NOON, items)), name)


def text(message: str, part: str) -> MessageSeen:
    return MessageSeen(message, "user", parts=(PartSeen(message, "text", part, text="go"),))


def step(name: str, *listed: Listed, after: str = "", count: int = 1) -> StepSeen:
    return StepSeen(name, after=after, messages=listed, count=count, provider="p", model="m", context_limit=2000)


async def test_a_step_is_a_write_for_each_fact_and_a_read_of_what_is_not_known(bus: Bus, sent: Sent) -> None:
    room = Tagger()
    async with opened(room, sent.bus, quick_settings()):
        await see(bus, "1", SessionSeen(directory="/w"), text("m1", "p1"), step("t1", Listed("m1", ("p1",))))
        await until(room.idle)
        known = len(await facts(bus))
        sent.counts.clear()
        ran = PartSeen("m2", "tool", "p3", tool="bash", call="c1", input="{}", output="x", status="completed")
        answer = MessageSeen("m2", "assistant", parts=(PartSeen("m2", "text", "p2", text="ok"), ran))
        await see(bus, "2", answer, UsageSeen("m2", 100, cache_read=300), text("m3", "p4"))
        listed = Listed("m2", ("p2", "p3")), Listed("m3", ("p4",))
        await see(bus, "3", step("t2", *listed, after="m1", count=3))
        await until(room.idle)
    del sent.counts["polled"]
    made = len(await facts(bus)) - known
    assert 10 == made
    assert {"fact": made, "acknowledged": 2, "read": 1} == sent.counts


async def test_steps_that_wait_together_are_written_together(bus: Bus, sent: Sent) -> None:
    """As behind a tagger that was away, or is slower than what comes."""
    for number in range(SESSIONS):
        address = Address("harbour", f"s{number}")
        await see(bus, f"{number}", text("m1", "p1"), step("t1", Listed("m1", ("p1",))), address=address)
    room = Tagger()
    async with opened(room, sent.bus, quick_settings()):
        await until(room.idle)
    made = len(await facts(bus))
    assert made >= 6 * SESSIONS
    assert sent.synced <= made / 2
