"""What the searcher holds of the index, on real tables."""

import asyncio
from pathlib import Path

import pytest

from services.kit.logs import logger
from services.kit.vectors import Tables
from services.searcher.store import Store
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row

ROWS = [message_row("The harbour master wants the tide table printed every morning", "m1", ordinal=1, seq=1)]


async def test_a_search_at_the_start_waits_until_the_tables_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await MadeIndex(tmp_path).write(ROWS)
    store = Store(tmp_path, 4, logger())
    opens, goes_on = asyncio.Event(), asyncio.Event()
    opening = Tables.open

    async def slow(folder: Path) -> Tables:
        opens.set()
        await goes_on.wait()
        return await opening(folder)

    monkeypatch.setattr(Tables, "open", slow)
    warming = asyncio.create_task(store.warm())
    await opens.wait()
    searches = [asyncio.create_task(store.shelves(project)) for project in ("harbour", "island")]
    asyncio.get_running_loop().call_later(0.05, goes_on.set)
    harbour, island = await asyncio.gather(*searches)
    await warming
    assert 1 == len(harbour.kinds["message"].shelf)
    assert 0 == len(island.kinds["message"].shelf)
    store.close()


async def test_an_older_index_is_searched_until_another_has_replaced_it(tmp_path: Path) -> None:
    await MadeIndex(tmp_path, lacks="written").write(ROWS)
    store = Store(tmp_path, 4, logger())
    shelf = (await store.shelves("harbour")).kinds["message"].shelf
    assert 1 == len(shelf)
    assert 0 == len(shelf.vocabulary)
    store.close()


async def test_a_search_while_another_set_takes_the_place_of_the_old_one_is_of_one_of_them(tmp_path: Path) -> None:
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = Store(tmp_path, 4, logger())
    assert 1 == len((await store.shelves("harbour")).kinds["message"].shelf)
    made.move("another")
    await made.write([*ROWS, message_row("Gulls sit on the crane", "m2", ordinal=2, seq=2)])
    found = await asyncio.gather(*(store.shelves(name, through=9) for name in ("harbour", "island", "harbour")))
    assert [2, 0, 2] == [len(one.kinds["message"].shelf) for one in found]
    store.close()
