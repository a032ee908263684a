"""What a room reports of its own health, over HTTP and over the broker."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import ClassVar

import pytest
from msgspec.structs import replace

from schemas.envelope import Envelope
from schemas.events import Event
from schemas.room_health import RoomHealth
from schemas.streams import LOG
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.edges.room_health import healths
from services.kit.bus import Bus, Unreachable
from services.kit.health import HealthReport, Watchdog
from services.kit.room import Kit
from tests.helpers.broker_world import connected, kit_of, quick_settings, titles, wrapped
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]


class Ledger:
    """A room that makes something of the log."""

    NAME: ClassVar[str] = "ledger"
    READS: ClassVar[tuple[type[Event], ...]] = ()
    WRITES: ClassVar[tuple[type[Event], ...]] = ()

    def __init__(self, *failures: str) -> None:
        self._failures = failures

    async def open(self, kit: Kit) -> None:
        """Do nothing."""

    async def idle(self) -> bool:
        return True

    def health(self) -> dict[str, object]:
        return {"ok": not self._failures, "failures": [*self._failures], "committed_through": 7}


def facts_of(session: str) -> list[Envelope]:
    return wrapped(titles(1), address=Address("harbour", session))


@pytest.fixture
async def unlimited(tmp_path: Path) -> AsyncIterator[Broker]:
    """A broker at which this test may change the streams."""
    server = Broker(tmp_path, port=0, max_payload=1024 * 1024, is_alone=True)
    await server.start()
    yield server
    server.stop()


async def limit(bus: Bus, messages: int) -> None:
    """Let the log hold no more than so many facts; -1: as many as come."""
    config = (await bus.js.stream_info(LOG.name)).config
    config.max_msgs = messages
    await bus.js.update_stream(config)


async def test_a_failed_append_makes_a_room_unwell_until_one_succeeds(unlimited: Broker, tmp_path: Path) -> None:
    bus = await connected(unlimited)
    await bus.ensure()
    async with kit_of("ledger", bus, quick_settings(tmp_path)) as kit:
        report = HealthReport(kit, Ledger(), Watchdog(0), lambda: kit.appender.failure)
        await kit.appender.append(facts_of("s1"), {})
        assert (True, []) == (report.page()["ok"], report.page()["failures"])
        await limit(bus, 1)
        with pytest.raises(Unreachable, match="refused"):
            await kit.appender.append(facts_of("s2"), {})
        (failure,) = report.reply.failures
        assert (False, False) == (report.page()["ok"], report.reply.ok)
        assert "facts cannot be appended to the log: the broker refused an append: maximum messages exceeded" in failure
        await limit(bus, -1)
        await kit.appender.append(facts_of("s3"), {})
        assert (True, ()) == (report.reply.ok, report.reply.failures)
    await bus.close()


async def test_a_failed_append_is_forgotten_when_the_broker_comes_back(broker: Broker, bus: Bus) -> None:
    async with kit_of("ledger", bus, quick_settings()) as kit:
        kit.appender.failure = "the disk was full"
        broker.stop()
        await until(lambda: not bus.connected)
        await broker.start()
        await until(lambda: not kit.appender.failure)


async def test_a_room_that_is_open_answers_how_it_is_and_no_other_does(bus: Bus) -> None:
    failure = "the ledger cannot be written: its disk is full"
    async with kit_of("ledger", bus, quick_settings()) as kit:
        await HealthReport(kit, Ledger(failure), Watchdog(0), str).serve()
        found = await healths(bus, ("ledger", "desk"), PATIENCE)
    expected = RoomHealth("ledger", ok=False, failures=(failure,), committed_through=7)
    counted = {name: replace(one, unfolded=0, newest_unfolded=()) for name, one in found.items()}  # by the process
    assert {"ledger": expected} == counted


async def test_a_room_that_does_not_answer_in_time_is_not_well(bus: Bus) -> None:
    silent = await bus.client.subscribe("ask.health.ledger")
    found = await healths(bus, ("ledger",), 0.05)
    assert {"ledger": RoomHealth("ledger", ok=False, failures=("it does not answer within 0.05 s",))} == found
    await silent.unsubscribe()
