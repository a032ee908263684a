"""How long a question takes by how much is indexed, compared with the two bare lookups that it cannot do without.

The vectors are those of no model, the rooms and the broker are real. Nothing is indexed meanwhile.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import numpy as np
import psutil

from schemas.codec import encode
from schemas.search_asks import Hits, SearchAsk
from schemas.subjects import Address, ask
from services.edges.launcher.supervisor import Installation
from services.embedder.convert import DIMENSIONS, FOLDER
from services.indexer.tables import VECTORS
from services.kit.bus import Appender, Bus, Unreachable
from services.kit.index_place import folder_of
from services.kit.rooms import ROOMS
from services.kit.vectors import Table, Tables
from services.settings import Logs, Settings
from tests.bench.asked import ShortSession
from tests.bench.indexing import MEBIBYTE, wrapped
from tests.bench.installations import installation
from tests.bench.measure import percentile
from tests.bench.search.made import PROJECT, Texts, make
from tests.helpers.indexed_sessions import message
from tests.helpers.installation import connect

QUESTIONS, WORDS = 60, (4, 8, 12, 20)
CANDIDATES = 100
STEPS, ROUNDS, PER_SECOND = 60, 3, 10
WATCHED = 20
RESTING, LOOK = 0.1, 1.0
"""Seconds of its processor that a searcher which has nothing left to do spends at most in so many."""
PATIENCE = 30.0


class Latency(msgspec.Struct, frozen=True):
    """Searches among so many rows. Times are milliseconds, sizes MiB."""

    rows: int
    first: float
    """The first question after the rooms were started, which has its rows read."""
    p50: float
    p95: float
    lookups_p50: float
    """Both lookups of vectors side by side, between the questions, in this process."""
    ratio: float
    searcher_cpu: float
    """What a question takes of the processor, on average."""
    embedder_cpu: float
    searcher: float
    embedder: float
    step_p99: float
    """A step to its plan in hand, while nobody searches ..."""
    step_p99_searched: float
    """... and while ten questions a second are asked."""


class Lag(msgspec.Struct, frozen=True):
    """Milliseconds from the moment at which a message is recorded until a search finds it."""

    lag_p50: float
    lag_p99: float


async def latencies(sizes: Sequence[int]) -> list[Latency]:
    return [await _latency(rows) for rows in sizes]


async def lag() -> Lag:
    async with installation() as (_, bus):
        seconds = [await _found(bus, number) for number in range(WATCHED)]
    return Lag(round(1000 * percentile(seconds, 0.5)), round(1000 * percentile(seconds, 0.99)))


async def _latency(rows: int) -> Latency:
    with tempfile.TemporaryDirectory(prefix="annals-bench-", ignore_cleanup_errors=True) as folder:
        data = Path(folder)
        await make(data, rows)
        rooms = [room for room in ROOMS if room not in {"indexer", "commit_indexer"}]
        async with Installation(Settings(data=data, logs=Logs(level="error")), rooms).running() as running:
            bus = await connect(running)
            first = await _first(bus)
            searcher, embedder = (psutil.Process(running.status[name].pid) for name in ("searcher", "embedder"))
            await _rested(searcher)
            before = _cpu(searcher), _cpu(embedder)
            asked, lookups = await _asked(bus, await _table(data))
            spent = (_cpu(searcher) - before[0]) / QUESTIONS, (_cpu(embedder) - before[1]) / QUESTIONS
            quiet, busy = await _steps(bus)
            await bus.close()
            p50, bare = percentile(asked, 0.5), percentile(lookups, 0.5)
            times = (first, p50, percentile(asked, 0.95), bare)
            return Latency(
                rows,
                *(round(1000 * seconds, 1) for seconds in times),
                round(p50 / bare, 2),
                *(round(1000 * seconds, 1) for seconds in spent),
                *(round(process.memory_info().rss / MEBIBYTE) for process in (searcher, embedder)),
                *(round(1000 * percentile(seconds, 0.99), 1) for seconds in (quiet, busy)),
            )


async def _first(bus: Bus) -> float:
    while True:
        began = time.perf_counter()
        found = await search(bus, PROJECT, "how is the log read")
        if found.hits and not found.degraded:
            return time.perf_counter() - began
        await asyncio.sleep(RESTING)


async def search(bus: Bus, project: str, query: str) -> Hits:
    """What a search finds; nothing where nobody answers yet."""
    try:
        reply = await bus.request(ask(SearchAsk.NAME, project), encode(SearchAsk(project, query)), PATIENCE)
    except Unreachable:
        return Hits()
    return msgspec.json.decode(reply, type=Hits)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _rested(process: psutil.Process) -> None:
    """Wait until a searcher has read what it reads once."""
    before = -LOOK
    while _cpu(process) - before > RESTING:
        before = _cpu(process)
        await asyncio.sleep(LOOK)


async def _table(data: Path) -> Table:
    return await (await Tables.open(folder_of(data) / FOLDER)).as_it_is("message")


async def _asked(bus: Bus, table: Table) -> tuple[list[float], list[float]]:
    texts, chance, numbers = Texts(7), random.Random(3), np.random.default_rng(7)
    asked, lookups = [], []
    for _ in range(QUESTIONS):
        query = texts.text(chance.choice(WORDS))
        began = time.perf_counter()
        await search(bus, PROJECT, query)
        asked.append(time.perf_counter() - began)
        vector = numbers.normal(size=DIMENSIONS).tolist()
        began = time.perf_counter()
        await asyncio.gather(
            *(table.nearest(column, vector, ("id",), limit=CANDIDATES, is_exact=False) for column in VECTORS)
        )
        lookups.append(time.perf_counter() - began)
    return asked, lookups


async def _steps(bus: Bus) -> tuple[list[float], list[float]]:
    worked, quiet, busy = ShortSession(bus), [], []
    for _ in range(ROUNDS):
        quiet += await worked.steps(STEPS)
        async with _searching(bus):
            busy += await worked.steps(STEPS)
    await worked.outbox.close()
    return quiet, busy


@asynccontextmanager
async def _searching(bus: Bus) -> AsyncIterator[None]:
    """Ten questions a second, whether they have been answered or not."""
    texts = Texts(11)

    async def on() -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(search(bus, PROJECT, texts.text(WORDS[1])))
                await asyncio.sleep(1 / PER_SECOND)

    task = asyncio.create_task(on())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _found(bus: Bus, number: int) -> float:
    name = f"live{number}"
    await Appender(bus).append(wrapped(message(name, f"the lighthouse {name}"), Address(PROJECT, "live")), {})
    began = time.perf_counter()
    while not await _knows(bus, name):  # noqa: ASYNC110 - in another process
        await asyncio.sleep(0.02)
    return time.perf_counter() - began


async def _knows(bus: Bus, name: str) -> bool:
    return name in {hit.id for hit in (await search(bus, PROJECT, f"lighthouse {name}")).hits}
