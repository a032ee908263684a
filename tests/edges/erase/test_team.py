"""What is erased from a team's store, under the broker that deploy/README.md has an operator start for it."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.events import SessionRenamed
from schemas.streams import LOG
from services.domain.erasure.secret import MASK
from services.edges.erase.command import ROOM
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, rewriting
from tests.helpers.broker_world import connected, stored, wrapped
from tests.helpers.erasing import erase
from tests.helpers.team_broker import ErasureBroker, ListeningBroker, TeamBroker, passwords

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SECRET = "kestrel7"  # noqa: S105 - of this test
NEARLY_A_MESSAGE = 1_000_000
"""Bytes of a fact that the broker of a team takes, with its headers."""


SMALL = 64 * 1024
"""Bytes that another broker takes."""
LONG = SECRET * (NEARLY_A_MESSAGE // len(SECRET))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of the broker's store, as the volume of its container."""
    home = tmp_path / "broker"
    home.mkdir()
    return home


@pytest.fixture
def team(home: Path) -> Iterator[TeamBroker]:
    broker = TeamBroker(home, **passwords())
    yield broker
    broker.stop()


async def test_the_broker_of_an_erasure_stores_as_much_as_the_team_s_as_safely_and_takes_longer_facts(
    team: TeamBroker, home: Path
) -> None:
    of_team = await team.configured()
    team.stop()
    other = ErasureBroker(home)
    try:
        own = await other.configured()
    finally:
        other.stop()

    assert own["max_payload"] >= ROOM * of_team["max_payload"]
    assert of_team["jetstream"]["config"]["sync_always"]
    for name in ("max_storage", "store_dir", "sync_always"):
        assert of_team["jetstream"]["config"][name] == own["jetstream"]["config"].get(name), name


async def record(broker: ListeningBroker, *titles: str) -> None:
    """Facts of these titles, by a room."""
    room = await broker.connect("room")
    await room.ensure()
    await Appender(room).append(wrapped([SessionRenamed(title=title) for title in titles]), {})
    await room.close()


async def titles_of(broker: ListeningBroker) -> list[str]:
    """The titles in the log's facts."""
    room = await broker.connect("room")
    found = [json.loads(one.data)["data"].get("title", "") for one in await stored(room, LOG.name)]
    await room.close()
    return found


async def erased(broker: ListeningBroker, data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """What `annals erase secret` does on this broker, as a container of a room runs it."""
    address = {"ANNALS_NATS__URL": await broker.url(), "ANNALS_NATS__USER": "room"}
    return await asyncio.to_thread(erase, data, "secret", *arguments, word=SECRET, **address)


async def test_a_fact_that_is_full_of_a_secret_and_as_long_as_the_broker_takes_is_masked(
    team: TeamBroker, home: Path, tmp_path: Path
) -> None:
    await record(team, "before", LONG)
    team.stop()

    other = ErasureBroker(home)
    try:
        done = await erased(other, tmp_path / "data", "--yes")
    finally:
        other.stop()
    assert 0 == done.returncode, done.stdout + done.stderr

    again = TeamBroker(home, **passwords())
    try:
        assert ["before", LONG.replace(SECRET, MASK)] == (await titles_of(again))[:2]
    finally:
        again.stop()


async def test_a_fact_that_the_broker_would_not_take_with_its_masks_is_refused_before_anything_is_changed(
    home: Path, tmp_path: Path
) -> None:
    small = Broker(home, port=0, max_payload=SMALL, is_alone=True)
    await small.start()
    try:
        bus = await connected(small)
        await bus.ensure()
        await Appender(bus).append(wrapped([SessionRenamed(title=LONG[: SMALL * 2 // 3])]), {})
        before = await stored(bus, LOG.name)
        endpoint = small.endpoint
        address = {"ANNALS_NATS__URL": endpoint.url, "ANNALS_NATS__PASSWORD": endpoint.password}
        for arguments, status in (((), 0), (("--yes",), 1)):
            data = tmp_path / "data"
            refused = await asyncio.to_thread(erase, data, "secret", *arguments, word=SECRET, **address)
            assert (status, True) == (refused.returncode, "a larger `max_payload`" in refused.stderr), refused
        assert before == await stored(bus, LOG.name)
        assert not await rewriting.is_half_done(bus)
        await bus.close()
    finally:
        small.stop()
