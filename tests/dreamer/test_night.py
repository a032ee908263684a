"""A night of the dreamer next to sessions that go on: no prompt is rebased for it, whatever it changes."""

from pathlib import Path

import pytest

from schemas.commands import DreamOrder, MemoryWrite, PolicySet
from schemas.envelope import Actor
from schemas.events import DreamFinished, MemoryArchived, MemoryMerged, PlanRebased
from schemas.subjects import Address
from services.dreamer.worker import Dreamer
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from tests.helpers.broker_world import HARBOUR, facts, opened, quick_settings
from tests.helpers.memory_sessions import begun, done, heads, rooms
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

PROJECT = Address(HARBOUR.project)
AGENT = Actor("agent", "build")
PLACES = ("quay", "crane", "tide", "berth")


async def test_what_a_night_changes_rebases_no_session_that_goes_on(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    async with rooms(broker, tmp_path / "one") as serving:
        await done(bus, PolicySet("dreamer", "applied"))
        for place in PLACES:
            for text in (f"Run `make {place}` before every push.", f"Before each push, always run `make {place}`."):
                await done(bus, MemoryWrite(text=text, category="PROJECT_RULES"), Address(PROJECT.project, "w"), AGENT)
        old, new = await begun(bus, "opencode", "old"), await begun(bus, "pi", "new")
        for session in (old, new):
            assert heads(await session.step(serving))
        before = await rebases(bus)
        async with opened(Dreamer(), bus, quick_settings()):
            await done(bus, DreamOrder())
            await until(lambda: has_ended(bus))
        assert len(PLACES) == await changes(bus)
        for words in ("go on", "and on", "and on again"):
            for session in (old, new):
                await session.says(words)
                assert [] == heads(await session.step(serving))
    async with rooms(broker, tmp_path / "two") as serving:  # which know nothing but the log
        for session in (old, new):
            await session.says("to the end")
            assert [] == heads(await session.step(serving))
    assert before == await rebases(bus)


async def rebases(bus: Bus) -> int:
    return sum(isinstance(event, PlanRebased) for event in await facts(bus))


async def changes(bus: Bus) -> int:
    return sum(isinstance(event, MemoryMerged | MemoryArchived) for event in await facts(bus, PROJECT))


async def has_ended(bus: Bus) -> bool:
    return any(isinstance(event, DreamFinished) for event in await facts(bus, PROJECT))
