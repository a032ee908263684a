"""The adapter's connection to the broker: when it is made, and why it ends."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.edges.launcher.broker import Broker
from tests.adapter.conftest import ROOT
from tests.helpers.waiting import PATIENCE

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

Note = tuple[str, dict[str, str]]


@asynccontextmanager
async def connecting(broker: Broker, folder: Path) -> AsyncIterator[Callable[[], Awaitable[Note]]]:
    """An adapter that connects; the function returns its next note."""
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    endpoint = broker.endpoint_of("harness")
    options = {"url": endpoint.url, "user": endpoint.user, "password_env": "PASSWORD", "state": str(folder)}
    core, driver = ROOT / "deploy" / "adapter-core", ROOT / "tests" / "adapter" / "broker.mjs"
    process = await asyncio.create_subprocess_exec(
        *(node, str(driver), str(core), json.dumps(options), str(folder)),
        env={"PASSWORD": endpoint.password},
        stdout=asyncio.subprocess.PIPE,
    )
    output = process.stdout
    assert output is not None

    async def noted() -> Note:
        async with asyncio.timeout(PATIENCE):
            what, details = json.loads(await output.readline())
        return what, details

    try:
        yield noted
    finally:
        process.kill()
        await process.wait()


async def test_why_a_connection_has_ended_is_noted(broker: Broker, tmp_path: Path) -> None:
    async with connecting(broker, tmp_path) as noted:
        assert "connected" == (await noted())[0]
        broker.stop()
        what, details = await noted()
        assert ("the connection ended", True) == (what, bool(details["reason"]))
