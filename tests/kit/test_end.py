"""The end of a room: what is in hand has ended, one way or another, before the connection closes."""

import asyncio

import pytest

from services.edges.launcher.broker import Broker
from services.kit.jobs import Outcome
from tests.helpers.bakery import Bakery, BakeryJob, Kind, baking, order
from tests.helpers.broker_world import connected, quick_settings

pytestmark = pytest.mark.broker


async def test_what_is_cut_off_at_the_end_has_cleaned_up_before_the_connection_closes(broker: Broker) -> None:
    bus, kind = await connected(broker), Kind()
    entered = asyncio.Event()
    cleaned = []

    async def tidy(_: BakeryJob) -> Outcome[Bakery]:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(await bus.messages("LOG"))
        raise AssertionError("it is cut off before")

    kind.baker = tidy
    async with baking(bus, kind, quick_settings(grace=0.01)):
        await order(bus, "bread 1")
        await entered.wait()
    await bus.close()
    assert [1] == cleaned
