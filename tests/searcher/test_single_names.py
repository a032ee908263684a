"""A query that is nothing but a name: rows with it come first, and of one that nobody has written nothing is known."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from services.embedder.worker import Embedder
from services.kit.bus import Bus
from services.searcher.worker import Searcher
from services.settings import Settings
from tests.helpers.broker_world import opened
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row
from tests.searcher.test_known import UNKNOWN_ANSWER, Asking

pytestmark = pytest.mark.broker

WRITTEN = (
    "error[E0308]: mismatched types in crates/dock/src/lib.rs:42 when I build the dock with its berth",
    "The E0308 came from the dock; dock::Berth::assign returns a Result now, and no Option of a Crane.",
    "I moved the exporter of invoices to apps/billing/export.ts and added the flag --with-header.",
    "Set config.retry.max_attempts to 5 and leave config.retry.backoff_ms at 250.",
    "The pilot roster is sorted by tide, see ROSTER-214 and roster.sort_by_tide().",
    "Use std::sync::Arc for the tide table, since std::rc is for one thread.",
    "The dock team asks for a label of the dock; who is in the team knows that.",
    "The namespace needs the label team=dock before it is rolled out.",
    "The queue worker picks it up when it is started again.",
    "Lighthouse reports that the landing page has become slower.",
)
FOUND = {
    "dock::Berth::assign": "dock::Berth::assign",
    "team=dock": "team=dock",
    "E0308": "E0308",
    "ROSTER-214": "ROSTER-214",
    "roster.sort_by_tide": "roster.sort_by_tide",
    "sort_by_tides": "sort_by_tide",
    "config.retry.backoff_ms": "backoff_ms",
    "--with-header": "--with-header",
    "/home/ada/harbour/apps/billing/export.ts": "export.ts",
    "src/export.ts": "export.ts",
    "Exporter::invoices": "exporter of invoices",
    "MaxAttempts": "max_attempts",
}
"""A name, and what the first hit has of it: the same, or its end, or all of its words."""
UNKNOWN = (
    "Crane::release",
    "ROSTER-215",
    "std::rc::Weak",
    "config.cache.ttl",
    "apps/login/form.ts",
    "team=pilots",
    "dock.harbourmaster",
    "retry_policy_name",
    "getTideById",
    "E0499",
    "#4711",
    "lighthouse-budget.json",
)


@pytest_asyncio.fixture(params=(True, False), ids=("with a model", "by words"))
async def asking(bus: Bus, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Asking]:
    settings = Settings(data=tmp_path)
    rows = [message_row(text, f"m{number}", ordinal=number, seq=number) for number, text in enumerate(WRITTEN, 1)]
    async with AsyncExitStack() as stack:
        for room in (Embedder(), Searcher()) if request.param else (Searcher(),):
            await stack.enter_async_context(opened(room, bus, settings))
        await MadeIndex(tmp_path, bus if request.param else None).write(rows)
        yield Asking(bus)


async def test_a_row_with_the_name_comes_first(asking: Asking) -> None:
    first = {query: next((hit.fragment for hit in (await asking(query)).hits), "") for query in FOUND}
    assert [] == [(query, first[query]) for query, part in FOUND.items() if part not in first[query]]


async def test_of_a_name_that_nobody_has_written_nothing_is_known(asking: Asking) -> None:
    answers = {query: await asking(query) for query in UNKNOWN}
    found = {query: [hit.fragment for hit in answer.hits] for query, answer in answers.items() if answer.hits}
    assert {} == found
    assert all(answer.text.startswith(UNKNOWN_ANSWER) for answer in answers.values())
