"""Which names a data directory may have: those below which the libraries that store data can open files."""

import contextlib
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings

from services.edges.launcher.run import private
from services.kit.data_directory import Unusable, refuse_unusable
from services.kit.vectors import Column, Tables
from tests.helpers.examples import examples
from tests.helpers.hostile_names import EVERYTHING, UNUSABLE, USABLE, names

UNSPELLABLE = {"\\", "?", "\x7f", *map(chr, range(32))}
COLUMNS = (Column("key", "text"), Column("number", "integer"))


async def stores(folder: Path) -> bool:
    """Whether rows come back from both libraries below a folder."""
    try:
        tables = await Tables.open(folder / "index")
        await (await tables.make("texts", COLUMNS)).put({"key": ["a"], "number": [1]})
        is_indexed = await (await (await Tables.open(folder / "index")).table("texts")).count() == 1
        views = str(folder / "views.duckdb")
        with contextlib.closing(duckdb.connect(views)) as db:
            db.execute("create table facts as select 1 as seq")
        with contextlib.closing(duckdb.connect(views)) as db:
            return is_indexed and db.execute("from facts").fetchall() == [(1,)]
    except (RuntimeError, OSError, ValueError, duckdb.Error):
        return False


@pytest.mark.parametrize("name", [*USABLE, EVERYTHING])
async def test_what_is_taken_can_be_stored_in(tmp_path: Path, name: str) -> None:
    data = tmp_path / name / "data"
    private(data)
    assert await stores(data)


@pytest.mark.parametrize("name", UNUSABLE)
async def test_what_cannot_be_stored_in_is_refused_with_a_remedy_and_not_made(tmp_path: Path, name: str) -> None:
    data = tmp_path / name / "data"
    with pytest.raises(Unusable, match="set ANNALS_DATA to a directory without it") as refused:
        private(data)
    str(refused.value).encode("ascii")  # nothing of the name reaches a terminal as it is
    assert not data.parent.exists()
    data.mkdir(parents=True)
    assert not await stores(data), "it would work, and need not be refused"


def test_a_link_of_a_plain_name_to_such_a_directory_is_refused_as_well(tmp_path: Path) -> None:
    (tmp_path / "what?").mkdir()
    (tmp_path / "plain").symlink_to("what?")
    with pytest.raises(Unusable):
        refuse_unusable(tmp_path / "plain")


@given(names)
@settings(max_examples=examples(200))
def test_every_name_is_taken_or_refused_in_a_sentence(name: str) -> None:
    if set(name) & UNSPELLABLE:
        with pytest.raises(Unusable, match="ANNALS_DATA"):
            refuse_unusable(Path("/", name, "data"))
    else:
        refuse_unusable(Path("/", name, "data"))
