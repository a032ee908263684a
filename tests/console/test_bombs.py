"""Queries that would take all memory or time: each is answered, in time, and nobody else notices."""

import asyncio
import time
from pathlib import Path

import psutil
import pytest

from schemas.view_asks import Rows, SqlAsk
from services.console.running import MODULE
from tests.conftest import InstallationFactory
from tests.helpers.installation import connect
from tests.helpers.sql import asked

pytestmark = [pytest.mark.broker, pytest.mark.house, pytest.mark.soak]

MIB = 1024 * 1024
LIMIT = 4.0
LATE = 1.0
"""Seconds that an answer may come after its limit."""
GROWTH = 50 * MIB
BOMBS = {
    "endless recursion": "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t",
    "growing recursion": (
        "with recursive t(n) as (select repeat('x', 1000000) union all select n || n from t) select count(*) from t"
    ),
    "exploding recursion": (
        "with recursive t(n) as (select 1 union all select n from t, range(1000)) select count(*) from t"
    ),
    "cross join": "select sum(a.range * b.range) from range(1000000) a, range(1000000) b",
    "cross join of the catalog": (
        "select count(*) from duckdb_functions() a, duckdb_functions() b, duckdb_functions() c where a.oid < b.oid"
    ),
    "long text": "select length(repeat('x', 3000000000))",
    "padded text": "select length(lpad('x', 2000000000, 'y'))",
    "formatted text": "select format('{:>2000000000}', 'x')",
    "printed text": "select printf('%2000000000s', 'x')",
    "text of many": "select length(string_agg(repeat('x', 1000), '')) from range(10000000)",
    "list of numbers": "select len(range(2000000000))",
    "series": "select sum(a.x) from generate_series(1, 100000000000) a(x)",
    "list of all": "select list(range) from range(100000000)",
    "list of texts": "select array_agg(repeat('y', 100000)) from range(100000)",
    "lists of lists": (
        "select len(list_transform(range(20000), lambda x: list_transform(range(20000), lambda y: x * y)))"
    ),
    "transformed list": "select len(list_transform(range(200000000), lambda x: x * 2))",
    "reduced list": (
        "select length(list_reduce(list_transform(range(100), lambda x: repeat('x', 100000000)), lambda a, b: a || b))"
    ),
    "sorted list": "select list_sort(range(50000000))[1]",
    "map": "select map_from_entries(list_zip(range(10000000), range(10000000)))[7]",
    "distance": "select levenshtein(repeat('a', 200000), repeat('b', 200000))",
    "expression": "select regexp_matches(repeat('a', 100000000) || 'b', '(a*)*(a|b)*(.*)*c')",
    "replaced text": "select length(regexp_replace(repeat('a', 10000000), 'a', repeat('b', 1000), 'g'))",
    "split text": "select len(string_split(repeat('a,', 100000000), ','))",
    "sort": "select list(r) from (select range as r, repeat('x', 200) from range(50000000) order by hash(range))",
    "window": "select max(s) from (select sum(range) over (order by hash(range)) as s from range(100000000))",
    "distinct": "select count(distinct repeat(range::varchar, 20)) from range(100000000)",
    "hash join": "select count(*) from range(50000000) a join range(50000000) b on hash(a.range) = hash(b.range)",
    "wide rows": "select repeat('x', 900000) from range(10000)",
    "json": "select length(json_group_array(repeat('x', 100000))::varchar) from range(100000)",
    "long error": "select error(repeat('x', 50000000))",
    "long quotation": "select repeat('x', 50000000)::int",
    "pause": "select sleep_ms(1000000)",
    "deep": "select " + "[" * 500 + "1" + "]" * 500,
    "nested calls": "select " + "abs(" * 5000 + "1" + ")" * 5000,
    "many columns": "select " + ", ".join(f"repeat('x', 100000) as c{number}" for number in range(5000)),
    "many unions": " union all ".join(["select * from range(1000000)"] * 500),
}


async def test_each_bomb_is_answered_in_time_and_the_responder_does_not_grow(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    async with installation(tmp_path / "data") as running:
        bus = await connect(running)
        assert ((1,),) == (await asked(bus, SqlAsk("select 1"))).rows
        responder = psutil.Process(running.status["responder"].pid)
        console = psutil.Process(running.status["console"].pid)
        before = {one: one.memory_info().rss for one in (responder, console)}

        async def timed(name: str) -> tuple[str, float, Rows]:
            began = time.monotonic()
            reply = await asked(bus, SqlAsk(BOMBS[name], timeout_ms=int(LIMIT * 1000)))
            return name, time.monotonic() - began, reply

        one_by_one = [await timed(name) for name in BOMBS]
        at_once = await asyncio.gather(*map(timed, BOMBS))
        for name, seconds, reply in (*one_by_one, *at_once):
            assert seconds < LIMIT + LATE, name
            assert reply.columns or reply.error, name
            assert "Traceback" not in reply.error, name
        answers = {reply.error.partition(";")[0] for _, _, reply in one_by_one}
        assert "the query needs more than the 512 MiB of memory that it may have" in answers
        assert f"the query took longer than {LIMIT:.3g} s and was ended" in answers
        assert any("wait already" in reply.error for _, _, reply in at_once)
        assert {} == {one: grown for one, rss in before.items() if (grown := one.memory_info().rss - rss) > GROWTH}
        assert [] == [one for one in console.children() if MODULE in one.cmdline()]
        assert ((1,),) == (await asked(bus, SqlAsk("select 1"))).rows
        await bus.close()
