"""The demonstration, on a recorded session."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from services.edges.client import demo
from services.settings import Settings
from tests.helpers.recordings import SHIPPED

pytestmark = [pytest.mark.house, pytest.mark.broker]


async def test_it_plays_explains_and_draws_in_an_installation_of_its_own(
    nowhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "RECORDING", str(SHIPPED / "openai.json.gz"))
    settings = Settings(data=tmp_path / "data")
    of_a_team = replace(settings, nats=replace(settings.nats, url=nowhere))
    status = await asyncio.to_thread(demo.demo, tmp_path / "tokens.svg", of_a_team)

    told = capsys.readouterr().out
    assert 0 == status
    assert "usable" in told[told.index("ask.session") : told.index("ask.explain")]
    assert "edits in force" in told[told.index("ask.explain") :]
    assert "tokens.svg" in told.replace("\n", "")
    assert "</svg>" in (tmp_path / "tokens.svg").read_text()
