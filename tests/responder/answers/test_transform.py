"""A plan is in the log before it is served, also where the broker is late to say so."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from schemas.commands import MemoryWrite
from schemas.envelope import Envelope
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, Unconfirmed, Unreachable
from tests.helpers.installation import facts
from tests.helpers.memory_sessions import begun, done, heads, rooms

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
        assert ("failed", "the plan could not be kept: the broker fails") == (plan.status, plan.reason)
        assert 1 == unsteady.left
