"""The index of search: how fast rows come in, how soon one is found meanwhile, and what that holds in memory."""

import asyncio
import os
import random
import time
from pathlib import Path

import psutil

from schemas.codec import derived_id, wrap
from schemas.envelope import Envelope
from schemas.events import Event
from schemas.subjects import Address
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Appender, Bus, LogReader
from services.kit.index_place import folder_of, read_current, read_position
from services.kit.vectors import Table, Tables, quoted
from tests.bench.installations import installation
from tests.bench.measure import Measure, at_least, at_most, median_ms, p99_ms
from tests.helpers.indexed_sessions import BEGAN, HARNESS, message

ROWS = int(os.environ.get("ANNALS_BENCH_ROWS", "10000"))
"""Written before anything is measured; 100,000 take an hour with their vectors."""
SESSION = 2_000
WATCHED = 30
PAUSE = 0.3
MEBIBYTE = 1024 * 1024
PATIENCE = 600.0


async def measure() -> list[Measure]:
    async with installation() as (running, bus):
        folder = running.data
        began = time.perf_counter()
        await _written(bus, ROWS)
        await _read(folder, await LogReader(bus).head())
        rate = ROWS / (time.perf_counter() - began)
        unfilled = await _without_vectors(folder)
        vectors = await _rate_of_vectors(folder)
        lags = [await _lag(bus, folder, number) for number in range(WATCHED)]
        sizes = {name: _size(running, name) for name in ("indexer", "embedder")}
    return [
        at_least(f"rows into the index, {ROWS} of them", rate, "rows/s", 500.0),
        at_least(f"vectors of {unfilled} rows, short and long", vectors, "rows/s", 10.0),
        at_most("recorded to found, p50", median_ms(lags), "ms", 1000.0),
        at_most("recorded to found, p99", p99_ms(lags), "ms", 2000.0),
        *(at_most(f"memory of the {name} at work", size, "MiB", 350.0) for name, size in sizes.items()),
    ]


def _text(chance: random.Random) -> str:
    return " ".join(f"{chance.choice(WORDS)}" for _ in range(chance.choice((8, 20, 40, 120))))


WORDS = Path(__file__).read_text().split()


async def _written(bus: Bus, count: int) -> None:
    appender, chance = Appender(bus), random.Random(1)
    for start in range(0, count, 400):
        address = Address("bench", f"s{start // SESSION}")
        events = [
            one for number in range(start, min(count, start + 400)) for one in message(f"m{number}", _text(chance))
        ]
        await appender.append(wrapped(events, address), {})


def wrapped(events: list[Event], address: Address) -> list[Envelope]:
    """Facts as they stand in the log."""
    ids = (derived_id("bench", str(time.perf_counter_ns()), str(number)) for number in range(len(events)))
    return [wrap(event, address, id=name, at=BEGAN, actor=HARNESS) for event, name in zip(events, ids, strict=True)]


async def _read(data: Path, head: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while (current := read_current(data)) is None or _through(data, current.set) < head:  # noqa: ASYNC110 - in another process
            await asyncio.sleep(0.01)


def _through(data: Path, name: str) -> int:
    return read_position(folder_of(data) / name).through


async def _table(data: Path) -> Table:
    current = read_current(data)
    assert current is not None
    folder = folder_of(data) / current.set
    return await (await Tables.open(folder)).table(read_position(folder).tables["message"])


async def _without_vectors(data: Path) -> int:
    return await (await _table(data)).count("vector is null")


async def _rate_of_vectors(data: Path) -> float:
    """Rows that get their vectors in a second, over twenty."""
    before, began = await _without_vectors(data), time.perf_counter()
    await asyncio.sleep(20)
    return (before - await _without_vectors(data)) / (time.perf_counter() - began)


async def _lag(bus: Bus, data: Path, number: int) -> float:
    """Seconds from the moment at which a message is in the log until a reader finds its row, while vectors are made.

    The table is read once, when the index says that it has the row: to read it again and again would keep the
    processors from the indexer.
    """
    name = f"live{number}"
    events = wrapped(message(name, f"the crane {number}"), Address("bench", "live"))
    *_, last = await Appender(bus).append(events, {})
    began = time.perf_counter()
    await _read(data, last)
    assert await (await _table(data)).count(f"ref = {quoted(name)}"), f"{name} is not in the index"
    seconds = time.perf_counter() - began
    await asyncio.sleep(PAUSE)
    return seconds


def _size(running: Installation, name: str) -> float:
    return float(psutil.Process(running.status[name].pid).memory_info().rss / MEBIBYTE)
