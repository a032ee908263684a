"""A hundred sessions at once, one of them very long."""

import asyncio
from pathlib import Path

import pytest

from schemas.subjects import Address
from services.client.adapter import Adapter
from services.client.outbox import Outbox
from services.client.player import Player, Session
from services.client.transcript import Transcript
from services.kit.bus import Bus
from tests.conftest import HouseFactory
from tests.house.large import long_session, short_sessions
from tests.house.support import connect, facts, prefix_changes, recorded, settle, told_twice

pytestmark = [pytest.mark.house, pytest.mark.broker]

LONG = 17_000
SHORT = 12
CALLS_OF_THE_LONG_ONE = 5


async def played(bus: Bus, outbox: Outbox, transcript: Transcript, start: int) -> Session:
    address = Address("crowd", transcript.session)
    adapter = Adapter(bus, outbox, transcript.harness, address, deadline_ms=0)
    return await Player(adapter, address, transcript, tidy=True, limit=0).play(lambda _: None, start=start)


async def test_a_hundred_sessions_at_once_one_with_17000_messages(house: HouseFactory, tmp_path: Path) -> None:
    sources = recorded("openai", "anthropic")
    long = long_session("long", sources, LONG)
    answers = [index for index, message in enumerate(long.messages) if message.role == "assistant"]
    async with house(tmp_path) as running:
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
    assert [] == told_twice(log)
    assert CALLS_OF_THE_LONG_ONE == len(sessions[0].steps)
