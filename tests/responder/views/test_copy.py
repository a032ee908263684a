"""The copy of the views: whole, of one moment, made when it is time, and none of the file's owner's business."""

import asyncio
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import msgspec
import pytest

from schemas.events import DropRequested
from services.kit.data_directory import views_copy
from services.responder.views import copy
from services.responder.views.copy import Copier, NotCopied
from services.responder.views.files import Files
from services.responder.views.store import view_sources
from tests.helpers.recorded_log import RecordedLog
from tests.helpers.view_facts import MEMORY, fact

pytestmark = pytest.mark.slow

DROPS = [fact(seq, DropRequested(tags=[seq])) for seq in range(1, 6)]
OPEN = "import duckdb, sys; duckdb.connect(sys.argv[1], read_only=True)"


async def opened(data: Path) -> Files:
    return await Files.open(data / "views", memory_limit=MEMORY, log=RecordedLog(DROPS))


def copier(files: Files, data: Path, every: float = 0.0) -> Copier:
    return Copier(files, data, every=every, memory_limit=MEMORY)


def rows(data: Path, sql: str) -> list[tuple[object, ...]]:
    """What the copy holds, as any DuckDB reads it."""
    with duckdb.connect(str(views_copy(data)), read_only=True) as db:
        return db.execute(sql).fetchall()


async def test_a_copy_is_whole_and_says_what_it_shows(tmp_path: Path) -> None:
    files = await opened(tmp_path)
    await files.commit(DROPS[:3], 3)
    before = datetime.now(UTC)
    made = await copier(files, tmp_path).newest()
    await files.commit(DROPS[3:], 5)
    assert 3 == made.as_of
    assert [(1,), (2,), (3,)] == rows(tmp_path, "select seq from drop_requested order by seq")
    [(as_of, at)] = rows(tmp_path, "select as_of, copied_at from copied")
    assert (3, made.at) == (as_of, at.replace(tzinfo=UTC))
    assert before <= made.at <= datetime.now(UTC)
    for view in view_sources():
        rows(tmp_path, f'select count(*) from "{view}"')
    assert ["copy.duckdb"] == [path.name for path in (tmp_path / "views").iterdir() if path.name.startswith("copy")]
    await files.close()


async def test_facts_that_are_only_in_the_write_ahead_log_are_copied_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = await opened(tmp_path)
    monkeypatch.setattr(files.serving.duck, "_checkpoint", lambda: None)  # as where a query holds it up
    await files.commit(DROPS, 5)
    assert 5 == (await copier(files, tmp_path).newest()).as_of
    assert [(5,)] == rows(tmp_path, "select count(*) from drop_requested")
    assert not views_copy(tmp_path).with_name("copy.duckdb.wal").exists()
    await files.close()


async def test_another_copy_is_made_when_it_is_time_and_something_has_changed(tmp_path: Path) -> None:
    files = await opened(tmp_path)
    await files.commit(DROPS[:1], 1)
    seldom, often = copier(files, tmp_path, every=3600), copier(files, tmp_path)
    first = await seldom.newest()
    unchanged = await often.newest()
    inode = views_copy(tmp_path).stat().st_ino
    again = await often.newest()
    assert (again.as_of, inode) == (1, views_copy(tmp_path).stat().st_ino)
    assert unchanged.at <= again.at, "the views are still so"
    await files.commit(DROPS[1:], 5)
    assert first == await seldom.newest(), "it is too early"
    assert 5 == (await often.newest()).as_of
    assert inode != views_copy(tmp_path).stat().st_ino
    await files.close()


async def test_what_takes_long_to_copy_is_copied_less_often(tmp_path: Path) -> None:
    files = await opened(tmp_path)
    some = copier(files, tmp_path, every=3600)
    await some.newest()
    some._newest = msgspec.structs.replace(some._newest, made=time.monotonic() - 3700)  # noqa: SLF001 - an hour ago
    assert not some.is_young
    some._newest = msgspec.structs.replace(some._newest, took=2.0)  # noqa: SLF001 - and it took two seconds
    assert some.is_young
    await files.close()


async def test_who_reads_a_copy_goes_on_with_it_while_another_takes_its_place(tmp_path: Path) -> None:
    files = await opened(tmp_path)
    often = copier(files, tmp_path)
    await files.commit(DROPS[:1], 1)
    await often.newest()
    with duckdb.connect(str(views_copy(tmp_path)), read_only=True) as reader:
        await files.commit(DROPS[1:], 5)
        await often.newest()
        assert [(1,)] == reader.execute("select count(*) from drop_requested").fetchall()
    assert [(5,)] == rows(tmp_path, "select count(*) from drop_requested")
    await files.close()


async def test_the_file_stays_locked_after_it_was_copied(tmp_path: Path) -> None:
    files = await opened(tmp_path)
    await files.commit(DROPS, 5)
    await copier(files, tmp_path).newest()
    program = [sys.executable, "-c", OPEN, str(files.serving.duck.path)]
    ended = await asyncio.to_thread(subprocess.run, program, capture_output=True, text=True, check=False)
    assert ended.returncode
    assert "lock" in ended.stderr.lower()
    await files.close()


async def test_facts_are_committed_and_asked_for_while_copies_are_made(tmp_path: Path) -> None:
    files = await opened(tmp_path)
    often = copier(files, tmp_path)
    many = [fact(seq, DropRequested(tags=[seq])) for seq in range(1, 61)]

    async def write() -> None:
        for one in many:
            await files.commit([one], one[0].seq)
            await files.serving.duck.query("select count(*) from drop_requested", max_rows=1, timeout=60)

    async def copies() -> None:
        while files.committed < len(many):
            made = await often.newest()
            expected = [(made.as_of, made.as_of)]
            assert expected == rows(tmp_path, "select count(*), coalesce(max(seq), 0) from drop_requested")

    await asyncio.gather(write(), copies())
    await files.close()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), duckdb.IOException("Could not write")])
async def test_where_no_copy_can_be_made_the_old_one_stays_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    files = await opened(tmp_path)
    often = copier(files, tmp_path)
    await files.commit(DROPS[:1], 1)
    await often.newest()
    await files.commit(DROPS[1:], 5)

    def full(*_: object, **__: object) -> int:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(copy, "change_alone", full)
        with pytest.raises(NotCopied, match=r"the views could not be copied .*; see that the disk has room"):
            await often.newest()
    assert [(1,)] == rows(tmp_path, "select count(*) from drop_requested")
    assert ["copy.duckdb"] == [path.name for path in (tmp_path / "views").iterdir() if path.name.startswith("copy")]
    assert 5 == (await often.newest()).as_of
    await files.close()


async def test_what_a_killed_process_left_is_no_part_of_the_next_copy(tmp_path: Path) -> None:
    files = await opened(tmp_path)
    await files.commit(DROPS, 5)
    draft = views_copy(tmp_path).with_name("copy.duckdb.draft")
    draft.write_bytes(b"half of a copy" * 100_000)
    draft.with_name(f"{draft.name}.wal").write_bytes(b"what belonged to it")
    assert 5 == (await copier(files, tmp_path).newest()).as_of
    assert [(5,)] == rows(tmp_path, "select count(*) from drop_requested")
    await files.close()
