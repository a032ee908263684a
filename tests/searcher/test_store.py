"""What the searcher holds of the index, on real tables."""

import asyncio
from collections.abc import MutableMapping
from pathlib import Path

import pytest

from services.domain.search.rows import KINDS
from services.kit.index_place import CURRENT, folder_of
from services.kit.logs import logger
from services.kit.vectors import Tables
from services.searcher import filling
from services.searcher import store as stores
from services.searcher.copies import TEXT
from services.searcher.filling import ShelfSource
from services.searcher.store import BEARABLE, SearchStore
from services.searcher.stored_shelf import StoredShelf, read
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
    following.cancel()
    store.close()


@pytest.fixture
def fills(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The projects whose shelves were filled, once for each kind."""
    seen: list[str] = []
    filled = filling.filled

    async def counted(source: ShelfSource, stored: StoredShelf | None) -> StoredShelf:
        seen.append(source.project)
        return await filled(source, stored)

    monkeypatch.setattr(filling, "filled", counted)
    return seen


async def test_a_search_that_cannot_wait_fills_nothing_where_another_set_has_taken_the_place_of_the_one_before(
    tmp_path: Path, fills: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "LOOK", 0.0)
    monkeypatch.setattr(stores, "REST", 0.0)
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    for project in ("harbour", "island"):
        await store.shelves(project)
    made.move("another")
    await made.write([*ROWS, MORE])
    assert 2 == await store.read_through()
    fills.clear()
    found = await store.shelves("harbour", at_most=BEARABLE)
    assert [] == fills
    shelf = found.kinds["message"]
    assert [(ROWS[0].text.encode(),)] == await read(shelf, shelf.numbers, (TEXT,))
    following = asyncio.create_task(store.follow())
    await until(lambda: 2 == store.rows and {"harbour", "island"} == {*fills})
    assert 2 == messages(await store.shelves("harbour"))
    following.cancel()
    store.close()


async def test_a_search_that_can_wait_is_never_of_the_set_before(tmp_path: Path) -> None:
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    await store.shelves("harbour")
    made.move("another")
    await made.write([*ROWS, MORE])
    await store.read_through()
    assert 2 == messages(await store.shelves("harbour", at_most=stores.OLD))
    store.close()


async def test_shelves_that_are_read_behind_a_search_are_there_also_where_that_opens_another_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "OLD", 0.0)
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    await store.shelves("harbour")
    made.move("another")
    await made.write([*ROWS, MORE])
    assert 1 == messages(await store.shelves("harbour", at_most=BEARABLE))
    await until(lambda: 2 == store.rows)
    store.close()


async def test_nothing_is_left_of_an_index_that_is_gone(tmp_path: Path) -> None:
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    await store.shelves("harbour")
    (folder_of(tmp_path) / CURRENT).unlink()
    assert 0 == await store.read_through()
    assert 0 == store.rows
    assert {} == (await store.shelves("harbour", at_most=BEARABLE)).kinds
    store.close()


async def test_the_index_is_followed_although_somebody_searches_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOOK", "REST", "PAUSE"):
        monkeypatch.setattr(stores, name, 0.0)
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    await store.shelves("harbour")
    with store.searched():
        following = asyncio.create_task(store.follow())
        await made.write([MORE])
        await until(lambda: 2 == store.rows)
    following.cancel()
    store.close()


async def test_what_nobody_has_used_for_long_follows_the_index_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await MadeIndex(tmp_path).write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    await store.shelves("harbour")
    assert ["harbour"] == store.behind
    monkeypatch.setattr(stores, "LATELY", 0.0)
    assert [] == store.behind
    monkeypatch.setattr(stores, "UNUSED", 0.0)
    assert ["harbour"] == store.behind
    assert stores.UNUSED + stores.PAUSE < BEARABLE
    store.close()


async def test_the_first_search_of_a_project_that_was_expected_fills_nothing(tmp_path: Path, fills: list[str]) -> None:
    await MadeIndex(tmp_path).write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    store.expect("harbour", is_new=True)
    store.expect("harbour", is_new=True)
    await until(lambda: not store.is_busy)
    assert ["harbour"] * len(KINDS) == fills
    assert 1 == messages(await store.shelves("harbour", at_most=BEARABLE))
    assert ["harbour"] * len(KINDS) == fills
    store.close()


async def test_a_search_that_comes_while_its_project_is_made_ready_shares_its_fill(
    tmp_path: Path, fills: list[str]
) -> None:
    await MadeIndex(tmp_path).write(ROWS)
    store = SearchStore(tmp_path, 4, logger())
    store.expect("harbour", is_new=True)
    await asyncio.sleep(0)
    assert 1 == messages(await store.shelves("harbour", at_most=BEARABLE))
    assert ["harbour"] * len(KINDS) == fills
    store.close()


async def test_of_more_projects_than_there_is_room_for_only_a_new_session_s_takes_another_s_place(
    tmp_path: Path, fills: list[str]
) -> None:
    await MadeIndex(tmp_path).write(ROWS)
    store = SearchStore(tmp_path, 1, logger())
    store.expect("harbour", is_new=False)
    await until(lambda: not store.is_busy)
    assert 1 == store.rows
    store.expect("island", is_new=False)
    assert not store.is_busy
    store.expect("island", is_new=True)
    await until(lambda: not store.is_busy)
    assert ["harbour", "island"] == list(dict.fromkeys(fills))
    assert 0 == store.rows
    store.close()


async def test_it_knows_of_no_more_projects_than_it_has_shelves_of(tmp_path: Path) -> None:
    made = MadeIndex(tmp_path)
    await made.write(ROWS)
    store = SearchStore(tmp_path, 2, logger())
    for number in range(20):
        await store.shelves(f"p{number}")
        store.expect(f"q{number}", is_new=True)
        await until(lambda: not store.is_busy)
        if number == 10:
            made.move("another")
            await made.write(ROWS)
    known = {name: len(value) for name, value in vars(store).items() if isinstance(value, MutableMapping)}
    by_project = {name: count for name, count in known.items() if name != "_live"}
    assert 2 == max(by_project.values()), by_project
    store.close()
