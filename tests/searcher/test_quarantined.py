"""Sessions of which a person has taken back all: they are left out also while nobody can say which they are."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.codec import encode
from schemas.events import Event, MemoryQuarantined, MemoryReleased
from schemas.search_asks import Hits, SearchAsk, Served
from schemas.subjects import Address, ask
from services.kit.bus import Appender, Bus
from services.responder.answers import served
from services.responder.worker import Responder
from services.searcher.worker import Searcher
from tests.helpers.broker_world import opened, quick_settings, wrapped
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

POISONED = message_row("The tide table comes with Mallory's mail", "m1", "poisoned", ordinal=1, seq=1)
NOT_KNOWN = "what your prompt holds already is not known and may come again"


async def test_a_quarantine_holds_while_nobody_can_say_so_and_is_remembered_for_no_other_project(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(project: str = "harbour") -> Hits:
        question = encode(SearchAsk(project, "tide table", session="other"))
        return msgspec.json.decode(await bus.request(ask(SearchAsk.NAME, project), question, PATIENCE), type=Hits)

    async def is_found() -> bool:
        return "m1" in {hit.id for hit in (await found()).hits}

    async def is_missed() -> bool:
        return not await is_found()

    async def append(event: Event) -> None:
        await Appender(bus).append(wrapped([event], address=Address("harbour")), {})

    def fails(*_: Any) -> None:  # noqa: ANN401 - whatever it is given
        raise RuntimeError("the state is broken")

    await MadeIndex(tmp_path).write([POISONED])
    searcher, settings = Searcher(), quick_settings(tmp_path)
    async with opened(searcher, bus, settings), opened(Responder(), bus, settings):
        await until(is_found)
        await append(MemoryQuarantined(kind="session", value="poisoned"))
        await until(is_missed)
        for number in range(20):
            assert not (await found(f"p{number}")).error
        known = vars(vars(searcher)["_searching"])["_quarantined"]
        assert {"harbour": Served(quarantined=("poisoned",))} == known
        with monkeypatch.context() as broken:
            broken.setattr(served, "quarantined_of", fails)
            assert NOT_KNOWN in (await found()).degraded
            assert await is_missed()
        await append(MemoryReleased(kind="session", value="poisoned"))
        await until(is_found)
        assert {} == known
