"""What an index takes on the disk: pieces are joined, and versions that nobody reads any more are dropped."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.search.rows import SearchRow
from services.indexer import upkeep
from services.indexer.core.changes import Changes, RowChanges
from services.indexer.index import Index
from services.indexer.upkeep import ALL, GRACE, PIECES, OldVersions, Upkeep, is_due
from services.kit.index_place import Current
from services.kit.logs import logger
from services.kit.vectors import Tables
from services.settings import IndexSettings as Limits
from tests.helpers.search_rows import message_row

NUMBERS = st.integers(0, 10_000_000)
AT_REST = Limits(rest=1e-9)


@given(NUMBERS, NUMBERS)
def test_the_more_rows_an_index_has_the_fewer_times_all_of_it_is_written_anew(changed: int, rows: int) -> None:
    """At least a quarter of its rows are new, or as many as are searched one by one in any case."""
    limits = Limits()
    if is_due(changed, 0, rows, limits):
        assert changed >= limits.tidy_rows
        assert changed >= min(rows / 4, limits.index_rows)
    else:
        assert changed < max(limits.tidy_rows, limits.index_rows)


@given(NUMBERS)
def test_many_pieces_are_joined_however_small_they_are(rows: int) -> None:
    assert is_due(PIECES, PIECES, rows, Limits())
    assert not is_due(PIECES - 1, PIECES - 1, rows, Limits())


def test_a_version_is_dropped_a_while_behind_the_moment_at_which_another_took_its_place() -> None:
    """However old it is itself: the one of this example was searched until the last moment of a day."""
    day, old = 86_400.0, OldVersions()
    assert ALL == old.age(0.0)
    old.tidied(10.0)
    assert [ALL, timedelta(seconds=GRACE)] == [old.age(10.0 + GRACE / 2), old.age(10.0 + GRACE)]
    assert timedelta(seconds=day) == old.age(10.0 + day)
    old.written(10.0 + day)
    assert ALL == old.age(10.0 + day)
    assert timedelta(seconds=day + GRACE) == old.age(10.0 + day + GRACE)
    old.dropped(10.0 + day + GRACE)
    assert ALL == old.age(10.0 + 2 * day)


async def filled(index: Index, numbers: Iterable[int]) -> None:
    """Write a row in a piece of its own for each of these numbers."""
    for number in numbers:
        row: SearchRow = message_row(f"text {number} " * 20, f"m{number}", ordinal=number, seq=number)
        collected = RowChanges()
        collected.add(Changes(rows=(row,)))
        await index.commit(collected, number)


async def rested(keeper: Upkeep) -> None:
    """Look until nothing is left to do: at what was written, at what is joined then, at what is old then."""
    for _ in range(3):
        await keeper.look()


def files(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.lance") if path.is_file()]


async def made(data: Path) -> Index:
    return await Index.open(data, Current("words"))


async def test_at_rest_an_index_is_one_file_for_each_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "GRACE", 0.0)
    index = await made(tmp_path)
    keeper = Upkeep(tmp_path, index, AT_REST, logger())
    for start in (1, 21, 41):
        await filled(index, range(start, start + 20))
        await rested(keeper)
        assert 1 == len(files(tmp_path))
    assert 60 == await index.table("message").count()


async def test_pieces_are_joined_while_more_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "GRACE", 0.0)
    monkeypatch.setattr(upkeep, "PIECES", 10)
    index = await made(tmp_path)
    keeper = Upkeep(tmp_path, index, Limits(rest=1e9), logger())
    most = 0
    for number in range(1, 61):
        await filled(index, [number])
        await keeper.look()
        most = max(most, len(files(tmp_path)))
    assert most <= 2 * 10 + 2
    assert 60 == await index.table("message").count()


async def test_who_searches_a_version_goes_on_when_another_has_taken_its_place(tmp_path: Path) -> None:
    index = await made(tmp_path)
    keeper = Upkeep(tmp_path, index, AT_REST, logger())
    await filled(index, range(1, 11))
    await rested(keeper)
    table = await (await Tables.open(index.folder)).as_it_is(index.position.tables["message"])
    for start in (11, 21, 31):
        await filled(index, range(start, start + 10))
        await rested(keeper)
    assert 10 == len(await table.rows(["key", "text"]))
