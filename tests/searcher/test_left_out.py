"""What is left out of an answer: that which the session that asks is being served now, and nothing else."""

from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.commands import DropQueue, FlushRequest, MemoryQuarantine, MemoryWrite
from schemas.envelope import Actor
from schemas.plan import ReplaceText
from schemas.search_asks import Hits, SearchAsk
from schemas.subjects import Address, ask
from services.edges.launcher.broker import Broker
from services.embedder.worker import Embedder
from services.indexer.worker import Indexer
from services.kit.bus import Bus
from services.searcher.worker import Searcher
from services.settings import Settings
from tests.helpers.broker_world import HARBOUR, opened, quick_settings
from tests.helpers.compressed_sessions import text
from tests.helpers.memory_sessions import PATIENCE, asked, begun, done, heads, rooms
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

RULE = "Always ask the pilots before the tide table is printed."
LONG = "The tide table hangs behind the pilots' door. " + "So much was written of it. " * 2_000

NEWEST = quick_settings().plan.protected_tags
"""Tags that no drop reaches."""


async def found(bus: Bus, session: str) -> set[str]:
    """The ids of what bears on the tide table, by messages and by memories."""
    question = SearchAsk(HARBOUR.project, "tide table", session=session, sources=("message", "memory"))
    hits = Hits(degraded=("nothing was asked",))

    async def whole() -> bool:
        nonlocal hits
        reply = await bus.request(ask(SearchAsk.NAME, HARBOUR.project), encode(question), PATIENCE)
        hits = msgspec.json.decode(reply, type=Hits)
        return not hits.degraded  # the newest rows are given their vectors last

    await until(whole)
    assert "" == hits.error
    return {hit.id for hit in hits.hits}


async def test_what_the_asker_has_before_them_is_left_out_until_it_is_dropped(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    settings, indexer = Settings(data=tmp_path), Indexer()
    async with (
        opened(Embedder(), bus, settings),
        opened(indexer, bus, settings),
        opened(Searcher(), bus, settings),
        rooms(broker, tmp_path) as serving,
    ):
        await done(bus, MemoryWrite(text=RULE))
        one = await begun(bus, "opencode", "one")
        message = await one.says_parts("assistant", (text(LONG),))
        await one.says("and now")
        (head,) = heads(await one.step(serving))
        assert RULE in head
        child = await begun(bus, "opencode", "child", "subagent")
        assert [] == heads(await child.step(serving))
        await until(indexer.idle)

        (rule,) = (one.id for one in (await asked(bus, "list")).memories)
        both = {message, rule}
        assert both == both & await found(bus, "")
        assert set() == both & await found(bus, "one")
        assert both == both & await found(bus, "child")

        for number in range(NEWEST):
            await one.says(f"number {number}")
        await one.step(serving)
        assert set() == both & await found(bus, "one")
        address = Address(HARBOUR.project, "one")
        await done(bus, DropQueue("2"), address)
        await done(bus, FlushRequest(), address)
        await one.says("go on")
        assert [f"{message}.0"] == [edit.part for edit in await one.step(serving) if isinstance(edit, ReplaceText)]
        assert {message} == both & await found(bus, "one")


async def test_messages_of_a_quarantined_session_reach_no_other_one_until_that_is_undone(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    settings, indexer = Settings(data=tmp_path), Indexer()
    async with (
        opened(Embedder(), bus, settings),
        opened(indexer, bus, settings),
        opened(Searcher(), bus, settings),
        rooms(broker, tmp_path) as serving,
    ):
        poisoned = await begun(bus, "opencode", "poisoned")
        message = await poisoned.says_parts("assistant", (text("The tide table is sent by Mallory's mail."),))
        await poisoned.says("and now")
        await poisoned.step(serving)
        other = await begun(bus, "opencode", "other")
        own = await other.says("Where does the tide table hang?")
        await other.step(serving)
        await until(indexer.idle)
        assert message in await found(bus, "other")

        await done(bus, MemoryQuarantine("session", "poisoned", reason="a forged mail"))
        for session in ("other", "unborn"):
            assert message not in await found(bus, session)
        assert own in await found(bus, "unborn"), "only that session's words are left out"
        assert {message, own} <= await found(bus, ""), "a person may still look"
        question = SearchAsk(HARBOUR.project, message, session="other")
        reply = await bus.request(ask(SearchAsk.NAME, HARBOUR.project), encode(question), PATIENCE)
        assert message not in {hit.id for hit in msgspec.json.decode(reply, type=Hits).hits}, "nor by its id"

        await done(bus, MemoryQuarantine("session", "poisoned", undo=True))
        assert message in await found(bus, "other")

        written = MemoryWrite(text=RULE, category="PROJECT_RULES", message=message)
        await done(bus, written, Address(HARBOUR.project, "poisoned"), Actor("agent", "opencode"))
        await done(bus, MemoryQuarantine("message", message, reason="a forged mail"))
        await until(indexer.idle)
        for session in ("other", "unborn"):
            assert message not in await found(bus, session)
        await done(bus, MemoryQuarantine("message", message, undo=True))
        assert message in await found(bus, "other")
