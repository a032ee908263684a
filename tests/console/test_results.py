"""Results with more pages than one: how long they are stored, and who may look at them."""

import asyncio
from io import BytesIO

import pytest

from services.console import results
from services.console.core.exchange import Outcome
from services.console.results import Results
from services.console.running import Result
from services.kit.within import cut_off
from tests.helpers.waiting import until

PAGE = b"[[1]]"


def stored() -> tuple[Results, Result]:
    """A result of two pages, of which the first was given out."""
    found = Results()
    result = Result(Outcome(columns=("n",), sizes=(len(PAGE), len(PAGE))), BytesIO(2 * PAGE))
    found.add(result)
    return found, result


def test_to_count_results_drops_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread of its own counts them for the health of the room, while others are given out."""
    found, result = stored()
    assert 1 == len(found)
    monkeypatch.setattr(results, "SECONDS", -1.0)
    assert 0 == len(found)
    assert not result.pages.closed


async def test_what_nobody_asks_for_is_dropped_though_nobody_asks_for_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, result = stored()
    monkeypatch.setattr(results, "SECONDS", -1.0)
    dropping = asyncio.create_task(found.forget_for_ever())
    await until(lambda: result.pages.closed)
    await cut_off(dropping)
