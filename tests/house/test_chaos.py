"""The installation under blows: rooms killed, the broker restarted, everything delivered again."""

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import psutil
import pytest

from schemas.streams import IN
from services.edges.client.player import Played, PlayedSession
from services.edges.client.replay import ReplayOptions, play
from services.edges.client.transcript import Transcript
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Bus
from services.kit.rooms import load
from tests.conftest import InstallationFactory
from tests.helpers.installation import (
    Fact,
    answers,
    connect,
    facts,
    log_and_views,
    play_all,
    prefix_changes,
    rebuilt,
    recorded,
    recorded_twice,
    settle,
    until,
)

pytestmark = [pytest.mark.house, pytest.mark.broker]

MESSAGES = 64
"""Of the recorded session, which is twice as long, where a room falls at a certain step: it works again behind that."""
DEADLINE_MS = 250
STOPPED_AT, GOES_ON_AT = 20, 25
PATIENT_MS = 2000
"""So long may a plan take that is in time, and so long is a room waited for that stands still."""
Blow = Callable[[Installation, random.Random], Awaitable[None]]


async def kill_a_room(installation: Installation, chance: random.Random) -> None:
    """Kill one of the rooms that a step passes, or wait for it to be there again and kill it then."""
    room = chance.choice(sorted(installation.status.keys()))

    async def is_running() -> bool:
        return psutil.pid_exists(installation.status[room].pid)

    await until(is_running, f"{room} runs")
    os.kill(installation.status[room].pid, signal.SIGKILL)


async def kill_the_broker(installation: Installation, _: random.Random) -> None:
    assert installation.broker is not None
    assert installation.broker.process is not None
    os.kill(installation.broker.process.pid, signal.SIGKILL)


async def played_under(
    blow: Blow,
    blows: int,
    installation: Installation,
    bus: Bus,
    transcripts: Sequence[Transcript],
    seed: int,
    *,
    waits: bool = False,
) -> list[PlayedSession]:
    """Play while blows fall at random steps; every blow is seen to have fallen."""
    chance = random.Random(seed)
    total = sum(message.role == "assistant" for one in transcripts for message in one.messages[1:])
    fall_at = set(chance.sample(range(total // 10, total * 9 // 10), blows))
    done = 0
    falling: set[asyncio.Task[None]] = set()

    def watch(_: object) -> None:
        nonlocal done
        done += 1
        if done in fall_at:
            falling.add(asyncio.ensure_future(blow(installation, chance)))

    options = ReplayOptions(paths=(), deadline_ms=DEADLINE_MS)
    sessions = await play(bus, transcripts, options, watch, waits=waits)
    await asyncio.gather(*falling)
    assert blows == len(falling)
    return sessions


@pytest.mark.parametrize(
    ("blow", "blows", "seed"),
    [
        pytest.param(kill_a_room, 6, 1, id="rooms killed"),
        pytest.param(kill_a_room, 6, 2, id="rooms killed elsewhere", marks=pytest.mark.soak),
        pytest.param(kill_the_broker, 2, 3, id="broker killed"),
    ],
)
async def test_after_every_blow_each_fact_is_recorded_once_and_no_prefix_changed(
    installation: InstallationFactory, tmp_path: Path, blow: Blow, blows: int, seed: int
) -> None:
    transcripts = recorded("openai")
    async with installation(tmp_path) as running:
        bus = await connect(running)
        sessions = await played_under(blow, blows, running, bus, transcripts, seed)
        await until(lambda: answers(bus), "the responder answers again")
        log, shown = await log_and_views(bus)
        await bus.close()

    assert [] == prefix_changes(sessions)
    assert [] == recorded_twice(log)
    assert steps_played(sessions) == steps_recorded(log)
    assert await rebuilt(log, tmp_path / "rebuilt.duckdb") == shown


@pytest.mark.soak
@pytest.mark.parametrize("blow", [kill_a_room, kill_the_broker], ids=["rooms", "broker"])
async def test_a_replay_that_waits_for_history_goes_on_after_every_blow(
    installation: InstallationFactory, tmp_path: Path, blow: Blow
) -> None:
    async with installation(tmp_path) as running:
        bus = await connect(running)
        sessions = await played_under(blow, 2, running, bus, recorded("openai"), 5, waits=True)
        await bus.close()

    assert [] == prefix_changes(sessions)


def steps_played(sessions: Sequence[PlayedSession]) -> set[tuple[str, str]]:
    return {(session.address.session, step.step) for session in sessions for step in session.steps}


def steps_recorded(log: Sequence[tuple[object, object]]) -> set[tuple[str, str]]:
    return {
        (envelope.session, event.step)  # type: ignore[attr-defined] # of this type only
        for envelope, event in log
        if envelope.type == "step.opened"  # type: ignore[attr-defined]
    }


@pytest.mark.soak
async def test_input_delivered_again_from_the_beginning_changes_nothing(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    async with installation(tmp_path) as running:
        bus = await connect(running)
        await play_all(bus, recorded("anthropic"))
        await settle(bus)
        before = await facts(bus)
        await bus.rewind(IN.name, "tagger", 1)
        await settle(bus)
        after, _ = await log_and_views(bus)
        await bus.close()

    assert facts_of_input(before) == facts_of_input(after)
    assert [] == recorded_twice(after)


def facts_of_input(log: Sequence[Fact]) -> list[str]:
    """The facts of the tagger, who alone reads input. Other rooms may work on what is in the log for a while yet."""
    return [envelope.id for envelope, event in log if type(event) in load("tagger").WRITES]


async def test_a_responder_that_is_too_slow_costs_nothing_but_its_edits(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    """The client goes on with the plan it holds; when the responder is back, the prefix is still the same."""
    transcripts = recorded("openai", most=MESSAGES)
    async with installation(tmp_path) as running:
        bus = await connect(running)
        pid = running.status["responder"].pid
        statuses: list[str] = []

        def watch(played: Played) -> None:
            statuses.append(played.status)
            if len(statuses) == STOPPED_AT:
                os.kill(pid, signal.SIGSTOP)
            if len(statuses) == GOES_ON_AT:
                os.kill(pid, signal.SIGCONT)

        sessions = await play_all(bus, transcripts, ReplayOptions(paths=(), deadline_ms=PATIENT_MS), watch)
        await settle(bus)
        log = await facts(bus)
        await bus.close()

    assert "late" in statuses[STOPPED_AT:GOES_ON_AT]
    assert "ready" in statuses[GOES_ON_AT:]
    assert [] == prefix_changes(sessions)
    assert [] == recorded_twice(log)


async def test_steps_that_were_lost_on_their_way_change_no_prefix(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    """They went out as they were; when the whole list is reported again, what was sent stays as it was sent."""
    async with installation(tmp_path) as running:
        bus = await connect(running)
        pid = running.status["tagger"].pid
        seen = 0
        losing: set[asyncio.Task[None]] = set()

        async def lose() -> None:
            os.kill(pid, signal.SIGKILL)
            await bus.rewind(IN.name, "tagger", (await bus.js.stream_info(IN.name)).state.last_seq + 1)

        def watch(_: object) -> None:
            nonlocal seen
            seen += 1
            if seen == 20:
                os.kill(pid, signal.SIGSTOP)
            if seen == 30:
                losing.add(asyncio.ensure_future(lose()))

        sessions = await play_all(
            bus, recorded("openai", most=MESSAGES), ReplayOptions(paths=(), deadline_ms=DEADLINE_MS), watch
        )
        await asyncio.gather(*losing)
        await settle(bus)
        log = await facts(bus)
        await bus.close()

    assert steps_played(sessions) - steps_recorded(log)
    assert any("+" in step.step for session in sessions for step in session.steps)
    assert [] == prefix_changes(sessions)
