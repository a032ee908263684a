"""A historian with a model over HTTP, what that model says, and what came of it."""

import asyncio
import functools
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from schemas.events import HistoryAttempted, HistoryFailed
from services.desk.worker import Desk
from services.historian.worker import Historian
from services.kit.bus import Bus
from services.kit.model import Models
from services.settings import Model, ProviderSettings, Settings
from tests.harness.provider import Provider as Server
from tests.harness.provider import Reply, Request, Script
from tests.harness.provider.script import Answer
from tests.helpers.broker_world import opened
from tests.helpers.compressed_sessions import of, settings
from tests.helpers.model_questions import AT_ONCE, KEY

GARBAGE = Reply(text="I would rather talk about the weather.")


def summed_up(request: Request, *, until: int = 0, parts: int = 1) -> Reply:
    """A summary of what was sent, as a good model makes it; `until`: it leaves the rest for later."""
    found = re.search(r"Summarise the messages (\d+)-(\d+)", request.texts[-1])
    assert found is not None
    first, last = int(found[1]), min(int(found[2]), until or int(found[2]))
    size = (last - first + 1) // parts
    bounds = [(first + n * size, last if n == parts - 1 else first + (n + 1) * size - 1) for n in range(parts)]
    made = {
        "compartments": [_compartment(start, end) for start, end in bounds],
        "facts": [{"category": "NAMING", "text": "Files are called file_N.py", "evidence": [first]}],
        "events": [],
        "user_observations": ["Asks for one file at a time."],
        "open_questions": [],
        "unprocessed_from": last + 1 if last < int(found[2]) else None,
    }
    return Reply(text=json.dumps(made))


def _compartment(start: int, end: int) -> dict[str, object]:
    return {
        "start": start,
        "end": end,
        "title": f"Reading from {start} to {end}",
        "importance": 40,
        "episode": ["investigation"],
        "anchors": ["file_0.py"],
        "p1": f"I read file_0.py and those behind it, from {start} to {end}, and found nothing.",
        "p2": f"I read file_0.py and more, {start} to {end}.",
        "p3": f"Read file_0.py, {start} to {end}.",
        "p4": f"file_0.py {start}",
    }


def of_model(
    url: str,
    *,
    ahead: bool = False,
    **model: Any,  # noqa: ANN401 - settings of several types
) -> Settings:
    providers = {"own": ProviderSettings(url=f"{url}/v1", key=SecretStr(KEY))}
    chosen = Model(**{"chain": ("own/clerk",), "providers": providers} | model)
    return replace(settings(ahead=ahead), model=chosen)


@asynccontextmanager
async def historian(
    bus: Bus,
    *replies: Answer,
    default: Answer = summed_up,
    ahead: bool = False,
    **model: Any,  # noqa: ANN401 - settings of several types
) -> AsyncIterator[Server]:
    """A historian with a model that says this, and a desk that keeps the budget."""
    script = Script(default=default)
    script.add(*replies, *[default] * 50, lane="compaction")
    async with Server(script) as server:
        chosen = of_model(server.url, ahead=ahead, **model)
        async with opened(Desk(), bus, chosen), opened(Historian(), bus, chosen):
            yield server
    await asyncio.sleep(0)  # the connections that were closed say goodbye in a turn of their own


def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits before trying again."""
    monkeypatch.setattr("services.historian.worker.Models", functools.partial(Models, pauses=AT_ONCE))


async def outcomes(bus: Bus) -> list[tuple[str, str]]:
    made = [event for event in await of(bus, HistoryAttempted) if isinstance(event, HistoryAttempted)]
    return [(event.step, event.outcome) for event in made]


async def failures(bus: Bus) -> list[tuple[str, int]]:
    made = [event for event in await of(bus, HistoryFailed) if isinstance(event, HistoryFailed)]
    return [(event.code, event.failures) for event in made]
