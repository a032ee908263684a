"""What the searcher holds of the index, on real tables."""

import asyncio
from pathlib import Path

import pytest

from services.kit.logs import logger
from services.kit.vectors import Tables
from services.searcher import store as stores
from services.searcher.store import BEARABLE, SearchStore
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row
from tests.helpers.waiting import until

ROWS = [message_row("The harbour master wants the tide table printed every morning", "m1", ordinal=1, seq=1)]


async def test_a_search_at_the_start_waits_until_the_tables_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await MadeIndex(tmp_path).write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
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
    store = SearchStore(tmp_path, 4, logger())
    shelf = (await store.shelves("harbour")).kinds["message"].shelf
    assert 1 == len(shelf)
    assert 0 == len(shelf.vocabulary)
    store.close()


async def test_a_search_while_another_set_takes_the_place_of_the_old_one_is_of_one_of_them(tmp_path: Path) -> None:
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    assert 1 == len((await store.shelves("harbour")).kinds["message"].shelf)
    made.move("another")
    await made.write([*ROWS, message_row("Gulls sit on the crane", "m2", ordinal=2, seq=2)])
    found = await asyncio.gather(*(store.shelves(name, through=9) for name in ("harbour", "island", "harbour")))
    assert [2, 0, 2] == [len(one.kinds["message"].shelf) for one in found]
    store.close()


MORE = message_row("Gulls sit on the crane", "m2", ordinal=2, seq=2)


def messages(project: stores.ProjectShelves) -> int:
    return len(project.kinds["message"].shelf)


async def test_a_search_that_cannot_wait_uses_what_was_read_before_and_has_the_rest_read_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "OLD", 0.0)
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    known = await store.shelves("harbour")
    await made.write([MORE])
    with store.searched():
        assert known is await store.shelves("harbour", at_most=BEARABLE)
        await asyncio.sleep(0)
        assert 1 == messages(known)

    async def is_read() -> bool:
        return 2 == messages(await store.shelves("harbour", at_most=BEARABLE))

    await until(is_read)
    await made.write([message_row("The crane is painted in spring", "m3", ordinal=3, seq=3)])
    assert 3 == messages(await store.shelves("harbour", through=3, at_most=BEARABLE))
    store.close()


async def test_what_is_indexed_is_read_before_anybody_searches_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "LOOK", 0.0)
    monkeypatch.setattr(stores, "REST", 0.0)
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    await store.shelves("harbour")
    following = asyncio.create_task(store.follow())
    await made.write([MORE])

    async def is_read() -> bool:
        return 2 == store.rows

    await until(is_read)
    monkeypatch.setattr(stores, "LATELY", 0.0)
    assert [] == store.searched_lately
    following.cancel()
    store.close()
