"""What people ask in SQL, over a real broker, with a responder that leaves copies and a console that reads them."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import psutil
import pytest
from msgspec.structs import replace

from schemas.codec import encode
from schemas.subjects import ask
from schemas.view_asks import Rows, SqlAsk
from services.console import results, worker
from services.console.running import ENVIRONMENT, MODULE
from services.console.worker import Console
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus
from services.kit.room import Room
from services.responder.worker import Responder
from services.settings import Settings
from tests.helpers.broker_world import connected, opened, quick_settings, titles, wrapped
from tests.helpers.sql import PATIENT, asked
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

ENDLESS = "select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3"
BOMB = "select length(list_reduce(list_transform(range(100), lambda x: repeat('x', 100000000)), lambda a, b: a || b))"
"""Takes gigabytes in functions whose memory DuckDB does not count, and more time than anybody has."""


class Person:
    """Somebody who asks in SQL."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def ask(self, sql: str = "", **changes: object) -> Rows:
        return await asked(self._bus, replace(SqlAsk(sql, timeout_ms=PATIENT), **changes))

    async def pages(self, sql: str, **changes: object) -> list[Rows]:
        """All pages of what a query finds."""
        found = [await self.ask(sql, **changes)]
        while found[-1].cursor:
            found.append(await self.ask(cursor=found[-1].cursor))
        return found


@asynccontextmanager
async def working(broker: Broker, settings: Settings, *rooms: Room) -> AsyncIterator[None]:
    """Rooms on a connection of their own: what they answer ends with it."""
    interval = sys.getswitchinterval()
    connection = await connected(broker)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(connection.close)
        for room in rooms:
            await stack.enter_async_context(opened(room, connection, settings))
        yield
    sys.setswitchinterval(interval)


def chosen(data: Path, **views: object) -> Settings:
    settings = quick_settings(data)
    return replace(settings, views=replace(settings.views, **views))


@pytest.fixture
async def person(broker: Broker, bus: Bus, tmp_path: Path) -> AsyncIterator[Person]:
    """A person, a responder that leaves copies, and a console."""
    async with working(broker, quick_settings(tmp_path / "data"), Responder(), Console()):
        connection = await connected(broker, "person")
        yield Person(connection)
        await connection.close()
    assert bus.connected


def queries() -> list[psutil.Process]:
    """The processes of queries that run."""
    return [one for one in psutil.Process().children() if MODULE in _command(one)]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it has just ended
        return []


async def test_a_query_reads_the_log_as_it_was_when_it_came_and_reports_its_age(bus: Bus, person: Person) -> None:
    for count in (1, 2):
        await Appender(bus).append(wrapped(titles(1, start=count)), {})
        found = await person.ask("select count(*) as n from session_renamed")
        assert Rows(("n",), ((count,),), as_of=count, age=found.age) == found
        assert 0 <= found.age < PATIENCE


async def test_between_two_copies_a_query_sees_the_older_one_and_says_so(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    async with working(broker, chosen(tmp_path, copy_every=3600.0), Responder(), Console()):
        for start in range(2):
            await Appender(bus).append(wrapped(titles(1, start=start)), {})
            found = await Person(bus).ask("select count(*) from session_renamed")
            assert (1, ((1,),)) == (found.as_of, found.rows)
        assert found.age > 0


async def test_where_the_responder_is_away_the_copy_it_left_answers_and_says_how_old_it_is(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    settings = quick_settings(tmp_path)
    async with working(broker, settings, Console()):
        person = Person(bus)
        nothing = await person.ask("select 1")
        assert "there is no copy of the views" in nothing.error
        assert "nobody serves ask.views_copy" in nothing.error
        async with working(broker, settings, Responder()):
            await Appender(bus).append(wrapped(titles(1)), {})
            assert 1 == (await person.ask("select 1")).as_of
        await Appender(bus).append(wrapped(titles(1, start=1)), {})
        left = await person.ask("select count(*) from session_renamed")
        assert (1, ((1,),), "") == (left.as_of, left.rows, left.error)
        assert left.age > 0


async def test_what_is_no_question_is_answered_with_what_would_be_right(bus: Bus, person: Person) -> None:
    for data in (b"{}{", b'{"sql": 7}', b"", b'{"max_rows": "many", "sql": "select 1"}'):
        reply = msgspec.json.decode(await bus.request(ask(SqlAsk.NAME), data, PATIENCE), type=Rows)
        assert "ask again with what it takes" in reply.error
    assert "only one SELECT is answered" in (await person.ask("")).error
    assert ((1,),) == (await person.ask("select 1", max_rows=-3)).rows
    assert "took longer than 0.05 s" in (await person.ask("select 1", timeout_ms=-1)).error


async def test_what_fills_more_than_one_message_comes_in_pages_of_one_moment(bus: Bus, person: Person) -> None:
    sql = "select range, repeat('x', 1000), random() as r from range(5000) order by range desc"
    found = await person.pages(sql, max_rows=5000)
    assert len(found) > 4
    assert [True] * (len(found) - 1) + [False] == [page.truncated for page in found]
    assert list(range(4999, -1, -1)) == [row[0] for page in found for row in page.rows]
    assert {("range", "repeat('x', 1000)", "r")} == {page.columns for page in found}
    assert {""} == {page.error for page in found}
    assert max(len(encode(page)) for page in found) <= bus.max_payload
    assert found[1].rows == (await person.ask(cursor=found[0].cursor)).rows, "a page may be asked for again"


async def test_pages_that_nobody_has_are_refused_with_what_to_do(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await person.ask("select repeat('x', 1000) from range(3000)", max_rows=3000)
    name = first.cursor.partition("+")[0]
    for cursor in ("nothing", "+1", f"{name}+99", f"{name}+-1", f"{name}+1 ", f"{name}+", f"{name}+½", "\0"):
        assert "ask the query again" in (await person.ask(cursor=cursor)).error
    assert "" == (await person.ask(cursor=first.cursor)).error
    monkeypatch.setattr(results, "SECONDS", -1.0)
    assert "ask the query again" in (await person.ask(cursor=first.cursor)).error


async def test_of_many_results_the_oldest_are_let_go(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MOST", 2)
    cursors = [(await person.ask("select repeat('x', 1000) from range(1100)", max_rows=1100)).cursor for _ in range(3)]
    assert [False, True, True] == [not (await person.ask(cursor=cursor)).error for cursor in cursors]


async def test_a_row_that_is_too_large_for_a_message_is_answered_with_a_remedy(person: Person) -> None:
    found = await person.ask("select repeat('x', 2000000) as long")
    assert (1, "row 1 has 2,000,004 bytes") == (len(found.error.splitlines()), found.error[:25])


async def test_a_query_is_ended_at_its_deadline_and_nothing_of_it_is_left(person: Person) -> None:
    found = await person.ask(ENDLESS, timeout_ms=2000)
    assert "the query took longer than 2 s and was ended; ask for less" == found.error
    assert [] == queries()


async def test_a_query_that_takes_memory_behind_duckdbs_back_is_answered(person: Person) -> None:
    found = await person.ask(BOMB)
    assert "the query needs more than the 512 MiB of memory that it may have; ask for less" == found.error
    assert [] == queries()
    assert ((1,),) == (await person.ask("select 1")).rows


async def test_so_many_run_at_once_others_wait_and_still_others_are_refused(
    broker: Broker, bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "WAITING", 2)
    console = Console()
    async with working(broker, chosen(tmp_path, sql_at_once=1), Responder(), console):
        person = Person(bus)
        assert ((1,),) == (await person.ask("select 1")).rows
        first = asyncio.create_task(person.ask(ENDLESS, timeout_ms=PATIENT))
        await until(queries)
        waiting = [asyncio.create_task(person.ask("select 1", timeout_ms=200)) for _ in range(2)]
        await until(lambda: 3 == console.health()["in_hand"])
        assert "2 questions ask.sql wait already: ask again in a moment" == (await person.ask("select 1")).error
        assert {"others' queries took all of 0.2 s; ask again in a moment"} == {(await one).error for one in waiting}
        (running,) = queries()
        running.kill()
        assert "memory" in (await first).error, "as where the system takes it away"
        assert ((1,),) == (await person.ask("select 1")).rows


async def test_a_console_that_closes_ends_its_queries(broker: Broker, bus: Bus, tmp_path: Path) -> None:
    async with working(broker, quick_settings(tmp_path), Responder(), Console()):
        asking = asyncio.create_task(Person(bus).ask(ENDLESS))
        await until(queries)
        (running,) = queries()
    assert not running.is_running()
    assert "the console is being ended; ask again in a moment" == (await asking).error


async def test_the_process_of_a_query_knows_no_password(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNALS_NATS__PASSWORD", "secret")
    asking = asyncio.create_task(person.ask(ENDLESS, timeout_ms=PATIENT))
    await until(queries)
    (running,) = queries()
    assert {*running.environ()} <= {*ENVIRONMENT, "LC_CTYPE"}
    running.kill()
    await asking


def test_the_console_itself_loads_no_database() -> None:
    program = "import sys; import services.console.worker; print({'duckdb', 'pyarrow', 'pandas'} & {*sys.modules})"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "set()" == printed.strip()
