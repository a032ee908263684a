"""A dreamer whose model is scripted and asked over HTTP, with a desk that keeps the budget."""

import functools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from services.desk.worker import Desk
from services.dreamer.worker import Dreamer
from services.kit.bus import Bus
from services.kit.model import Models
from services.settings import Dream, Model, ProviderSettings, Settings
from tests.harness.provider import Provider as Server
from tests.harness.provider import Reply, Request, Script
from tests.harness.provider.script import Answer
from tests.helpers.broker_world import opened, quick_settings
from tests.helpers.lying_models import Item, items_of
from tests.helpers.model_questions import AT_ONCE, KEY

MOST_REQUESTS = 20
"""Requests of a test, at most."""


def of_model(url: str, *, questions: int = 2, **model: Any) -> Settings:  # noqa: ANN401 - settings of several types
    providers = {"own": ProviderSettings(url=f"{url}/v1", key=SecretStr(KEY))}
    chosen = Model(**{"chain": ("own/clerk",), "providers": providers} | model)
    return replace(quick_settings(), dream=Dream(questions=questions), model=chosen)


def saying(key: str, say: Callable[[str, Item], list[Item]]) -> Answer:
    """A model that says this of each item of a question."""

    def answer(request: Request) -> Reply:
        answered = [one for handle, item in items_of(request.texts[-1]).items() for one in say(handle, item)]
        return Reply(text=json.dumps({key: answered}))

    return answer


@asynccontextmanager
async def model_server(*replies: Answer, default: Answer) -> AsyncIterator[Server]:
    """A model that gives these replies, and then the default one; what asks without tools counts as a compaction."""
    script = Script(default=default)
    script.add(*replies, *[default] * MOST_REQUESTS, lane="compaction")
    async with Server(script) as server:
        yield server


@asynccontextmanager
async def dreamer(bus: Bus, server: Server, **chosen: Any) -> AsyncIterator[Dreamer]:  # noqa: ANN401
    """A dreamer that asks this server, and a desk."""
    settings = of_model(server.url, **chosen)
    async with opened(Desk(), bus, settings), opened(room := Dreamer(), bus, settings):
        yield room


def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits before trying again."""
    monkeypatch.setattr("services.dreamer.worker.Models", functools.partial(Models, pauses=AT_ONCE))
