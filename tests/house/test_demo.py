"""The demonstration, on the beginning of a recorded session."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from services.edges.client import demo
from services.edges.client.replay import borrowed_installation
from services.kit.bus import Bus
from services.kit.endpoint import find
from services.settings import Embed, Model, Nats, Settings
from tests.conftest import InstallationFactory
from tests.helpers.installation import connect
from tests.helpers.recordings import SHIPPED

pytestmark = [pytest.mark.house, pytest.mark.broker]

MESSAGES = 24
"""Enough for edits to be in force."""


def shortened(recording: Path, folder: Path) -> Path:
    """A session as OpenCode exports it, without its end and its sub-agents."""
    exported = json.loads(gzip.decompress(recording.read_bytes()))
    path = folder / "shortened.json"
    path.write_text(json.dumps({**exported, "messages": exported["messages"][:MESSAGES], "children": []}))
    return path


async def test_it_plays_reports_and_draws_without_the_broker_and_the_models_of_the_settings(
    installation: InstallationFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted: list[Settings] = []

    @asynccontextmanager
    async def borrowed(settings: Settings) -> AsyncIterator[Bus]:
        """The one of this test, which is quicker than another one with all rooms."""
        wanted.append(settings)
        async with borrowed_installation(replace(settings, nats=nats)) as bus:
            yield bus

    monkeypatch.setattr(demo, "RECORDING", str(shortened(SHIPPED / "openai.json.gz", tmp_path)))
    monkeypatch.setattr(demo, "borrowed_installation", borrowed)
    async with installation(tmp_path / "data") as running:
        await (await connect(running)).close()
        settings = Settings(data=tmp_path / "data")
        found = find(settings)
        nats = replace(settings.nats, url=found.url, user=found.user, password=SecretStr(found.password))
        paid = Model(chain=("openai/gpt-5",)), Embed(provider="remote", url="http://127.0.0.1:1/v1", model="paid")
        given = replace(settings, nats=nats, model=paid[0], embed=paid[1])
        status = await asyncio.to_thread(demo.demo, tmp_path / "tokens.svg", given)

    printed = capsys.readouterr().out
    assert 0 == status
    assert [replace(settings, nats=Nats())] == wanted
    assert "usable" in printed[printed.index("ask.session") : printed.index("ask.explain")]
    assert "edits in force" in printed[printed.index("ask.explain") :]
    assert "tokens.svg" in printed.replace("\n", "")
    assert "</svg>" in (tmp_path / "tokens.svg").read_text()
