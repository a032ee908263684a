"""A hint from a person's words to the bytes of the prompt: sent once, with its message, and ever after the same."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import HintDecided
from schemas.inbox import SessionSeen
from schemas.plan import AppendText
from schemas.search_asks import Hits, SearchAsk
from services.edges.launcher.broker import Broker
from services.embedder.worker import Embedder
from services.kit.bus import Bus
from services.responder import hinting
from services.responder.worker import Responder
from services.searcher.worker import Searcher
from services.settings import Settings
from tests.helpers.broker_world import HARBOUR, facts, opened
from tests.helpers.memory_sessions import Harness, notices, rooms
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import row
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

QUESTION = "How do I reach the tide gauge through the jump host?"
KNOWN = row(
    "memory",
    "mem1",
    "Reach the tide gauge through the jump host because its network is private",
    role="decision",
    seq=1,
)


class WaitingSearcher(Searcher):
    """A searcher that answers when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()
        self.was_asked = asyncio.Event()

    async def _answer(self, ask: SearchAsk) -> Hits:
        if ask.session:  # it is asked for a message, and not only to be warm
            self.was_asked.set()
            await self.may.wait()
        return await super()._answer(ask)


@pytest_asyncio.fixture
async def searcher(bus: Bus, tmp_path: Path) -> AsyncIterator[WaitingSearcher]:
    """One that finds what is known of the tide gauge."""
    settings, made = Settings(data=tmp_path), WaitingSearcher()
    async with opened(Embedder(), bus, settings), opened(made, bus, settings):
        await MadeIndex(tmp_path, bus).write([KNOWN])
        yield made


async def begun(bus: Bus) -> Harness:
    session = Harness(bus, "opencode", "s1", now=lambda: datetime.now(UTC))
    await session.report(SessionSeen(directory="/w"))
    return session


async def decisions(bus: Bus) -> list[tuple[str, str]]:
    """Message, and what was decided of it or the reason for no hint."""
    decided = [event for event in await facts(bus, HARBOUR) if isinstance(event, HintDecided)]
    return [(one.message, one.reason or one.decision) for one in decided]


async def are_decided(bus: Bus, count: int) -> None:
    async def are() -> bool:
        return len(await decisions(bus)) >= count

    await until(are)


async def test_a_hint_is_sent_with_its_message_and_has_the_same_bytes_ever_after(
    bus: Bus, broker: Broker, tmp_path: Path, searcher: WaitingSearcher
) -> None:
    searcher.may.set()
    async with rooms(broker, tmp_path / "one") as serving:
        session = await begun(bus)
        asked = await session.says(QUESTION)
        await are_decided(bus, 1)
        edits = await session.step(serving)
        (hint,) = [one for one in edits if isinstance(one, AppendText) and "search_hint" in one.text]
        assert f"{asked}.0" == hint.part
        assert KNOWN.text in hint.text
        decided = [(asked, "hint")]
        for number, words in enumerate(("go on", "and on"), 2):
            decided.append((await session.says(words), "too_short"))
            await are_decided(bus, number)
            assert [] == notices(await session.step(serving))

    async with rooms(broker, tmp_path / "two") as serving:  # which know nothing but the log
        decided.append((await session.says("and on and on"), "too_short"))
        await are_decided(bus, 4)
        for _ in range(3):
            assert [] == notices(await session.step(serving))
        session.revision = 0  # a harness that has lost its plan is given all of it
        for _ in range(3):
            again = await session.step(serving)
            session.revision = 0
            assert [hint] == [one for one in again if isinstance(one, AppendText)]
    assert decided == await decisions(bus)


async def test_the_plan_of_a_message_waits_for_its_search(
    bus: Bus, broker: Broker, tmp_path: Path, searcher: WaitingSearcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hinting, "WAIT", 60.0)
    async with rooms(broker, tmp_path / "one") as serving:
        (responder,) = (room for room in serving if isinstance(room, Responder))
        session = await begun(bus)
        asked = await session.says(QUESTION)
        await searcher.was_asked.wait()
        step = asyncio.create_task(session.step(serving))

        async def waits() -> bool:
            return responder.hinting.waiting == 1 or step.done()

        await until(waits)
        searcher.may.set()
        (hint,) = notices(await step)
        assert KNOWN.text in hint
        assert ([(asked, "hint")], 0) == (await decisions(bus), responder.hinting.waiting)


async def test_a_plan_waits_for_a_search_once(
    bus: Bus, broker: Broker, tmp_path: Path, searcher: WaitingSearcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hinting, "WAIT", 0.0)
    async with rooms(broker, tmp_path / "one") as serving:
        session = await begun(bus)
        asked = await session.says(QUESTION)
        await searcher.was_asked.wait()
        assert [] == notices(await session.step(serving))
        monkeypatch.setattr(hinting, "WAIT", 60.0)
        await session.runs("ls")
        assert [] == notices(await session.step(serving))
        searcher.may.set()
        await are_decided(bus, 1)
        assert [(asked, "late")] == await decisions(bus)


async def test_what_is_found_when_the_message_has_been_sent_is_never_announced(
    bus: Bus, broker: Broker, tmp_path: Path, searcher: WaitingSearcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hinting, "WAIT", 0.0)
    async with rooms(broker, tmp_path / "one") as serving:
        session = await begun(bus)
        asked = await session.says(QUESTION)
        await searcher.was_asked.wait()
        assert [] == notices(await session.step(serving))
        searcher.may.set()
        await are_decided(bus, 1)
        assert [(asked, "late")] == await decisions(bus)
        for words in ("go on", "and on"):
            await session.says(words)
            assert [] == notices(await session.step(serving))
