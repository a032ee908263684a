"""Recorded sessions through a whole installation."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.events import HistoryAdvanced, HistoryRequested, StepOpened
from services.edges.client.readers import read
from services.edges.client.replay import ReplayOptions, play
from services.edges.client.report import lines
from services.edges.client.transcript import Transcript
from tests.bench.side.recordings import shipped
from tests.conftest import InstallationFactory
from tests.helpers.installation import (
    beginning,
    connect,
    facts,
    log_and_views,
    play_all,
    prefix_changes,
    rebuilt,
    recorded,
    recorded_twice,
)
from tests.helpers.recordings import LONG

pytestmark = [pytest.mark.house, pytest.mark.broker]


async def test_recorded_sessions_keep_their_prefix_and_are_in_the_log_whole_each_fact_once(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    transcripts = recorded("openai", "anthropic")
    async with installation(tmp_path) as running:
        bus = await connect(running)
        sessions = await play_all(bus, transcripts)
        log, shown = await log_and_views(bus)
        await bus.close()

    assert [] == prefix_changes(sessions)
    assert [] == recorded_twice(log)
    assert await rebuilt(log, tmp_path / "rebuilt.duckdb") == shown
    for transcript in transcripts:
        sent = transcript.messages[: _last_answer(transcript) + 1]
        roles = {
            fields.message: fields.role  # type: ignore[attr-defined] # of this type only
            for envelope, fields in log
            if envelope.session == transcript.session and envelope.type == "message.recorded"
        }
        assert {message.message: message.role for message in sent} == roles


def _last_answer(transcript: Transcript) -> int:
    return max(index for index, message in enumerate(transcript.messages) if message.role == "assistant")


@pytest.mark.timeout(1_200)
async def test_every_foreign_session_keeps_its_prefix(
    installation: InstallationFactory, tmp_path: Path, foreign: Path
) -> None:
    transcripts = _answered(foreign)
    assert len(transcripts) > 16
    async with installation(tmp_path) as running:
        bus = await connect(running)
        sessions = await play_all(bus, transcripts, ReplayOptions(paths=(), at_once=8))
        await bus.close()

    assert [] == prefix_changes(sessions)


def _answered(folder: Path) -> list[Transcript]:
    paths = [*sorted(folder.glob("transcripts/neutral/*.jsonl.gz")), folder / LONG]
    return [
        transcript
        for path in paths
        for transcript in read(path)
        if any(one.role == "assistant" for one in transcript.messages[1:])
    ]


async def test_a_replay_that_waits_makes_no_call_before_its_history_and_is_the_same_each_time(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    longest = shipped()[0]
    transcript = beginning(longest, 32)
    options = ReplayOptions(paths=(), limit=16_000)
    async with installation(tmp_path) as running:
        bus = await connect(running)
        runs = await asyncio.gather(
            *(play(bus, [transcript], options, lambda _: None, run=run, waits=True) for run in ("@1", "@2"))
        )
        log = await facts(bus)
        await bus.close()

    first, second = ([replace(line, session="", transform_ms=0.0) for line in lines(run)] for run in runs)
    assert any(line.causes for line in first)
    assert first == second
    begun: set[str] = set()
    at_steps = []
    for envelope, event in log:
        if not envelope.session.endswith("@1"):
            continue
        match event:
            case HistoryRequested(run=run, reason="ahead"):
                begun.add(run)
            case HistoryAdvanced(run=run, done=True):
                begun.discard(run)
            case StepOpened():
                at_steps.append(sorted(begun))
    assert any(isinstance(event, HistoryAdvanced) for _, event in log)
    assert [[]] * len(at_steps) == at_steps
