"""Recorded sessions through a whole installation."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from schemas.codec import encode
from schemas.events import HistoryAdvanced, HistoryRequested, StepOpened
from schemas.status_asks import Status, StatusAsk
from schemas.subjects import Address
from services.edges.client.readers import read
from services.edges.client.replay import ReplayOptions, borrowed_installation, play
from services.edges.client.report import CallLine, lines
from services.edges.client.transcript import Transcript
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.settings import Embed, Nats, Settings
from tests.bench.side.recordings import shipped
from tests.conftest import InstallationFactory
from tests.helpers.installation import (
    Fact,
    beginning,
    connect,
    facts,
    log_and_views,
    play_all,
    prefix_changes,
    rebuilt,
    recorded,
    recorded_twice,
    until,
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


async def test_a_replay_that_waits_makes_no_call_before_its_history_and_three_equal_ones_are_equal(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    """Each has an installation of its own, as each `annals replay` has; its project is called the same."""
    transcript = beginning(shipped()[0], 32)
    options = ReplayOptions(paths=(), limit=16_000)

    async def run(data: Path) -> tuple[list[CallLine], list[Fact]]:
        async with installation(data) as running:
            bus = await connect(running)
            played = await play(bus, [transcript], options, lambda _: None, waits=True)
            log = await facts(bus)
            await bus.close()
        return [replace(line, transform_ms=0.0) for line in lines(played)], log

    (first, log), (second, _), (third, _) = await asyncio.gather(*(run(tmp_path / name) for name in "123"))
    assert any(line.causes for line in first)
    assert first == second == third
    begun: set[str] = set()
    at_steps = []
    for _, event in log:
        match event:
            case HistoryRequested(run=name, reason="ahead"):
                begun.add(name)
            case HistoryAdvanced(run=name, done=True):
                begun.discard(name)
            case StepOpened():
                at_steps.append(sorted(begun))
    assert any(isinstance(event, HistoryAdvanced) for _, event in log)
    assert [[]] * len(at_steps) == at_steps
    assert at_steps


async def test_whatever_ends_the_use_of_a_borrowed_installation_ends_its_connection(broker: Broker, bus: Bus) -> None:
    async def status(_subject: str, _question: bytes) -> bytes:
        return encode(Status(log_head=0, read_through=0, committed_through=0, hot_sessions=0, file=""))

    await bus.serve(f"ask.{StatusAsk.NAME}.*", "responder", status)
    endpoint = broker.endpoint
    admission = {"user": endpoint.user, "password": SecretStr(endpoint.password)}
    reached = replace(Nats(url=endpoint.url), **admission)  # the user of a test's account has a name of its own
    used: list[Bus] = []

    async def use() -> None:
        async with borrowed_installation(Settings(nats=reached)) as borrowed:
            assert borrowed.connected
            used.append(borrowed)
            raise LookupError("while it was used")

    with pytest.raises(LookupError, match="while it was used"):
        await use()
    assert [False] == [one.connected for one in used]


async def test_what_the_rooms_print_stays_out_of_the_progress_of_a_replay(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Warnings go to the file that was named, and one line at the end has their number."""
    log = tmp_path / "rooms.log"
    async with borrowed_installation(Settings(embed=Embed(provider="off")), log) as bus:
        for number in range(3):
            await bus.publish(Address("replay", "s1").inbound("opencode"), b"no message", f"unreadable {number}")

        async def has_warned() -> bool:
            return len(log.read_text().splitlines()) >= 3

        await until(has_warned, "the tagger has warned of each message")
        assert ("", "") == capfd.readouterr()
    assert not bus.connected
    warnings = log.read_text().splitlines()
    out, error = capfd.readouterr()
    assert f"annals: {len(warnings)} lines of warnings of the rooms are in {log}\n" == error
    assert not any(line in out for line in warnings)
