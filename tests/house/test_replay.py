"""Recorded sessions through a whole house."""

from pathlib import Path

import pytest

from services.client.readers import read
from services.client.replay import Options
from services.client.transcript import Transcript
from tests.conftest import HouseFactory
from tests.house.support import (
    DATA,
    connect,
    facts,
    play_all,
    prefix_changes,
    rebuilt,
    recorded,
    settle,
    told_twice,
    views,
)

pytestmark = [pytest.mark.house, pytest.mark.broker]


async def test_recorded_sessions_keep_their_prefix_and_every_fact_is_told_once(
    house: HouseFactory, tmp_path: Path
) -> None:
    transcripts = recorded("openai", "anthropic")
    async with house(tmp_path) as running:
        bus = await connect(running)
        sessions = await play_all(bus, transcripts)
        await settle(bus)
        log = await facts(bus)
        shown = await views(bus)
        await bus.close()

    assert [] == prefix_changes(sessions)
    assert [] == told_twice(log)
    assert await rebuilt(log, tmp_path / "rebuilt.duckdb") == shown


async def test_what_was_played_is_in_the_log_message_by_message(house: HouseFactory, tmp_path: Path) -> None:
    transcripts = recorded("openai")
    async with house(tmp_path) as running:
        bus = await connect(running)
        await play_all(bus, transcripts, Options(paths=(), agent="none"))
        await settle(bus)
        log = await facts(bus)
        await bus.close()

    for transcript in transcripts:
        sent = transcript.messages[: _last_answer(transcript) + 1]
        told = {
            fields.message: fields.role  # type: ignore[attr-defined] # of this type only
            for envelope, fields in log
            if envelope.session == transcript.session and envelope.type == "message.recorded"
        }
        assert {message.message: message.role for message in sent} == told


def _last_answer(transcript: Transcript) -> int:
    return max(index for index, message in enumerate(transcript.messages) if message.role == "assistant")


@pytest.mark.skipif(not DATA.exists(), reason="the recorded sessions of other projects are not beside this checkout")
async def test_every_recorded_session_keeps_its_prefix(house: HouseFactory, tmp_path: Path) -> None:
    transcripts = [
        transcript
        for path in sorted((DATA / "transcripts" / "neutral").glob("*.jsonl.gz"))
        for transcript in read(path)
        if any(message.role == "assistant" for message in transcript.messages[1:])
    ]
    transcripts += [
        transcript
        for path in sorted((DATA / "opencode").glob("*/final_session.json.gz"))
        for transcript in read(path)
        if len(transcript.messages) > 1
    ]
    assert len(transcripts) > 20
    async with house(tmp_path) as running:
        bus = await connect(running)
        sessions = await play_all(bus, transcripts, Options(paths=(), at_once=8))
        await bus.close()

    assert [] == prefix_changes(sessions)
