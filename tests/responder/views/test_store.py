import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec
import pytest

from schemas.envelope import Actor
from schemas.events import (
    EVENTS,
    DropRequested,
    Event,
    LogOnly,
    MessageRecorded,
    PartRecorded,
    PlanExtended,
    SessionIdled,
    StepOpened,
)
from services.domain.record import RecordSkipped
from services.kit import duck, metrics
from services.kit.duck import BadQuery, Duck
from services.responder.views import files
from services.responder.views.files import Files
from services.responder.views.store import PREFIX, Store, file_name
from services.responder.views.tables import TABLES, fingerprint, table_of
from tests.helpers.recorded_log import RecordedLog
from tests.helpers.refused_sql import REFUSED
from tests.helpers.view_facts import MEMORY, Fact, close, commit, empty, fact, happened, open_store, rows

pytestmark = pytest.mark.slow

DROPS = [fact(seq, DropRequested(tags=[seq])) for seq in range(1, 6)]


@pytest.fixture(scope="module")
def opened() -> Iterator[Store]:
    store = open_store()
    yield store
    close(store)


@pytest.fixture
def store(opened: Store) -> Store:
    empty(opened)
    return opened


def asked_drops(store: Store) -> list[object]:
    return [row["seq"] for row in rows(store, "select seq from drop_requested order by seq")]


def position(store: Store) -> object:
    return rows(store, "select seq from checkpoint_row")[0]["seq"]


# Tables


def test_every_event_type_has_a_table_with_its_fields(store: Store) -> None:
    found = rows(
        store,
        "select table_name, list(column_name order by column_index) as columns from duckdb_columns() "
        "where not internal and table_name not in (select view_name from duckdb_views()) group by all",
    )
    expected = {table.name: [name for name, _ in table.all_columns] for table in TABLES.values()}
    assert {row["table_name"]: row["columns"] for row in found} == {**expected, "checkpoint_row": ["seq", "marks"]}


def test_skipped_records_are_counted_and_the_last_ones_named_however_often_the_file_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "views.duckdb"
    store = open_store(path)
    commit(store, [fact(1, SessionIdled()), *(fact(seq, skipped(seq), "") for seq in range(2, 12))])
    assert (10, [11, 10, 9, 8, 7]) == (store.skipped.total, [one.seq for one in store.skipped.newest])
    commit(store, [fact(12, SessionIdled()), fact(13, skipped(13), "")])
    close(store)
    again = open_store(path)
    assert (11, [13, 11, 10, 9, 8]) == (again.skipped.total, [one.seq for one in again.skipped.newest])
    assert "reason 13" == again.skipped.newest[0].reason
    assert [1, 12] == [row["seq"] for row in rows(again, "select seq from session_idled order by seq")]
    close(again)


def skipped(seq: int) -> RecordSkipped:
    return RecordSkipped(f"log.{seq}", f"reason {seq}", 3)


def test_text_that_stays_in_the_log_has_no_column() -> None:
    columns = {column.name for column in table_of(PartRecorded).columns}
    assert {"text", "input", "output"} & columns == set()
    assert "edits" not in {column.name for column in table_of(PlanExtended).columns}


def test_a_column_has_the_type_of_its_field() -> None:
    types = {column.name: column.type for column in table_of(StepOpened).columns}
    assert (types["step"], types["kept"], types["aligned"], types["capabilities"]) == (
        "VARCHAR", "BIGINT", "BOOLEAN", "VARCHAR[]"
    )  # fmt: skip
    assert {"sent": "TIMESTAMP"}.items() <= {
        column.name: column.type for column in table_of(MessageRecorded).columns
    }.items()


def test_optional_fields_and_annotations_are_flat() -> None:
    class Seen(Event, frozen=True):
        TYPE: ClassVar[str] = "thing.seen"

        share: float | None = None
        sizes: list[int] | None = None
        note: Annotated[str, msgspec.Meta(max_length=9)] = ""
        body: LogOnly = ""

    assert [("share", "DOUBLE"), ("sizes", "BIGINT[]"), ("note", "VARCHAR")] == [
        (column.name, column.type) for column in table_of(Seen).columns
    ]


@pytest.mark.parametrize(
    "hint",
    [
        dict[str, str],
        set[str],
        tuple[int],
        tuple[int, ...],
        str | int,
        Literal["a"],
        list[dict[str, int]],
        object,
        bytes,
    ],
    ids=str,
)
def test_a_field_that_is_not_flat_is_refused_with_what_would_be_right(hint: object) -> None:
    nested = type(
        "Nested", (Event,), {"__annotations__": {"TYPE": ClassVar[str], "inner": hint}, "TYPE": "a.b"}, frozen=True
    )
    with pytest.raises(TypeError, match=r"Nested\.inner is .*: an event holds str, .* put what is nested into a JSON"):
        table_of(nested)


def test_a_field_named_as_one_of_the_envelope_is_refused() -> None:
    class Clashing(Event, frozen=True):
        TYPE: ClassVar[str] = "a.b"

        session: str

    with pytest.raises(TypeError, match=r"Clashing has fields named as the envelope's: \['session'\]; rename them"):
        table_of(Clashing)


def test_another_shape_of_the_views_is_another_file() -> None:
    assert (fingerprint(["a"]) == fingerprint(["a"]), fingerprint(["a"]) == fingerprint(["b"])) == (True, False)


# Facts and position


def test_a_fact_is_a_row_with_its_envelope(store: Store) -> None:
    commit(store, [fact(7, DropRequested(tags=[1, 2]), session="t", project="q")])
    (row,) = rows(store, "select * from drop_requested")
    assert row == {
        "seq": 7,
        "id": "e7",
        "happened": happened(7),
        "project": "q",
        "session": "t",
        "actor_kind": "agent",
        "actor_id": "a",
        "cause": "c",
        "tags": [1, 2],
    }


def test_times_of_any_zone_are_stored_in_utc(store: Store) -> None:
    envelope, event = fact(1, MessageRecorded(message="m", role="user", sent=datetime(2026, 1, 1, tzinfo=UTC)))
    zone = timezone(timedelta(hours=5))
    moved = msgspec.structs.replace(envelope, at=envelope.at.astimezone(zone), actor=Actor("person"))
    local = msgspec.structs.replace(event, sent=datetime(2026, 1, 1, 5, tzinfo=zone))
    commit(store, [(moved, local)])
    (row,) = rows(store, "select happened, sent, actor_id from message_recorded")
    assert row == {"happened": happened(1), "sent": happened(0), "actor_id": ""}


def test_what_has_no_time_has_none_in_the_table(store: Store) -> None:
    commit(store, [fact(1, MessageRecorded(message="m", role="user"))])
    assert [{"sent": None}] == rows(store, "select sent from message_recorded")


@pytest.mark.parametrize("event", [event for event in EVENTS if not msgspec.structs.fields(event)])
def test_a_fact_without_fields_is_a_row_too(store: Store, event: type[Event]) -> None:
    commit(store, [fact(1, event())])
    assert [{"seq": 1}] == rows(store, f"select seq from {TABLES[event.TYPE].name}")


def test_the_position_moves_with_the_facts(store: Store) -> None:
    commit(store, DROPS[:3])
    assert ([1, 2, 3], 3, 3) == (asked_drops(store), position(store), store.committed)


def test_the_position_moves_over_what_is_no_fact_of_ours(store: Store) -> None:
    commit(store, [], through=9)
    assert ([], 9) == (asked_drops(store), position(store))


def test_a_fact_that_is_delivered_again_is_no_second_row(store: Store) -> None:
    commit(store, DROPS[:3])
    commit(store, DROPS[:3])
    commit(store, DROPS[1:5])
    assert ([1, 2, 3, 4, 5], 5) == (asked_drops(store), position(store))


class NeverHeard(Event, frozen=True):
    TYPE: ClassVar[str] = "never.heard"


def test_when_a_batch_breaks_neither_rows_nor_position_move(store: Store) -> None:
    commit(store, DROPS[:1])
    with pytest.raises(KeyError):
        commit(store, [DROPS[1], fact(3, NeverHeard())])
    assert ([1], 1, 1) == (asked_drops(store), position(store), store.committed)
    commit(store, DROPS[:2])
    assert ([1, 2], 2) == (asked_drops(store), position(store))


def test_when_the_position_cannot_be_written_the_rows_are_not_either(store: Store) -> None:
    with pytest.raises(Exception, match=r"(?i)overflow|convert|cast|range"):
        commit(store, DROPS[:1], through=2**70)
    assert ([], 0, 0) == (asked_drops(store), position(store), store.committed)


def test_a_store_that_is_opened_again_knows_its_position(tmp_path: Path) -> None:
    store = open_store(tmp_path / "views.duckdb")
    commit(store, DROPS)
    close(store)
    metrics.COMMITTED.set(0)
    again = open_store(tmp_path / "views.duckdb")
    assert ([1, 2, 3, 4, 5], 5) == (asked_drops(again), again.committed)
    assert 5.0 == metrics.REGISTRY.get_sample_value("annals_views_committed_seq")
    close(again)


# Questions


def test_to_open_a_file_again_changes_nothing_in_it(tmp_path: Path) -> None:
    path = tmp_path / "views.duckdb"
    close(open_store(path))
    before = path.read_bytes()
    close(open_store(path))
    assert before == path.read_bytes()


@pytest.mark.parametrize("lost", ['drop view "steps"', 'drop table "step_opened"', "drop table checkpoint_row"])
def test_what_a_file_lacks_is_made(tmp_path: Path, lost: str) -> None:
    path = tmp_path / "views.duckdb"
    store = open_store(path)
    asyncio.run(store.duck.write(lambda db: db.execute(lost) and None))
    close(store)
    again = open_store(path)
    assert [{"n": 0}] == rows(again, "select count(*) as n from steps")
    assert 0 == again.committed
    close(again)


def test_one_select_is_answered_with_its_columns(store: Store) -> None:
    commit(store, DROPS[:2])
    answer = asyncio.run(store.duck.query("select seq, session from drop_requested", max_rows=5, timeout=60))
    assert (answer.columns, answer.rows, answer.truncated) == (("seq", "session"), ((1, "s"), (2, "s")), False)


def test_a_question_may_have_parameters(store: Store) -> None:
    commit(store, DROPS)
    asked = store.duck.query("select seq from drop_requested where seq > ?", [3], max_rows=5, timeout=60)
    assert ((4,), (5,)) == asyncio.run(asked).rows


def test_a_result_with_more_rows_than_were_asked_for_is_cut_off_and_marked(store: Store) -> None:
    commit(store, DROPS)
    answer = asyncio.run(store.duck.query("select seq from drop_requested order by seq", max_rows=4, timeout=60))
    assert (answer.rows, answer.truncated) == (((1,), (2,), (3,), (4,)), True)


@pytest.mark.parametrize(("sql", "reason"), REFUSED)
def test_a_question_that_could_change_or_reach_anything_is_refused(store: Store, sql: str, reason: str) -> None:
    commit(store, DROPS[:1])
    with pytest.raises(BadQuery, match=reason):
        rows(store, sql)
    assert ([1], 1) == (asked_drops(store), position(store))


ENDLESS = "select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3"


def test_a_question_that_takes_too_long_is_broken_off(store: Store) -> None:
    with pytest.raises(BadQuery, match=r"the query took longer than 0\.05 s; ask for less"):
        asyncio.run(store.duck.query(ENDLESS, max_rows=1, timeout=0.05))
    assert [{"one": 1}] == rows(store, "select 1 as one")


def test_a_question_that_waits_for_a_reader_is_broken_off_too(store: Store) -> None:
    async def crowd() -> list[object]:
        long = [store.duck.query(ENDLESS, max_rows=1, timeout=0.3) for _ in range(duck.READERS)]
        return await asyncio.gather(*long, store.duck.query(ENDLESS, max_rows=1, timeout=0.05), return_exceptions=True)

    assert [BadQuery] * (duck.READERS + 1) == [type(answer) for answer in asyncio.run(crowd())]


def test_a_reader_sees_whole_transactions_only(store: Store) -> None:
    async def look_while_writing() -> tuple[object, ...]:
        loop = asyncio.get_running_loop()
        written, seen = asyncio.Event(), asyncio.Event()

        def work(db: object) -> None:
            db.execute("insert into checkpoint_row (seq) values (99)")  # type: ignore[attr-defined]
            loop.call_soon_threadsafe(written.set)
            asyncio.run_coroutine_threadsafe(seen.wait(), loop).result(10)
            raise RuntimeError("and back")

        writing = asyncio.ensure_future(store.duck.write(work))
        await written.wait()
        answer = await store.duck.query("select seq from checkpoint_row", max_rows=9, timeout=60)
        seen.set()
        with pytest.raises(RuntimeError):
            await writing
        return answer.rows

    assert ((0,),) == asyncio.run(look_while_writing())


# Files


OLD = f"{PREFIX}000000000000.duckdb"


def older(folder: Path, facts: list[Fact] = DROPS, name: str = OLD) -> None:
    """A file of other shapes."""
    store = open_store(folder / name)
    commit(store, facts)
    close(store)


async def open_files(folder: Path) -> Files:
    return await Files.open(folder, memory_limit=MEMORY, log=RecordedLog(DROPS))


def left_over(folder: Path) -> list[str]:
    """Files that are not of today's shapes."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith(file_name()))


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "POLL", 0.001)


async def test_the_first_file_answers_at_once(tmp_path: Path) -> None:
    found = await open_files(tmp_path / "views")
    assert (found.is_building, found.serving.duck.path.name) == (False, file_name())
    await found.swap_at(0)
    assert found.is_building is False
    await found.close()


async def test_an_older_file_answers_until_the_new_one_has_caught_up(tmp_path: Path) -> None:
    await asyncio.to_thread(older, tmp_path)
    found = await open_files(tmp_path)
    await found.building.commit(DROPS[:4], 4)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(found.swap_at(5), 0.05)
    assert (found.is_building, found.serving.duck.path.name, found.serving.committed) == (True, OLD, 5)
    await found.building.commit(DROPS[4:], 5)
    await found.swap_at(5)
    assert (found.is_building, found.serving.duck.path.name) == (False, file_name())
    assert left_over(tmp_path) == []
    await found.close()


async def test_an_older_file_answers_again_after_a_break_in_the_building(tmp_path: Path) -> None:
    await asyncio.to_thread(older, tmp_path)
    found = await open_files(tmp_path)
    await found.building.commit(DROPS[:2], 2)
    await found.close()
    again = await open_files(tmp_path)
    assert (again.serving.duck.path.name, again.building.committed) == (OLD, 2)
    await again.close()


async def test_an_older_file_that_knows_less_does_not_answer(tmp_path: Path) -> None:
    await asyncio.to_thread(older, tmp_path, DROPS[:1])
    await asyncio.to_thread(older, tmp_path, DROPS[:3], file_name())
    found = await open_files(tmp_path)
    assert (found.is_building, found.serving.duck.path.name) == (False, file_name())
    await found.swap_at(3)
    assert left_over(tmp_path) == []
    await found.close()


async def test_of_older_files_the_newest_answers_and_all_are_removed(tmp_path: Path) -> None:
    newer = f"{PREFIX}111111111111.duckdb"
    await asyncio.to_thread(older, tmp_path, DROPS, newer)
    await asyncio.to_thread(older, tmp_path)
    os.utime(tmp_path / OLD, (1, 1))
    (tmp_path / f"{OLD}.wal").touch()
    found = await open_files(tmp_path)
    assert found.serving.duck.path.name == newer
    await found.building.commit(DROPS, 5)
    await found.swap_at(5)
    assert left_over(tmp_path) == []
    await found.close()


async def test_an_older_file_that_cannot_be_opened_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / OLD).write_bytes(b"not a database" * 1000)
    bare = tmp_path / f"{PREFIX}222222222222.duckdb"
    await Duck(bare, memory_limit=MEMORY).close()
    found = await open_files(tmp_path)
    assert found.is_building is False
    await found.swap_at(0)
    assert left_over(tmp_path) == []
    await found.close()


async def test_an_older_file_is_closed_with_the_new_one(tmp_path: Path) -> None:
    await asyncio.to_thread(older, tmp_path)
    found = await open_files(tmp_path)
    await found.close()
    store = await Store.open_as_is(tmp_path / OLD, memory_limit=MEMORY)
    assert store.committed == 5
    await store.close()
