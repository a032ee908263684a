"""A hundred sessions at once, one of them very long."""

import asyncio
from pathlib import Path

import pytest

from schemas.subjects import Address
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.edges.client.player import PlayedSession, Player
from services.edges.client.transcript import Transcript
from services.kit.bus import Bus
from tests.conftest import InstallationFactory
from tests.helpers.examples import examples
from tests.helpers.installation import connect, facts, prefix_changes, recorded, recorded_twice, settle
from tests.helpers.large_sessions import long_session, short_sessions

pytestmark = [pytest.mark.house, pytest.mark.broker]

LONG = examples(17_000)
SHORT = 12
CALLS_OF_THE_LONG_ONE = 5
PATIENCE_MS = 300_000
"""All of the long session comes with its first call, and is read before that is answered, however slow the machine."""


async def played(bus: Bus, outbox: Outbox, transcript: Transcript, start: int) -> PlayedSession:
    address = Address("crowd", transcript.session)
    adapter = Adapter(bus, outbox, transcript.harness, address, deadline_ms=PATIENCE_MS)
    return await Player(adapter, address, transcript, tidy=True, limit=0).play(lambda _: None, start=start)


@pytest.mark.soak
async def test_a_hundred_sessions_at_once_one_of_them_very_long(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    sources = recorded("openai", "anthropic")
    long = long_session("long", sources, LONG)
    answers = [index for index, message in enumerate(long.messages) if message.role == "assistant"]
    async with installation(tmp_path) as running:
        bus = await connect(running)
        outbox = Outbox(bus)
        sessions = await asyncio.gather(
            played(bus, outbox, long, answers[-CALLS_OF_THE_LONG_ONE]),
            *(played(bus, outbox, short, 1) for short in short_sessions(sources, 99, SHORT)),
        )
        await outbox.flushed()
        await outbox.close()
        await settle(bus)
        log = await facts(bus)
        await bus.close()

    assert 100 == len({envelope.session for envelope, _ in log if envelope.session})
    assert [] == prefix_changes(sessions)
    assert ["ready"] * sum(len(session.steps) for session in sessions) == [
        step.status for session in sessions for step in session.steps
    ]
    assert [] == recorded_twice(log)
    assert CALLS_OF_THE_LONG_ONE == len(sessions[0].steps)
