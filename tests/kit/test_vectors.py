"""The door to LanceDB, on real tables in a folder."""

import sys
from pathlib import Path

import pytest

from services.kit.vectors import CATALOGUES, Column, Columns, Table, Tables, among, quoted

SHAPE = (
    Column("key", "text"),
    Column("project", "text"),
    Column("text", "text"),
    Column("hash", "text"),
    Column("seq", "integer"),
    Column("at", "number"),
    Column("files", "texts"),
    Column("tokens", "bytes"),
    Column("vector", "vector", 4),
)
AWKWARD = 'it\'s 100 % "quoted" \\ ; -- é \u0000 \n x'


def rows(*ids: str, project: str = "harbour", text: str = "the crane", hash_: str = "h") -> Columns:
    return {
        "key": ids,
        "project": [project for _ in ids],
        "text": [f"{text} {name}" for name in ids],
        "hash": [hash_ for _ in ids],
        "seq": [7 for _ in ids],
        "at": [1.5 for _ in ids],
        "files": [["a.py"] for _ in ids],
        "tokens": [b"" for _ in ids],
        "vector": [None for _ in ids],
    }


def vectors(*ids: str, vector: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0), hash_: str = "h") -> Columns:
    return {"key": ids, "hash": [hash_ for _ in ids], "vector": [vector for _ in ids], "tokens": [b"\x01" for _ in ids]}


@pytest.fixture
async def table(tmp_path: Path) -> Table:
    return await (await Tables.open(tmp_path)).make("messages", SHAPE)


async def ids(table: Table, where: str | None = None) -> list[str]:
    return sorted(row["key"] for row in await table.rows(["key"], where))


async def test_questions_to_remote_catalogues_are_not_loaded(table: Table) -> None:
    """It would take half of the time in which a room that searches is there."""
    await table.put(rows("a"))
    loaded = [name for name in sys.modules if name.startswith(f"{CATALOGUES}.")]
    assert f"{CATALOGUES}.models" in loaded
    assert [] == [name for name in loaded if not name.startswith(f"{CATALOGUES}.models")]


async def test_a_row_that_is_written_again_is_one_row(table: Table) -> None:
    await table.put(rows("a", "b"))
    await table.put(rows("b", "c", text="another crane"))
    assert ["a", "b", "c"] == await ids(table)
    assert [{"text": "another crane b", "seq": 7, "files": ["a.py"], "vector": None}] == await table.rows(
        ["text", "seq", "files", "vector"], "key = 'b'"
    )


async def test_vectors_are_filled_in_where_the_text_is_still_the_same(table: Table) -> None:
    await table.put(rows("a", "b"))
    await table.put(rows("b", hash_="newer"))
    assert 1 == await table.fill(vectors("a", "b", "c"), unless_changed="hash")
    assert (["a"], ["b"]) == (await ids(table, "vector is not null"), await ids(table, "vector is null"))
    assert [{"text": "the crane a", "tokens": b"\x01"}] == await table.rows(["text", "tokens"], "key = 'a'")


async def test_vectors_of_what_is_gone_are_dropped(table: Table) -> None:
    await table.put(rows("a"))
    assert 0 == await table.fill(vectors("a", hash_="older"), unless_changed="hash")
    assert 0 == await table.fill(vectors("x"), unless_changed="hash")
    assert ["a"] == await ids(table, "vector is null")


async def test_a_row_with_a_new_text_has_no_vector(table: Table) -> None:
    await table.put(rows("a"))
    await table.fill(vectors("a"), unless_changed="hash")
    await table.put(rows("a", hash_="newer"))
    assert ["a"] == await ids(table, "vector is null")


async def test_what_is_taken_away_is_found_no_more(table: Table) -> None:
    await table.put(rows("a", "b", "c"))
    await table.remove(among("key", ["a", "c", "x"]))
    await table.remove(among("key", []))
    assert ["b"] == await ids(table)


async def test_any_text_can_be_looked_for(table: Table) -> None:
    await table.put(rows(AWKWARD))
    assert [AWKWARD] == await ids(table, f"key = {quoted(AWKWARD)}")
    assert [] == await ids(table, f"key = {quoted(AWKWARD + chr(39))}")


async def test_the_nearest_are_found_within_a_project(table: Table) -> None:
    await table.put(rows("a", "b"))
    await table.put(rows("x", project="quay"))
    await table.fill(vectors("a", "x"), unless_changed="hash")
    await table.fill(vectors("b", vector=(0.6, 0.8, 0.0, 0.0)), unless_changed="hash")
    where = f"project = {quoted('harbour')}"
    near = await table.nearest("vector", (1.0, 0.0, 0.0, 0.0), ["key"], where, limit=5)
    assert ["a", "b"] == near["key"].to_pylist()
    assert [0.0, 0.4] == [round(distance, 3) for distance in near["_distance"].to_pylist()]


async def test_another_connection_sees_at_once_what_was_written(tmp_path: Path) -> None:
    written = await (await Tables.open(tmp_path)).make("messages", SHAPE)
    read = await (await Tables.open(tmp_path)).table("messages")
    for number in range(3):
        await written.put(rows(f"r{number}"))
        assert number + 1 == await read.count()
    assert await written.version() == await read.version()


async def test_an_index_of_vectors_is_built_and_rows_behind_it_are_found(table: Table) -> None:
    names = [f"r{number}" for number in range(300)]
    await table.put(rows(*names))
    await table.fill(vectors(*names, vector=(0.0, 0.0, 1.0, 0.0)), unless_changed="hash")
    await table.index_values("key")
    await table.index_vectors("vector")
    await table.put(rows("late"))
    await table.fill(vectors("late", vector=(0.0, 1.0, 0.0, 0.0)), unless_changed="hash")
    found = await table.nearest("vector", (0.0, 1.0, 0.0, 0.0), ["key"], limit=1)
    assert ["late"] == found["key"].to_pylist()
    assert {"key", "vector"} == set(await table.indexes())


def holding(folder: Path, needle: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes()]


async def test_what_is_copied_to_another_table_leaves_nothing_of_what_was_removed(tmp_path: Path) -> None:
    tables = await Tables.open(tmp_path)
    old, new = await tables.make("old", SHAPE), await tables.make("new", SHAPE)
    await old.put(rows("a", text="secret-of-the-quay"))
    await old.put(rows(*(f"r{number}" for number in range(1500))))
    await old.remove("key = 'a'")
    assert holding(tmp_path, b"secret-of-the-quay")
    assert 1500 == await old.copy_to(new)
    await tables.drop("old")
    assert ([], 1500) == (holding(tmp_path, b"secret-of-the-quay"), await new.count())
    assert ["new"] == await tables.names()
