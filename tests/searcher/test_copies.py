"""Copies of rows: what was found stays the same with them, and what is taken away is not left in them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import numpy as np
import pytest
from nats.aio.msg import Msg

from schemas.asks import EmbedAsk
from schemas.codec import encode
from schemas.search_asks import Hits, SearchAsk
from schemas.subjects import ask
from services.edges.launcher.broker import Broker
from services.embedder.worker import Embedder
from services.kit.bus import Bus
from services.searcher.copies import FACTS, PARTS, TEXT, TOKENS, VECTORS, ShelfCopies
from services.searcher.worker import Searcher
from services.settings import Settings
from tests.helpers.broker_world import connected, opened
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row, row
from tests.helpers.waiting import PATIENCE

WORDS = ("crane", "quay", "tide", "pilot", "berth", "foghorn", "ferry")
ROWS = [
    *(
        message_row(
            f"The {WORDS[n % 7]} {n} is near the {WORDS[n % 5]}; see docs/{WORDS[n % 3]}.md",
            f"m{n}",
            ordinal=n + 1,
            seq=n,
        )
        for n in range(40)
    ),
    row("memory", "mem1", "The foghorn is tested at noon " * 20, role="decision", seq=50),
]
QUERIES = ("where is the ferry", "when is the foghorn tried out", "docs/quay.md", "pilot berth", "crane 7")


async def found(bus: Bus, query: str) -> Hits:
    reply = await bus.request(
        ask(SearchAsk.NAME, "harbour"), encode(SearchAsk("harbour", query, limit=30, as_of=99)), PATIENCE
    )
    return msgspec.json.decode(reply, type=Hits)


@asynccontextmanager
async def alone(broker: Broker, settings: Settings) -> AsyncIterator[tuple[Bus, Searcher]]:
    """A searcher with a connection of its own, so that no other answers in its place."""
    bus, searcher = await connected(broker), Searcher()
    async with opened(searcher, bus, settings):
        yield bus, searcher
    await bus.close()


async def copied(searcher: Searcher, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while not (await searcher.idle() and searcher.health()["copied"] == count):  # noqa: ASYNC110 - copying has no event
            await asyncio.sleep(0.01)


@pytest.mark.broker
async def test_copies_find_what_tables_find_in_the_same_order_and_with_the_same_scores(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    settings = Settings(data=tmp_path)
    async with opened(Embedder(), bus, settings):
        await MadeIndex(tmp_path, bus).write(ROWS)
        from_tables = []
        for query in QUERIES:
            async with alone(broker, settings) as (asking, _):
                from_tables.append(await found(asking, query))
        async with alone(broker, settings) as (asking, searcher):
            await found(asking, QUERIES[0])
            await copied(searcher, len(ROWS))
            assert from_tables == [await found(asking, query) for query in QUERIES]
    assert all(one.hits and not one.degraded for one in from_tables)


@pytest.mark.broker
async def test_what_is_taken_away_or_changed_is_copied_no_longer(bus: Bus, tmp_path: Path) -> None:
    settings, searcher = Settings(data=tmp_path), Searcher()
    async with opened(Embedder(), bus, settings), opened(searcher, bus, settings):
        index = MadeIndex(tmp_path, bus)
        await index.write(ROWS)
        await found(bus, "ferry")
        await copied(searcher, len(ROWS))
        await index.remove("message", "ref in ('m6', 'm13')")
        await index.write([message_row("The ferry 20 has sunk", "m20", ordinal=21, seq=70)])
        await bus.request(ask(SearchAsk.NAME, "harbour"), encode(SearchAsk("harbour", "ferry", min_seq=70)), PATIENCE)
        await copied(searcher, len(ROWS) - 2)
        hits = (await found(bus, "which ferry has sunk")).hits
    assert "The ferry 20 has sunk" == hits[0].fragment
    assert not {"m6", "m13"} & {hit.id for hit in hits}


def record(letter: bytes) -> tuple[bytes, ...]:
    return tuple(letter * (number * 3) for number in range(len(PARTS)))


def test_parts_are_read_as_they_were_written_and_what_is_forgotten_is_overwritten(tmp_path: Path) -> None:
    copies = ShelfCopies(tmp_path)
    copies.know(np.array([4, 1]), copies.write([record(b"a"), record(b"b")]))
    copies.know(np.array([7]), copies.write([record(b"c")]))
    assert [True, False, True, True, False] == copies.has(np.array([4, 0, 1, 7, 9])).tolist()
    for names in (VECTORS, TOKENS, (TEXT,), (TEXT, FACTS)):
        first = PARTS.index(names[0])
        expected = [record(letter)[first : first + len(names)] for letter in (b"c", b"a", b"b")]
        assert expected == copies.read([7, 4, 1], names)
    whole = copies.written()
    copies.forget(np.array([4, 5, 9]))
    assert (2, False) == (len(copies), bool(copies.has(np.array([4]))[0]))
    assert whole.replace(b"a", b"\0") == copies.written()


def test_a_file_that_would_fill_the_disk_is_not_written(tmp_path: Path) -> None:
    copies = ShelfCopies(tmp_path, room=1 << 62)
    with pytest.raises(OSError, match="make room there"):
        copies.write([record(b"a")])
    assert b"" == copies.written()


@pytest.mark.broker
async def test_a_searcher_with_something_to_search_has_the_model_loaded_before_it_is_asked(
    bus: Bus, tmp_path: Path
) -> None:
    settings, asked = Settings(data=tmp_path), asyncio.get_running_loop().create_future()

    async def overheard(message: Msg) -> None:
        if not asked.done():
            asked.set_result(msgspec.json.decode(message.data, type=EmbedAsk))

    async with opened(Embedder(), bus, settings):
        await MadeIndex(tmp_path, bus).write(ROWS[:1], through=1)
        await bus.client.subscribe(f"ask.{EmbedAsk.NAME}.*", cb=overheard)
        async with opened(Searcher(), bus, settings):
            question = await asyncio.wait_for(asked, PATIENCE)
    assert ("query", 1) == (question.purpose, len(question.texts))
