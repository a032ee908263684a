"""What one search reads does not grow with the rows that there are: calls and rows are counted, not seconds."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services.embedder.convert import DIMENSIONS
from services.kit.logs import logger
from services.kit.vectors import Table
from services.searcher.copies import ShelfCopies
from services.searcher.core.query import query_of
from services.searcher.core.ranking import CANDIDATES
from services.searcher.core.shelf import Scope
from services.searcher.finding import ShelfQuery, find
from services.searcher.store import SearchStore
from tests.bench.search.made import PROJECT, Texts, make

SEARCHES = 5


async def reads(data: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What some searches ask of the tables, and how many rows they read of the copies."""
    await asyncio.to_thread(data.mkdir)
    await make(data, rows)
    store = SearchStore(data, 1, logger())
    shelves = list((await store.shelves(PROJECT)).kinds.values())
    while store.is_busy:  # noqa: ASYNC110 - rows are copied by a task of its own
        await asyncio.sleep(0)
    counts: Counter[str] = Counter()

    def counted(kind: type, name: str) -> None:
        plain = getattr(kind, name)

        def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - passed on as it is
            counts[name] += len(given[1]) if name == "read" else 1
            return plain(*given, **named)

        monkeypatch.setattr(kind, name, call)

    for name in ("nearest", "arrow", "at", "count"):
        counted(Table, name)
    counted(ShelfCopies, "read")
    texts, numbers = Texts(5), np.random.default_rng(5)
    for _ in range(SEARCHES):
        text, vector = texts.text(8), numbers.normal(size=DIMENSIONS).astype(np.float32)
        query = query_of(text, (vector / np.linalg.norm(vector)).tobytes())
        await find(shelves, ShelfQuery(query=query, literals=(), scope=Scope(), project=PROJECT, narrowed=""), 10)
    monkeypatch.undo()
    store.close()
    return counts


async def test_a_search_reads_as_much_of_many_rows_as_of_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = await reads(tmp_path / "few", 1_000, monkeypatch)
    many = await reads(tmp_path / "many", 4_000, monkeypatch)
    for counts in (few, many):
        assert {"nearest": 2 * SEARCHES} == {name: count for name, count in counts.items() if name != "read"}
        assert 0 < counts["read"] <= 3 * CANDIDATES * SEARCHES


async def test_where_there_are_few_rows_no_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = await reads(tmp_path / "few", CANDIDATES, monkeypatch)
    assert ["read"] == list(counts)
