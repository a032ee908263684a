"""What is made ready before it is searched for: a session begins, or goes on, and its first message comes at once."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from schemas.asks import EmbedAsk
from schemas.codec import encode
from schemas.events import AliasAdded, Event, SessionOpened, StepOpened
from schemas.search_asks import Hits, SearchAsk
from schemas.subjects import Address, ask
from services.domain.aliases import GLOBAL
from services.kit.bus import Appender, Bus
from services.searcher import worker
from services.searcher.worker import SEARCHES, Searcher
from services.settings import Embed, Settings
from tests.helpers.broker_world import HARBOUR, opened, wrapped
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

ROWS = [
    message_row("The harbour master wants the tide table printed every morning", "m1", ordinal=1, seq=1),
    message_row("The neighbours lend their crane", "x1", "s9", project="island", ordinal=1, seq=2),
]
OPENED = SessionOpened(harness="opencode", mode="primary")


@pytest.fixture
async def busy(bus: Bus, tmp_path: Path) -> AsyncIterator[Searcher]:
    """A searcher all of whose turns are taken."""
    await MadeIndex(tmp_path).write(ROWS)
    searcher = Searcher()
    async with opened(searcher, bus, Settings(data=tmp_path)), AsyncExitStack() as stack:
        for _ in range(SEARCHES.at_once):
            await stack.enter_async_context(searcher.searches.turn("ask.search"))
        yield searcher


async def append(bus: Bus, event: Event, address: Address = HARBOUR) -> None:
    await Appender(bus).append(wrapped([event], address=address), {})


@pytest.mark.parametrize("event", [OPENED, StepOpened(step="s1")], ids=lambda event: event.TYPE)
async def test_the_project_of_a_session_is_made_ready_without_a_turn(bus: Bus, busy: Searcher, event: Event) -> None:
    assert 0 == busy.health()["rows"]
    await append(bus, event)
    await until(lambda: busy.health()["rows"] == 1)
    assert {"waiting": 0, "in_hand": SEARCHES.at_once, "dropped": {}} == busy.health()["searches"]


@pytest.mark.parametrize(("milliseconds", "seconds"), [(20, "0.02"), (60_000, "0.05"), (0, "0.05")])
async def test_a_search_waits_for_its_turn_no_longer_than_its_asker_listens(
    bus: Bus, busy: Searcher, monkeypatch: pytest.MonkeyPatch, milliseconds: int, seconds: str
) -> None:
    monkeypatch.setattr(worker, "TURN_WITHIN", 0.05)
    question = SearchAsk(HARBOUR.project, "tide table", deadline_ms=milliseconds)
    reply = await bus.request(ask(SearchAsk.NAME, HARBOUR.project), encode(question), PATIENCE)
    error = msgspec.json.decode(reply, type=Hits).error
    assert f"Not searched: others' searches took all of {seconds} s; ask again in a moment." == error
    assert {"waiting": 0, "in_hand": SEARCHES.at_once, "dropped": {"expired": 1}} == busy.health()["searches"]


async def test_all_names_of_a_project_are_made_ready(bus: Bus, busy: Searcher) -> None:
    await append(bus, AliasAdded(alias="island", leads_to="harbour", how="given"), GLOBAL)
    await append(bus, OPENED)
    await until(lambda: busy.health()["rows"] == len(ROWS))


async def test_the_model_is_loaded_when_a_session_begins_in_a_new_installation(bus: Bus, tmp_path: Path) -> None:
    asked: list[str] = []
    await bus.follow(ask(EmbedAsk.NAME), asked.append)
    async with opened(Searcher(), bus, Settings(data=tmp_path)):
        await append(bus, OPENED)
        await until(lambda: asked)


async def test_where_there_are_no_vectors_no_model_is_loaded(bus: Bus, tmp_path: Path) -> None:
    asked: list[str] = []
    await bus.follow(ask(EmbedAsk.NAME), asked.append)
    await MadeIndex(tmp_path).write(ROWS)
    searcher = Searcher()
    async with opened(searcher, bus, Settings(data=tmp_path, embed=Embed(provider="off"))):
        await append(bus, OPENED)
        await until(lambda: searcher.health()["rows"] == 1)
        assert [] == asked
