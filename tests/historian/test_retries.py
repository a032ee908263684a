"""Jobs of history that failed: they are tried again when their pause ends, though nothing else happens."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from schemas.events import CompartmentSealed, HistoryFailed, HistoryRequested, SessionIdled, UsageSampled
from services.edges.launcher.broker import Broker
from services.historian.worker import Historian
from services.historian.writers.base import RuleWriter, WriterInput, WriterOutput
from services.kit.bus import Bus
from tests.helpers.broker_world import connected, opened
from tests.helpers.compressed_sessions import Session, append, ended, of, reported_session, settings
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

SHORT = timedelta(milliseconds=300)


@pytest.fixture
async def session(bus: Bus) -> AsyncIterator[Session]:
    async with reported_session(bus) as made:
        yield made


class Falling(RuleWriter):
    """Rules that fall over so many times."""

    def __init__(self, falls: int) -> None:
        self.falls = falls
        self.writes = 0

    async def write(self, reading: WriterInput) -> WriterOutput:
        self.writes += 1
        if self.writes <= self.falls:
            raise RecursionError("too deep")
        return await super().write(reading)


def falling(monkeypatch: pytest.MonkeyPatch, times: int, pause: timedelta = SHORT) -> Falling:
    monkeypatch.setattr("services.domain.jobs.FIRST_PAUSE", pause)
    writer = Falling(times)
    monkeypatch.setattr("services.historian.worker._writer", lambda *_: writer)
    return writer


async def test_what_failed_is_tried_again_when_its_pause_ends_though_nothing_happens(
    bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = falling(monkeypatch, 2)
    await session.turns(11)
    await session.step(45_000)
    async with opened(Historian(), bus, settings()):
        await until(lambda: ended(bus, 3))
    assert [1, 2] == [event.failures for event in await of(bus, HistoryFailed) if isinstance(event, HistoryFailed)]
    assert 3 == writer.writes == len(await of(bus, HistoryRequested))
    assert [] != await of(bus, CompartmentSealed)


async def test_two_historians_try_again_once(
    broker: Broker, bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = falling(monkeypatch, 1)
    await session.turns(11)
    await session.step(45_000)
    other = await connected(broker)
    first, second = Historian(), Historian()
    async with opened(first, bus, settings()), opened(second, other, settings()):
        await until(lambda: ended(bus, 2))
        await until(first.idle)
        await until(second.idle)
    await other.close()
    assert 2 == writer.writes == len(await of(bus, HistoryRequested))


async def test_a_pause_that_ends_while_nobody_works_is_over_when_somebody_does(
    broker: Broker, bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = falling(monkeypatch, 1)
    await session.turns(11)
    await session.step(45_000)
    other = await connected(broker)
    async with opened(Historian(), other, settings()):
        await until(lambda: ended(bus))
    await other.close()
    async with opened(Historian(), bus, settings()):
        await until(lambda: ended(bus, 2))
    assert 2 == writer.writes


async def test_what_was_begun_while_nobody_waited_is_tried_again_while_nobody_waits(
    bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = falling(monkeypatch, 1)
    await session.turns(11)
    await session.step(10_000)
    await until(lambda: of(bus, UsageSampled))
    await append(bus, SessionIdled())
    async with opened(Historian(), bus, settings()):
        await until(lambda: ended(bus, 2))
    made = [event for event in await of(bus, HistoryRequested) if isinstance(event, HistoryRequested)]
    assert ["idle", "idle"] == [event.reason for event in made]
    assert 2 == writer.writes
