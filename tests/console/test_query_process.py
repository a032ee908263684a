"""One query over a copy of the views, as its process answers it."""

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from schemas.codec import encode
from schemas.events import DropRequested
from schemas.view_asks import Rows
from services.console.core.exchange import Outcome, SqlQuery
from services.console.query_process import answer
from services.kit.data_directory import COPY_TABLE
from services.kit.duck import change_alone
from tests.helpers.refused_sql import REFUSED
from tests.helpers.view_facts import MEMORY, close, commit, fact, open_store

pytestmark = pytest.mark.slow

MADE = datetime(2026, 3, 7, 12, tzinfo=UTC)
HOUR = 3600.0


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of views with a few facts."""
    path = tmp_path_factory.mktemp("views") / "copy.duckdb"
    store = open_store(path)
    commit(store, [fact(seq, DropRequested(tags=[seq])) for seq in range(1, 6)])
    close(store)
    stamp = f"create table {COPY_TABLE} as select 5 as as_of, timestamp '2026-03-07 12:00:00' as copied_at"
    change_alone(path, lambda db: db.execute(stamp) and None, memory_limit=MEMORY)
    before = path.read_bytes()
    yield path
    assert before == path.read_bytes()
    assert [path] == list(path.parent.iterdir())


def asked(copy: Path, sql: str, **changes: object) -> tuple[Outcome, list[list[object]]]:
    """What becomes of a query in this process, whose memory is not bounded, and its rows."""
    query = msgspec.structs.replace(SqlQuery(str(copy), sql, 1000, 60.0, 512, 100_000, 1_000_000), **changes)
    sink = io.BytesIO()
    outcome = answer(query, sink, lambda: None)
    sink.seek(0)
    pages = [msgspec.json.decode(sink.read(size), type=list[list[object]]) for size in outcome.sizes]
    return outcome, [row for page in pages for row in page]


@pytest.mark.parametrize(("sql", "reason"), REFUSED)
def test_a_query_that_could_change_or_reach_anything_is_refused(copy: Path, sql: str, reason: str) -> None:
    outcome, rows = asked(copy, sql)
    assert [] == rows
    assert re.search(reason, outcome.error)
    assert "Traceback" not in outcome.error


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_parquet('/etc/passwd')",
        "select * from read_blob('/proc/self/environ')",
        "select * from read_json('/etc/passwd')",
        "select * from read_csv_auto('http://127.0.0.1/x.csv')",
        "select * from sniff_csv('/etc/passwd')",
        "select * from parquet_metadata('/etc/passwd')",
        "select * from 'http://127.0.0.1/x.parquet'",
        "attach ':memory:' as mine",
        "detach copy",
        "use memory",
        "set lock_configuration = false",
        "pragma database_list",
        "install httpfs from 'http://127.0.0.1'",
        "copy (select 1) to '/tmp/out.parquet'",
        "copy drop_requested from '/etc/passwd'",
        "export database '/tmp/out' (format parquet)",
        "create or replace macro f() as 1",
        "create secret (type s3)",
        "vacuum",
        "checkpoint",
        "call enable_logging()",
        "execute nothing",
        "prepare p as select 1",
        "begin",
        "select nextval('s')",
        "select * from query('delete from checkpoint_row')",
        "select * from query_table('/etc/passwd')",
        "select getenv('HOME')",
        "alter table checkpoint_row add column a int",
        "merge into checkpoint_row using (select 1 as seq) s on true when matched then delete",
    ],
)
def test_further_ways_out_are_none(copy: Path, sql: str) -> None:
    outcome, rows = asked(copy, sql)
    assert [] == rows
    assert outcome.error
    assert "Traceback" not in outcome.error


def test_an_answer_says_which_copy_it_is_of(copy: Path) -> None:
    outcome, rows = asked(copy, "select seq, session from drop_requested order by seq desc")
    assert [[seq, "s"] for seq in (5, 4, 3, 2, 1)] == rows
    assert (("seq", "session"), 5, MADE, False, "") == (
        outcome.columns,
        outcome.as_of,
        outcome.at,
        outcome.truncated,
        outcome.error,
    )


VALUES = {
    "timestamptz '2026-03-07 12:00:00+02'": "2026-03-07T10:00:00+00:00",
    "timestamp '2026-03-07 12:00:00.5'": "2026-03-07T12:00:00.5",
    "timestamp_ns '2026-03-07 12:00:00.123456789'": "2026-03-07T12:00:00.123456789",
    "timestamp_s '2026-03-07 12:00:00'": "2026-03-07T12:00:00",
    "timestamptz 'infinity'": "infinity",
    "timestamp '290000-01-01'": "290000-01-01T00:00:00",
    "date '2026-03-07'": "2026-03-07",
    "date '-infinity'": "-infinity",
    "time '24:00:00'": "24:00:00",
    "timetz '01:02:03+05'": "01:02:03+05",
    "interval 1 month": "1 month",
    "interval 90 second": "00:01:30",
    "to_years(200000)": "200000 years",
    "1.50::decimal(9, 2)": "1.50",
    "170141183460469231731687303715884105727::hugeint": "170141183460469231731687303715884105727",
    "340282366920938463463374607431768211455::uhugeint": "340282366920938463463374607431768211455",
    "sum(1)": 1,
    "bignum '99999999999999999999999999999999999999999999'": "99999999999999999999999999999999999999999999",
    "'nan'::double": "NaN",
    "['inf'::float, '-inf', 1.5]": ["Infinity", "-Infinity", 1.5],
    "'a\\x00\\xFF'::blob": "YQD/",
    "'101'::bit": "101",
    "'x'::enum ('x', 'y')": "x",
    "uuid '12345678-1234-5678-1234-567812345678'": "12345678-1234-5678-1234-567812345678",
    "null": None,
    "[null]": [None],
    "[null::timestamptz]": [None],
    "null::struct(a timestamptz)": None,
    "{'at': timestamptz '2026-03-07 12:00:00+00', 'n': [{'b': interval 2 day}]}": {
        "at": "2026-03-07T12:00:00+00:00",
        "n": [{"b": "2 days"}],
    },
    "map {1: timestamptz '2026-03-07 12:00:00+00'}": {"1": "2026-03-07T12:00:00+00:00"},
    "map {[1, 2]: 'x'}": {"[1, 2]": "x"},
    "map {timestamptz '2026-03-07 12:00:00+00': 1}": {"2026-03-07 12:00:00+00": 1},
    "union_value(k := timestamptz '2026-03-07 12:00:00+00')": "2026-03-07 12:00:00+00",
    "row(1, 'a')": "(1, a)",
    "[1, 2]::int[2]": [1, 2],
    "array_value(timestamptz '2026-03-07 12:00:00+00')": ["2026-03-07T12:00:00+00:00"],
    "'{\"a\": 1}'::json": '{"a": 1}',
    "1::variant": "1",
    "chr(0) || 'ü' || chr(128512)": "\0ü\U0001f600",
}


@pytest.mark.parametrize("expression", VALUES)
def test_a_value_of_every_type_is_written(copy: Path, expression: str) -> None:
    outcome, rows = asked(copy, f"select {expression}")
    assert ("", [[VALUES[expression]]]) == (outcome.error, rows)


def test_the_time_of_now_is_written_with_its_zone(copy: Path) -> None:
    _, [[now, today, zone]] = asked(copy, "select now(), current_date, current_setting('TimeZone')")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(str(now))).total_seconds() < HOUR
    assert (str(now)[:10], "UTC") == (today, zone)


@pytest.mark.parametrize("end", [";", "\n;\n", " -- and so on", " /* and so on */"])
def test_how_a_query_ends_is_its_own_affair(copy: Path, end: str) -> None:
    assert [[3], [2], [1]] == asked(copy, f"select * from (values (1), (2), (3)) t(a) order by a desc{end}")[1]


@pytest.mark.parametrize(
    "sql", ["from checkpoint_row", "show tables", "describe drop_requested", "summarize drop_requested", "values (1)"]
)
def test_other_ways_to_read_are_answered(copy: Path, sql: str) -> None:
    outcome, rows = asked(copy, sql)
    assert "" == outcome.error
    assert rows


def test_columns_may_have_the_same_name_and_any_name(copy: Path) -> None:
    sql = 'select 1 as a, now() as a, 3 as "select ""x"", #1", 4 as fetchall, 5 as "limit"'
    outcome, [row] = asked(copy, sql)
    assert ("a", "a", 'select "x", #1', "fetchall", "limit") == outcome.columns
    assert [1, 3, 4, 5] == [row[0], *row[2:]]


def test_pages_come_in_the_order_of_the_rows_and_fit(copy: Path) -> None:
    sql = "select range, repeat('x', 50) from range(5000) order by range desc"
    outcome, rows = asked(copy, sql, max_rows=5000, room=9000)
    assert [5000 - place for place in range(1, 5001)] == [row[0] for row in rows]
    assert len(outcome.sizes) > 30
    assert max(outcome.sizes) < 9000
    assert not outcome.truncated


def test_a_result_with_more_rows_than_were_asked_for_is_cut_off_and_marked(copy: Path) -> None:
    outcome, rows = asked(copy, "from range(11)", max_rows=10)
    assert (True, 10) == (outcome.truncated, len(rows))
    outcome, rows = asked(copy, "from range(10)", max_rows=10)
    assert (False, 10) == (outcome.truncated, len(rows))


def test_a_result_with_too_many_bytes_is_cut_off_and_marked(copy: Path) -> None:
    outcome, rows = asked(copy, "select repeat('x', 1000) from range(900)", bytes=50_000, room=20_000)
    assert outcome.truncated
    assert 0 < len(rows) < 60


def test_a_row_that_fits_no_page_is_answered_with_what_to_do(copy: Path) -> None:
    outcome, _ = asked(copy, "select repeat('x', 200000)")
    assert outcome.error.startswith("row 1 has 200,004 bytes, an answer has room for")
    assert () == outcome.sizes


def test_names_that_fill_the_answer_are_answered_with_what_to_do(copy: Path) -> None:
    outcome, _ = asked(copy, f'select 1 as "{"x" * 60_000}"')
    assert "the names of the columns fill the whole answer" in outcome.error


@pytest.mark.parametrize("sql", ["select error(repeat('ü', 5000000))", "select repeat('x', 5000000)::int"])
def test_an_error_that_quotes_a_long_value_is_shortened(copy: Path, sql: str) -> None:
    error = asked(copy, sql)[0].error
    assert (2004, " ...") == (len(error), error[-4:])
    assert len(encode(Rows(error=asked(copy, sql, room=500)[0].error))) < 600


def test_every_type_that_duckdb_can_show_is_written(copy: Path) -> None:
    outcome, rows = asked(copy, "from test_all_types()")
    assert ("", 3) == (outcome.error, len(rows))
    assert [None] * len(outcome.columns) == rows[2]


def test_what_duckdb_says_is_passed_on_without_advice_that_nobody_can_follow(copy: Path) -> None:
    assert asked(copy, "select nope from drop_requested")[0].error.startswith("Binder Error: Referenced column")
    big = asked(copy, "select string_agg(repeat('x', 1000), '') from range(10000000)")[0].error
    assert big == "the query needs more than the 512 MiB of memory that it may have; ask for less"
