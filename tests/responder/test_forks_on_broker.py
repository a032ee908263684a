"""Copies of sessions on a real broker: what the rooms make of them together, and again from the log alone."""

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.asks import ExpandAsk, Expanded, Plan, TransformAsk
from schemas.codec import encode
from schemas.events import (
    CompartmentSealed,
    DropRequested,
    FlushRequested,
    HistoryAdvanced,
    HistoryInherited,
    HistoryOrdered,
    HistoryRequested,
    PlanExtended,
)
from schemas.inbox import Inbound, Listed, MessageSeen, Seen, SessionSeen, StepSeen, UsageSeen
from schemas.plan import AnyEdit, Restore, Withdraw, target
from schemas.subjects import Address, ask
from services.console.worker import Console
from services.domain.edits import ServedMessage, apply
from services.edges.client.adapter import as_sent
from services.edges.launcher.broker import Broker
from services.historian.worker import Historian
from services.kit.bus import Appender, Bus, LogReader
from services.kit.room import Room
from services.plan.lanes.drops import placeholder
from services.responder.worker import Responder
from services.settings import Limits
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, NOON, connected, facts, opened, wrapped
from tests.helpers.compressed_sessions import WORDS, ran, settings, text
from tests.helpers.random_sessions import alike
from tests.helpers.sql import select
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

ORIGIN, COPY = HARBOUR, Address(HARBOUR.project, "s2")
Rooms = tuple[Room, ...]


@asynccontextmanager
async def rooms(broker: Broker, data: Path) -> AsyncIterator[Rooms]:
    """All that a session meets, on a connection of their own: what they answer ends with it."""
    interval = sys.getswitchinterval()
    given = replace(settings(), data=data, plan=Limits(protected_tags=1))
    tagger, historian, responder, bus = Tagger(), Historian(), Responder(), await connected(broker)
    try:
        async with AsyncExitStack() as stack:
            for room in (tagger, historian, responder, Console()):
                await stack.enter_async_context(opened(room, bus, given))
            yield tagger, historian, responder
    finally:
        await bus.close()
        sys.setswitchinterval(interval)


class Harness:
    """A session that makes model calls."""

    def __init__(self, bus: Bus, address: Address, names: str = "m") -> None:
        self._bus = bus
        self._names = names
        self._sent = 0
        self.address = address
        self.messages: list[MessageSeen] = []
        self.revision = 0
        self.edits: dict[str, AnyEdit] = {}

    async def report(self, *items: Seen) -> None:
        self._sent += 1
        name = f"{self.address.session}.{self._sent}"
        await self._bus.publish(self.address.inbound("pi"), encode(Inbound(name, NOON, items)), name)

    async def add_message(self, message: MessageSeen) -> None:
        name = f"{self._names}{len(self.messages) + 1}"
        parts = [replace(part, message=name, part=f"{name}.{n}", position=n) for n, part in enumerate(message.parts)]
        at = NOON + timedelta(seconds=len(self.messages))
        self.messages.append(replace(message, message=name, at=at, parts=tuple(parts)))
        await self.report(self.messages[-1])

    async def user(self, words: str) -> None:
        await self.add_message(MessageSeen("", "user", parts=(text(words),)))

    async def turn(self, number: int) -> None:
        await self.user(f"Read file {number}. {WORDS}")
        answer = (text(f"I have read file_{number}.py. {WORDS}"), ran("cat", "line\n" * 200, f"c{number}"))
        await self.add_message(MessageSeen("", "assistant", parts=answer))

    async def step(self, serving: Rooms, step: str, used: int = 0) -> list[ServedMessage]:
        """One model call, as it goes out."""
        listed = tuple(Listed(one.message, tuple(part.part for part in one.parts)) for one in self.messages)
        step_seen = StepSeen(step, messages=listed, count=len(listed), served=self.revision, provider="p", model="opus")
        await self.report(step_seen)
        self.take(await self.ask(serving, step, self.revision))
        if used:
            await self.report(UsageSeen(message=f"a.{step}", input=used))
            await settled(serving)
        return apply([as_sent(one) for one in self.messages], self.edits.values())

    def take(self, plan: Plan) -> None:
        self.revision = plan.revision
        for revision in plan.revisions:
            for edit in revision.edits:
                self.edits.pop(str(target(edit)), None)
                if not isinstance(edit, Restore | Withdraw):
                    self.edits[str(target(edit))] = edit

    async def ask(self, serving: Rooms, step: str, base: int) -> Plan:
        await settled(serving)
        question = TransformAsk(self.address.project, self.address.session, step, base, deadline_ms=60_000)
        reply = await self._bus.request(ask(question.NAME, self.address.project), encode(question), PATIENCE)
        plan = msgspec.json.decode(reply, type=Plan)
        assert "ready" == plan.status, plan.reason
        return plan

    async def append(self, *events: DropRequested | FlushRequested | HistoryOrdered) -> None:
        """Facts of the desk, behind what it has written."""
        for event in events:
            subject = self.address.log(event.TYPE)
            expected = {one.subject: one.envelope.seq async for one in LogReader(self._bus).after(0, subject)}
            await Appender(self._bus).append(wrapped([event], expected, self.address), expected)

    async def fork(self, address: Address, names: str) -> "Harness":
        copy = Harness(self._bus, address, names)
        await copy.report(SessionSeen(forked_from=self.address.session))
        for message in self.messages:
            await copy.add_message(message)
        return copy


async def settled(serving: Rooms) -> None:
    for room in serving:
        await until(room.idle)


async def compressed(bus: Bus, serving: Rooms) -> tuple[Harness, list[ServedMessage]]:
    """A session with history and a drop in force and a drop that waits, and its last call."""
    origin = Harness(bus, ORIGIN)
    await origin.report(SessionSeen(title="Parsing"))
    for number in range(8):
        await origin.turn(number)
    await origin.user("Go on.")
    await origin.step(serving, "s1", used=9000)
    await origin.append(HistoryOrdered(order="wrapup"))
    await until(lambda: any_of(bus, ORIGIN, HistoryAdvanced))
    await origin.append(DropRequested(tags=[21]), FlushRequested())
    await origin.step(serving, "s2", used=5000)
    await origin.append(DropRequested(tags=[24]))
    return origin, await origin.step(serving, "s3", used=5000)


async def any_of(bus: Bus, address: Address, kind: type) -> bool:
    return any(isinstance(event, kind) for event in await facts(bus, address))


async def test_a_copy_goes_on_as_its_origin_and_so_it_does_from_the_log_alone(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path / "one") as first:
        origin, last = await compressed(bus, first)
        assert "annals:head:1" == last[0].id
        copy = await origin.fork(COPY, "f")
        await until(lambda: first[-1].health()["hot_sessions"] == 2)  # nobody has asked about it
        await copy.user("Another way.")
        served = await copy.step(first, "f1")
        assert alike(last) == alike(served)[: len(last)]
        assert len(last) + 1 == len(served)

    async with rooms(broker, tmp_path / "two") as second:  # which know nothing but the log
        again = Harness(bus, COPY, "f")
        again.take(await again.ask(second, "f1", 0))
        assert copy.edits == again.edits
        await copy.report(UsageSeen(message="a.f1", input=5000))
        await settled(second)
        facts_of_copy = await facts(bus, COPY)
        sealed = [event for event in facts_of_copy if isinstance(event, CompartmentSealed)]
        assert sealed[0].first_message == "f1"
        assert [(one.first, one.last, one.p1) for one in sealed] == [
            (one.first, one.last, one.p1) for one in await facts(bus, ORIGIN) if isinstance(one, CompartmentSealed)
        ]
        assert 1 == sum(isinstance(event, HistoryInherited) for event in facts_of_copy)
        assert not any(isinstance(event, HistoryRequested) for event in facts_of_copy)
        assert ["s1"] == [event.origin for event in facts_of_copy if isinstance(event, PlanExtended) and event.origin]

        rows = await select(bus, "select number, status from tags where session = 's2' and status != 'active'")
        assert [(21, "dropped"), (24, "queued")] == sorted(rows)
        opened_up = ExpandAsk(COPY.project, COPY.session, start=1, end=2)
        answer = await bus.request(ask(opened_up.NAME, COPY.project), encode(opened_up), PATIENCE)
        assert "Read file 0." in msgspec.json.decode(answer, type=Expanded).text

        await copy.append(FlushRequested())
        await copy.user("And on.")
        flushed = await copy.step(second, "f2")
        assert flushed[0].parts == served[0].parts
        assert placeholder(24) in [part.output for message in flushed for part in message.parts]


@pytest.mark.parametrize("address", [Address("quay", "s2"), Address(HARBOUR.project, "s3")])
async def test_a_copy_of_what_the_log_does_not_know_begins_as_any_other(
    bus: Bus, broker: Broker, tmp_path: Path, address: Address
) -> None:
    async with rooms(broker, tmp_path) as serving:
        other = Harness(bus, address, "f")
        await other.report(SessionSeen(forked_from="s1"))
        await other.turn(1)
        served = await other.step(serving, "f1", used=100)
        assert served[0].parts[0].text.startswith("§1§ ")
        assert not await any_of(bus, address, HistoryInherited)
