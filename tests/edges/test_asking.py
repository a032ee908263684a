"""What commands report of an answer that they do not understand: another version is at work behind it."""

import io
from pathlib import Path

import msgspec
import pytest
from pydantic import SecretStr
from rich.console import Console

from schemas.room_health import HealthAsk
from schemas.spending_asks import SpendingAsk, SpentBudgets
from schemas.status_asks import Status, StatusAsk
from schemas.view_asks import DreamsAsk, HistoryRunsAsk, LastAdapterAsk, SqlAsk
from services.edges.asking import answer
from services.edges.connect.probe import last_adapter
from services.edges.launcher.broker import Broker
from services.edges.launcher.status import is_well, look, render
from services.edges.room_health import healths
from services.edges.spending import spent_budgets
from services.kit.bus import Bus
from services.kit.replies import NotUnderstood
from services.settings import Nats, Settings
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

REPLIES = {
    "text": b"of another time",
    "list": b"[]",
    "number for text": b'{"error":1,"room":2,"log_head":"x"}',
    "": b"",
}


@pytest.fixture(params=REPLIES.values(), ids=REPLIES)
async def other_version(request: pytest.FixtureRequest, bus: Bus) -> None:
    """Rooms that answer otherwise than this version."""

    async def other(_subject: str, _question: bytes) -> bytes:
        return bytes(request.param)

    for question in (StatusAsk, HistoryRunsAsk, DreamsAsk, SpendingAsk, HealthAsk, LastAdapterAsk, SqlAsk):
        await bus.serve(f"ask.{question.NAME}.*", "other", other)


@pytest.fixture
def settings(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr("services.edges.launcher.status.ANSWER", PATIENCE)
    monkeypatch.setattr("services.edges.connect.probe.PATIENCE", PATIENCE)
    endpoint = broker.endpoint
    nats = Nats(url=endpoint.url, user=endpoint.user, password=SecretStr(endpoint.password))
    return Settings(data=tmp_path, nats=nats)


@pytest.mark.usefixtures("other_version")
async def test_it_is_reported_with_what_to_look_at(bus: Bus) -> None:
    with pytest.raises(NotUnderstood, match=r"the answer to ask\.status is not understood .*of the same version"):
        await answer(bus, StatusAsk(), Status, PATIENCE)
    assert "is not understood" in (await spent_budgets(bus, "p", PATIENCE)).error
    (health,) = (await healths(bus, ["tagger"], PATIENCE)).values()
    assert not health.ok
    assert "is not understood" in health.failures[0]


@pytest.mark.usefixtures("other_version")
async def test_the_overview_is_printed_all_the_same(settings: Settings) -> None:
    overview = await look(settings)
    assert not is_well(overview)
    render(overview, Console(file=(out := io.StringIO()), width=300))
    assert "unread    the answer to ask.status is not understood" in out.getvalue()
    assert "does not answer" not in out.getvalue()
    msgspec.json.encode(overview)


@pytest.mark.usefixtures("other_version")
async def test_an_adapter_that_cannot_be_read_is_none(settings: Settings) -> None:
    assert await last_adapter(settings, "opencode") is None


async def test_what_is_understood_is_the_answer(bus: Bus) -> None:
    async def spent(_subject: str, _question: bytes) -> bytes:
        return b'{"error":"none","of a later version":1}'

    await bus.serve(f"ask.{SpendingAsk.NAME}.*", "desk", spent)
    assert SpentBudgets(error="none") == await spent_budgets(bus, "p", PATIENCE)
