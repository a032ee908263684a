"""A plan is in the log before it is served, also where the broker is late to say so."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from schemas.asks import Plan, TransformAsk
from schemas.codec import encode
from schemas.commands import MemoryWrite
from schemas.envelope import Envelope
from schemas.status_asks import Status, StatusAsk
from schemas.subjects import ask
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, Unconfirmed, Unreachable
from services.kit.room import Room
from services.kit.turns import Queue
from services.responder.answers.base import PLANS
from services.responder.worker import Responder
from tests.helpers.broker_world import HARBOUR
from tests.helpers.installation import facts
from tests.helpers.memory_sessions import begun, done, heads, rooms
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

RULE = "Always run the tests before a commit."
append = Appender.append


class Unsteady:
    """A broker that fails with the first plans that it is given; it may have written them."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, times: int, *, error: type[Unreachable], writes: bool = False
    ) -> None:
        self.left = times
        self._error = error
        self._writes = writes

        async def appended(to: Appender, envelopes: Sequence[Envelope], expected: Mapping[str, int]) -> list[int]:
            return await self._append(to, envelopes, expected)

        monkeypatch.setattr(Appender, "append", appended)

    async def _append(self, to: Appender, envelopes: Sequence[Envelope], expected: Mapping[str, int]) -> list[int]:
        if not self.left or not any(one.type.startswith("plan.") for one in envelopes):
            return await append(to, envelopes, expected)
        self.left -= 1
        if self._writes:
            await append(to, envelopes, expected)
        raise self._error("the broker fails")


@pytest.mark.parametrize("writes", [False, True], ids=["not written", "written"])
async def test_a_plan_that_is_not_confirmed_is_made_anew_while_the_asker_listens(
    bus: Bus, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, writes: bool
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await done(bus, MemoryWrite(text=RULE))
        harness = await begun(bus, "pi", "one")
        Unsteady(monkeypatch, 2, error=Unconfirmed, writes=writes)
        (head,) = heads(await harness.step(serving))
        assert RULE in head
        assert 1 == len([envelope for envelope, _ in await facts(bus) if envelope.type.startswith("plan.")])


async def test_one_who_asks_is_answered_when_their_time_is_over(
    bus: Bus, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await done(bus, MemoryWrite(text=RULE))
        harness = await begun(bus, "pi", "one")
        Unsteady(monkeypatch, 1_000_000, error=Unconfirmed)
        plan = await harness.asks(serving, deadline_ms=500)
        assert (plan.status, plan.revisions) in {("failed", ()), ("late", ())}


async def test_a_plan_that_is_refused_is_not_made_anew(
    bus: Bus, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as on a full disk, where the model call would only wait."""
    async with rooms(broker, tmp_path) as serving:
        await done(bus, MemoryWrite(text=RULE))
        harness = await begun(bus, "pi", "one")
        unsteady = Unsteady(monkeypatch, 2, error=Unreachable)
        plan = await harness.asks(serving)
        assert ("failed", "the plan could not be stored: the broker fails") == (plan.status, plan.reason)
        assert 1 == unsteady.left


async def test_a_revision_that_there_is_not_is_answered_with_the_plan(
    bus: Bus, broker: Broker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await done(bus, MemoryWrite(text=RULE))
        harness = await begun(bus, "pi", "one")
        whole = await harness.asks(serving)
        assert whole.revisions
        for revision, edits in ((-1, whole.revisions), (1 - 2**53, whole.revisions), (2**53 - 1, ())):
            harness.revision = revision
            plan = await harness.asks_again()
            assert ("ready", whole.revision, edits) == (plan.status, plan.revision, plan.revisions)
    assert "could not be answered" not in caplog.text


@asynccontextmanager
async def busy(serving: Sequence[Room]) -> AsyncIterator[Queue]:
    """While other plans are made, as many as are at once."""
    (responder,) = (room for room in serving if isinstance(room, Responder))
    async with AsyncExitStack() as stack:
        for _ in range(PLANS.at_once):
            await stack.enter_async_context(responder.plans.turn("transform"))
        yield responder.plans


async def plans_of(bus: Bus) -> int:
    return len([envelope for envelope, _ in await facts(bus) if envelope.type.startswith("plan.")])


async def test_a_call_that_has_waited_too_long_for_its_turn_costs_no_plan(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        harness = await begun(bus, "pi", "one")
        async with busy(serving) as plans:
            plan = await harness.asks(serving, deadline_ms=1)
        assert ("late", 0, ()) == (plan.status, plan.revision, plan.revisions)
        assert ({"expired": 1}, 0) == (plans.dropped, await plans_of(bus))
        await harness.says("go on")
        assert await harness.step(serving)
        assert 1 == await plans_of(bus)
        assert {"waiting": 0, "in_hand": 0, "dropped": {"expired": 1}} == serving[2].health()["plans"]
        status = msgspec.json.decode(await bus.request(ask(StatusAsk.NAME), encode(StatusAsk()), PATIENCE), type=Status)
        assert (0, 1) == (status.plans_waiting, status.plans_dropped)


async def test_a_newer_call_of_a_session_makes_the_one_that_waits_useless(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        harness, other = await begun(bus, "pi", "one"), await begun(bus, "pi", "two")
        async with busy(serving) as plans:
            older = asyncio.create_task(harness.asks(serving))
            await until(lambda: len(plans) == 1)
            elsewhere = asyncio.create_task(other.asks(serving))
            await until(lambda: len(plans) == 2)
            newer = asyncio.create_task(harness.asks(serving))
            replaced = await older
            assert "late" == replaced.status
            assert "a newer transform of the same session has come" in replaced.reason
        assert ["ready", "ready"] == [(await one).status for one in (newer, elsewhere)]
        assert {"replaced": 1} == plans.dropped


async def test_a_call_whose_step_is_not_read_in_time_is_counted(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    async with rooms(broker, tmp_path) as serving:
        await (await begun(bus, "pi", "one")).asks(serving)
        question = encode(TransformAsk(HARBOUR.project, "one", "never", deadline_ms=1))
        reply = await bus.request(ask(TransformAsk.NAME, HARBOUR.project), question, PATIENCE)
        assert "late" == msgspec.json.decode(reply, type=Plan).status
        assert {"waiting": 0, "in_hand": 0, "dropped": {"expired": 1}} == serving[2].health()["plans"]
