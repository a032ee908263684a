"""`ask.erasures` on a real broker: all orders come, however many and however long they are."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.envelope import Actor
from schemas.erasure_asks import ErasureOrder, ErasureOrders, ErasuresAsk
from schemas.events import ErasureOrdered
from schemas.subjects import ask
from services.domain.aliases import GLOBAL
from services.domain.envelopes import envelope
from services.domain.erasure.orders import orders
from services.domain.erasure.scope import ErasureScope
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from tests.helpers.memory_sessions import rooms
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


async def recorded(bus: Bus, made: Sequence[ErasureOrdered]) -> None:
    for number, order in enumerate(made):
        fact = envelope(order, GLOBAL, {}, at=NOON, actor=Actor("person", "ada"), cause=f"e{number}", number=0)
        await bus.publish(GLOBAL.log(order.TYPE), encode(fact), fact.id)


async def answered(bus: Bus) -> list[list[ErasureOrder]]:
    """The orders of each reply, as a plugin asks for them."""
    pages: list[list[ErasureOrder]] = []
    since = 0
    while True:
        reply = await bus.request(ask(ErasuresAsk.NAME), encode(ErasuresAsk(since=since)), PATIENCE)
        page = msgspec.json.decode(reply, type=ErasureOrders)
        assert "" == page.error
        pages.append([*page.orders])
        if not page.more:
            return pages
        assert page.more > since
        since = page.more


async def test_orders_of_long_names_and_many_short_ones_all_come_in_few_replies(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    names = frozenset(f"{'ses_' * 60}{number:06}" for number in range(6_000))
    long = [*orders(ErasureScope(session_ids=names), NOON, random.Random(1).randbytes)]
    short = [*orders(ErasureScope(session_ids=frozenset({"s"})), NOON, random.Random(2).randbytes)] * 40
    short = [msgspec.structs.replace(one, order=f"{number:016}") for number, one in enumerate(short)]
    async with rooms(broker, tmp_path / "rooms"):
        assert [[]] == await answered(bus)
        await recorded(bus, [*long, *short])
        pages = await answered(bus)
    found = [one for page in pages for one in page]
    assert [one.order for one in (*long, *short)] == [one.order for one in found]
    assert names | {"s"} == {name for one in found for name in one.sessions}
    assert len(pages) < len(long)
