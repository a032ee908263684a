"""The status of an installation for an operator: its rooms, and the runs that compress history."""

import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from pydantic import SecretStr

from schemas.codec import encode
from schemas.events import Event, HistoryAdvanced, HistoryFailed, HistoryRequested
from schemas.status_asks import Status, StatusAsk
from schemas.subjects import ask
from schemas.view_asks import DreamReport, DreamsAsk, HistoryRuns, HistoryRunsAsk
from services.edges.launcher.broker import Broker
from services.edges.launcher.status import Overview, is_well, look, show
from services.kit.bus import Bus
from services.responder.worker import Responder
from services.settings import Nats, Settings
from tests.helpers.broker_world import opened, quick_settings
from tests.helpers.compressed_sessions import append
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

REQUESTED = HistoryRequested(run="r", reason="force", first=1, last=40, tokens=9000)
ADVANCED = HistoryAdvanced(run="r", generation=0, first=1, last=10, done=False, tokens_in=2000, left=7000)
FAILED = HistoryFailed(run="r", code="timeout", failures=1, retry_at=datetime(2026, 3, 7, 13, tzinfo=UTC))
DONE = HistoryAdvanced(run="r", generation=0, first=11, last=40)


@pytest.fixture
async def settings(
    broker: Broker, bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Settings]:
    """The settings of an operator, and a responder that answers, however busy the machine is."""
    monkeypatch.setattr("services.edges.launcher.status.ANSWER", PATIENCE)
    interval = sys.getswitchinterval()
    endpoint = broker.endpoint
    nats = Nats(url=endpoint.url, user=endpoint.user, password=SecretStr(endpoint.password))
    async with opened(responder := Responder(), bus, quick_settings(tmp_path)):
        await until(responder.idle)
        yield Settings(data=tmp_path, nats=nats)
    sys.setswitchinterval(interval)


async def overview(bus: Bus, settings: Settings, *events: Event) -> Overview:
    await append(bus, *events)
    return await look(settings)


async def test_a_run_in_hand_is_printed_with_how_far_it_is(
    bus: Bus, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await overview(bus, settings, REQUESTED, ADVANCED)
    (run,) = found.history
    assert ("harbour", "s1", "open", 10, 7000) == (run.project, run.session, run.status, run.through, run.tokens_left)
    assert is_well(found)
    assert 0 == await show(settings, as_json=False)
    printed = " ".join(capsys.readouterr().out.split())
    assert "harbour/s1, messages 1-40 (force): 10 of 40 done, about 7,000 tokens left" in printed


async def test_a_run_that_failed_is_printed_with_its_next_try(
    bus: Bus, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    await append(bus, REQUESTED, FAILED)
    await show(settings, as_json=False)
    printed = " ".join(capsys.readouterr().out.split())
    assert "harbour/s1, messages 1-40 (force): failed with timeout; next try 2026-03-07 13:00:00 UTC" in printed


async def test_a_run_that_is_done_is_printed_no_more(
    bus: Bus, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert () == (await overview(bus, settings, REQUESTED, ADVANCED, DONE)).history
    await show(settings, as_json=True)
    assert () == msgspec.json.decode(capsys.readouterr().out, type=Overview).history


async def test_what_the_responder_cannot_read_is_named(
    broker: Broker, bus: Bus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = {
        ask(StatusAsk.NAME): Status(log_head=1, read_through=1, committed_through=1, hot_sessions=0, file="views"),
        ask(HistoryRunsAsk.NAME): HistoryRuns(error="the views are being built"),
        ask(DreamsAsk.NAME): DreamReport(error="the views cannot be read"),
    }

    async def answer(subject: str, _: bytes) -> bytes:
        return encode(replies[subject])

    for subject in replies:
        await bus.serve(subject, "responder", answer)
    endpoint = broker.endpoint
    nats = Nats(url=endpoint.url, user=endpoint.user, password=SecretStr(endpoint.password))
    await show(Settings(data=tmp_path, nats=nats), as_json=False)
    printed = " ".join(capsys.readouterr().out.split())
    assert "unread runs that compress history: the views are being built; run this again" in printed
    assert "unread runs of the dreamer: the views cannot be read; run this again" in printed
