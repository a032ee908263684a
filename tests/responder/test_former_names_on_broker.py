"""A project that had another name before, on a real broker: its memory is read under both, and no prompt changes."""

from pathlib import Path

import msgspec
import pytest

from schemas.asks import MemoryAsk, MemoryReply
from schemas.codec import encode
from schemas.commands import MemoryWrite, ProjectMerge
from schemas.inbox import SessionSeen
from schemas.subjects import Address, ask
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from tests.helpers.broker_world import HARBOUR
from tests.helpers.memory_sessions import PATIENCE, asked, begun, done, heads, notices, rooms
from tests.helpers.sql import select
from tests.helpers.waiting import until
from tests.responder.test_memory_on_broker import OTHER, RULE

pytestmark = pytest.mark.broker

FORMER = Address("dir-harbour")


async def texts(bus: Bus, project: str) -> set[str]:
    reply = await bus.request(ask(MemoryAsk.NAME, project), encode(MemoryAsk(project, view="list")), PATIENCE)
    return {one.text for one in msgspec.json.decode(reply, type=MemoryReply).memories}


async def test_it_is_read_under_both_names_and_a_running_session_hears_nothing_of_the_move(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await done(bus, MemoryWrite(text=RULE), FORMER)
        running = await begun(bus, "opencode", "one")
        assert [] == heads(await running.step(serving))
        await done(bus, ProjectMerge(former=FORMER.project))
        await until(lambda: reads(bus, {RULE}))
        for turn in range(3):
            await running.says(f"go on {turn}")
            edits = await running.step(serving)
            assert ([], []) == (heads(edits), notices(edits))
        fresh = await begun(bus, "pi", "two")
        (head,) = heads(await fresh.step(serving))
        assert f"\n- {RULE}\n" in head
        await done(bus, MemoryWrite(text=OTHER), FORMER)  # by a harness that knows the former name alone
        await until(lambda: reads(bus, {RULE, OTHER}))
        assert {RULE, OTHER} == await texts(bus, FORMER.project)
        await running.says("and on")
        (notice,) = notices(await running.step(serving))
        assert (True, False) == (OTHER in notice, RULE in notice)
        for room in serving:
            await until(room.idle)
        rows = await select(bus, f"select text from memories where project = '{HARBOUR.project}' and status = 'active'")
        assert {(RULE,), (OTHER,)} == {*rows}


async def reads(bus: Bus, wanted: set[str]) -> bool:
    return await texts(bus, HARBOUR.project) == wanted


async def test_of_a_home_directory_nothing_is_served_and_who_asks_gets_the_reason(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await done(bus, MemoryWrite(text=RULE))  # before anybody reported what this directory is
        session = await begun(bus, "opencode", "one")
        await session.report(SessionSeen(directory="/home/ada", home=True))
        assert [] == heads(await session.step(serving))
        assert "this is a home directory" in (await asked(bus, "list")).error.lower()
