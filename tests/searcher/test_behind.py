"""A search that finds nothing says so only of what it has searched: not while the index lacks what the log has."""

from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.search_asks import Hits, SearchAsk
from schemas.subjects import Address, ask
from services.indexer.worker import Indexer
from services.kit.bus import Appender, Bus
from services.searcher.worker import Searcher
from tests.helpers.broker_world import opened, quick_settings, wrapped
from tests.helpers.indexed_sessions import listed, message
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

SESSION = Address("harbour", "s1")
UNKNOWN, INCOMPLETE = "Nothing is known of this", "the index is not complete"


async def answer(bus: Bus, query: str) -> Hits:
    question = encode(SearchAsk("harbour", query))
    return msgspec.json.decode(await bus.request(ask(SearchAsk.NAME, "harbour"), question, PATIENCE), type=Hits)


async def test_what_the_index_has_not_read_is_not_called_unknown(bus: Bus, tmp_path: Path) -> None:
    await MadeIndex(tmp_path).write([message_row("The tide table is printed on Mondays", "m1", "s1", ordinal=1, seq=1)])
    settings = quick_settings(tmp_path)
    async with opened(Searcher(), bus, settings):

        async def is_searched() -> bool:
            return bool((await answer(bus, "tide table")).hits)

        await until(is_searched)
        sent = [*message("m1", "The tide table"), *message("m2", "A foghorn"), listed(1, "m1", "m2")]
        await Appender(bus).append(wrapped(sent, address=SESSION), {})
        found = await answer(bus, "foghorn")
        assert (found.hits, found.is_behind) == ((), True)
        assert INCOMPLETE in found.text
        assert UNKNOWN not in found.text
        async with opened(Indexer(), bus, settings):

            async def is_read() -> bool:
                return not (await answer(bus, "zeppelin")).is_behind

            await until(is_read)
            assert UNKNOWN in (await answer(bus, "zeppelin")).text
