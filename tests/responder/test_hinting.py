"""Hints on a real broker: what is known is looked for once, when a person's message comes, and never later."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import Event, HintDecided, MessageRecorded, PartRecorded
from services.domain.envelopes import envelopes
from services.domain.texts.clean import CONTEXT_ELEMENT
from services.embedder.worker import Embedder
from services.kit.bus import Appender, Bus, LogReader
from services.responder.worker import Responder
from services.searcher.worker import SEARCHES, Searcher
from services.settings import Settings
from tests.helpers.broker_world import HARBOUR, PERSON, facts, opened
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import row
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

KNOWN = row(
    "memory",
    "mem1",
    "Reach the tide gauge through the jump host because its network is private",
    role="decision",
    seq=1,
)
ANSWERED = row("output", "m0", "services/quay/lighthouse_relay.py", session="s0", ordinal=1, seq=2)


@pytest_asyncio.fixture
async def house(bus: Bus, tmp_path: Path) -> AsyncIterator[Bus]:
    settings = Settings(data=tmp_path)
    async with opened(Embedder(), bus, settings), opened(Searcher(), bus, settings):
        await MadeIndex(tmp_path, bus).write([KNOWN, ANSWERED])
        async with opened(Responder(), bus, settings):
            yield bus


async def say(
    bus: Bus, name: str, text: str, role: str = "user", at: datetime | None = None, more: tuple[Event, ...] = ()
) -> None:
    events: list[Event] = [
        MessageRecorded(message=name, role=role),
        PartRecorded(message=name, part=f"{name}.0", kind="text", text=text, bytes=len(text)),
        *more,
    ]
    wrapped = envelopes(events, HARBOUR, {}, at=at or datetime.now(UTC), actor=PERSON, cause=name)
    await Appender(bus).append(wrapped, {})


async def hints(bus: Bus) -> list[HintDecided]:
    return [event for event in await facts(bus, HARBOUR) if isinstance(event, HintDecided)]


async def test_what_is_known_is_decided_once_for_a_message(house: Bus) -> None:
    await say(house, "m1", "How do I reach the tide gauge through the jump host?")

    async def is_decided() -> bool:
        return bool(await hints(house))

    await until(is_decided)
    (hint,) = await hints(house)
    assert ("m1", "hint", ["mem1"], ["memory"]) == (hint.message, hint.decision, hint.ids, hint.sources)
    assert hint.score >= hint.threshold


async def test_a_name_in_an_output_is_no_hint(house: Bus) -> None:
    await say(house, "m1", "services/quay/lighthouse_relay.py")

    async def is_decided() -> bool:
        return bool(await hints(house))

    await until(is_decided)
    (hint,) = await hints(house)
    assert ("m1", []) == (hint.message, hint.ids)
    assert "hint" != hint.decision


async def test_what_is_not_announced_is_decided_too_with_its_reason(house: Bus) -> None:
    await say(house, "m1", "Go on")
    await say(house, "m2", "Which colour should the new letter heads of the accounting department have?")
    await say(house, "m3", "The tide gauge is reached through the jump host", role="assistant")
    old = datetime.now(UTC) - timedelta(hours=1)
    await say(house, "m4", "How do I reach the tide gauge through the jump host?", at=old)

    async def are_decided() -> bool:
        return len(await hints(house)) > 1

    await until(are_decided)
    assert {("m1", "too_short"), ("m2", "empty")} == {(one.message, one.reason) for one in await hints(house)}
    assert {"skip"} == {one.decision for one in await hints(house)}


async def test_without_a_searcher_the_reason_is_that_nothing_could_be_looked_for(bus: Bus, tmp_path: Path) -> None:
    async with opened(Responder(), bus, Settings(data=tmp_path)):
        await say(bus, "m1", "How do I reach the tide gauge through the jump host?")

        async def is_decided() -> bool:
            return bool(await hints(bus))

        await until(is_decided)
    assert ["error"] == [one.reason for one in await hints(bus)]


async def test_a_search_that_others_keep_from_its_turn_is_late_and_looks_for_nothing(bus: Bus, tmp_path: Path) -> None:
    settings, searcher = Settings(data=tmp_path), Searcher()
    async with opened(searcher, bus, settings), opened(Responder(), bus, settings), AsyncExitStack() as stack:
        for _ in range(SEARCHES.at_once):
            await stack.enter_async_context(searcher.searches.turn("ask.search"))
        await say(bus, "m1", "How do I reach the tide gauge through the jump host?")

        async def is_decided() -> bool:
            return bool(await hints(bus))

        await until(is_decided)
        assert ["timeout"] == [one.reason for one in await hints(bus)]
        assert {"expired": 1} == searcher.searches.dropped


async def test_a_message_that_goes_out_with_what_is_known_gets_no_hint(bus: Bus, tmp_path: Path) -> None:
    element = f"<{CONTEXT_ELEMENT}>\nThe gauge is private.\n</{CONTEXT_ELEMENT}>"
    async with opened(Responder(), bus, Settings(data=tmp_path)):
        added = PartRecorded(message="m1", part="m1.1", kind="text", text=element, bytes=len(element), synthetic=True)
        await say(bus, "m1", "How do I reach the tide gauge through the jump host?", more=(added,))

        async def is_decided() -> bool:
            return bool(await hints(bus))

        await until(is_decided)
    assert [("skip", "stacked")] == [(one.decision, one.reason) for one in await hints(bus)]


async def test_no_session_is_loaded_for_what_an_agent_writes(bus: Bus, tmp_path: Path) -> None:
    responder = Responder()
    async with opened(responder, bus, Settings(data=tmp_path)):
        for number in range(20):
            await say(bus, f"a{number}", "The tide gauge is reached through the jump host", role="assistant")
        head = await LogReader(bus).head()

        async def is_read() -> bool:
            return bool(responder.health()["read_through"] == head)

        await until(is_read)
        assert 0 == responder.health()["hot_sessions"]
