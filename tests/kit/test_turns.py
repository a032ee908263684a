"""Questions that wait for their turn, by a clock of the test's own; and over a real broker, of several clients."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from schemas.ask import Ask
from schemas.codec import encode
from schemas.subjects import ask
from services.edges.launcher.broker import Broker
from services.kit.asks import AskHandler
from services.kit.bus import Bus
from services.kit.bus.asker import client_of
from services.kit.turns import Expired, Queue, ReplacedByNewer, TooMany, Turns
from tests.helpers.broker_world import connected, kit_of, quick_settings
from tests.helpers.waiting import PATIENCE, until

DEADLINE = 250.0
SECONDS = 20.0
"""Of the test's clock, which ends no wait by itself: it moves by what is answered."""


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def waits(queue: Queue, count: int) -> None:
    await until(lambda: len(queue) == count)


async def answered(queue: Queue, order: list[str], name: str, key: str | None = None, until: float = 1e6) -> str:
    async with queue.turn("test", key=key, until=until):
        order.append(name)
        return name


async def test_a_question_that_expires_while_it_waits_costs_no_work() -> None:
    clock, order = Clock(), list[str]()
    queue = Queue(Turns(1, 8), clock)
    async with queue.turn("test"):
        late, alive = (
            asyncio.create_task(answered(queue, order, name, until=end)) for name, end in (("late", 300), ("2", 900))
        )
        await waits(queue, 2)
        clock.now = 400
    assert "2" == await alive
    with pytest.raises(Expired, match="ask again"):
        await late
    assert ["2"] == order
    assert {"waiting": 0, "in_hand": 0, "dropped": {"expired": 1}} == queue.health


async def test_a_question_that_has_expired_on_its_way_is_not_begun() -> None:
    clock, order = Clock(), list[str]()
    clock.now = 10
    with pytest.raises(Expired):
        await answered(Queue(Turns(1, 8), clock), order, "late", until=10)
    assert not order


async def test_a_waiting_request_ends_with_its_time_though_nothing_else_ends() -> None:
    order = list[str]()
    queue = Queue(Turns(1, 8), Clock())
    async with queue.turn("test"):
        with pytest.raises(Expired):
            await answered(queue, order, "late", until=0.001)
    assert not order


async def test_a_newer_question_replaces_the_one_that_waits() -> None:
    order = list[str]()
    queue = Queue(Turns(1, 8))
    async with queue.turn("test"):
        old = asyncio.create_task(answered(queue, order, "old", "s1"))
        await waits(queue, 1)
        new = asyncio.create_task(answered(queue, order, "new", "s1"))
        with pytest.raises(ReplacedByNewer):
            await old
    assert "new" == await new
    assert ["new"] == order


async def test_turns_outlive_those_who_give_up() -> None:
    """While they wait, and when a turn was just given to them."""
    order = list[str]()
    queue = Queue(Turns(1, 8))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(queue.turn("test"))
        tasks = [asyncio.create_task(answered(queue, order, str(number))) for number in range(3)]
        await waits(queue, 3)
        tasks[0].cancel()
        await waits(queue, 2)
    tasks[1].cancel()  # the turn is its own since a moment
    assert "2" == await tasks[2]
    assert (["2"], 0) == (order, queue.health["in_hand"])


async def test_a_turn_that_breaks_is_free_again() -> None:
    queue = Queue(Turns(1, 0))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            async with queue.turn("test"):
                raise ZeroDivisionError
    async with queue.turn("test"):
        with pytest.raises(TooMany, match="0 questions test wait already: ask again in a moment"):
            async with queue.turn("test"):
                pass


@pytest.mark.parametrize(
    ("reply", "client"), [("_INBOX.a.1", "_INBOX.a"), ("_INBOX.who.a.1", "_INBOX.who.a"), ("", ""), ("x", "")]
)
def test_a_client_is_its_inbox(reply: str, client: str) -> None:
    assert client == client_of(reply)


class GateAsk(Ask, frozen=True):
    """Something to answer when the test says so."""

    NAME: ClassVar[str] = "gate"

    name: str


class Gate:
    """What answers in turn, one at a time, as soon as it is open."""

    def __init__(self, server: Bus, data: Path) -> None:
        self.clock = Clock()
        self.queue = Queue(Turns(1, 1000), self.clock)
        self.order: list[str] = []
        self.in_time: list[str] = []
        self.opened = asyncio.Event()
        self._server, self._data = server, data

    async def open(self, stack: AsyncExitStack) -> None:
        kit = await stack.enter_async_context(kit_of("gate", self._server, quick_settings(self._data)))
        await AskHandler(kit, GateAsk, self._answer, str).open()

    async def _answer(self, question: GateAsk) -> str:
        deadline = self.clock() + DEADLINE
        async with self.queue.turn("gate", until=deadline):
            self.order.append(question.name)
            await self.opened.wait()
            self.clock.now += SECONDS
            if self.clock.now <= deadline:
                self.in_time.append(question.name)
            return question.name


@pytest.fixture
async def gate(broker: Broker, tmp_path: Path) -> AsyncIterator[Gate]:
    server = await connected(broker)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(server.close)
        made = Gate(server, tmp_path)
        await made.open(stack)
        yield made


async def asked(client: Bus, name: str) -> str:
    reply = await client.request(ask(GateAsk.NAME), encode(GateAsk(name)), PATIENCE)
    return msgspec.json.decode(reply, type=str)


@pytest.mark.broker
async def test_a_bystander_has_its_share_during_a_flood(broker: Broker, gate: Gate) -> None:
    flooding, quiet = await connected(broker), await connected(broker)
    flood = [asyncio.create_task(asked(flooding, f"f{number}")) for number in range(100)]
    await waits(gate.queue, 99)
    bystander = [asyncio.create_task(asked(quiet, f"b{number}")) for number in range(2)]
    await waits(gate.queue, 101)
    gate.opened.set()
    assert ["b0", "b1"] == await asyncio.gather(*bystander)
    assert ["f0", "f1", "b0", "f2", "b1"] == gate.order[:5]
    await asyncio.gather(*flood)
    await flooding.close()
    await quiet.close()


@pytest.mark.broker
async def test_beyond_the_knee_the_work_is_for_those_who_listen(broker: Broker, gate: Gate) -> None:
    """Three times as much as can be answered in time comes at once, from three clients."""
    clients = [await connected(broker) for _ in range(3)]
    most = int(DEADLINE / SECONDS)
    flood = [asyncio.create_task(asked(clients[number % 3], str(number))) for number in range(3 * most)]
    await waits(gate.queue, 3 * most - 1)
    gate.opened.set()
    await asyncio.gather(*flood)
    assert len(gate.in_time) >= 0.8 * most
    assert len(gate.order) - len(gate.in_time) <= 0.2 * most, "what is answered too late is worth nothing"
    assert {"expired": 3 * most - len(gate.order)} == gate.queue.dropped
    for client in clients:
        await client.close()
