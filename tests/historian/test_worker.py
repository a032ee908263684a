"""The historian on a real broker: when it works, what it publishes, and what becomes of it when things go wrong."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from schemas.codec import encode
from schemas.events import (
    CompartmentSealed,
    HistoryAdvanced,
    HistoryAttempted,
    HistoryFailed,
    HistoryOrdered,
    HistoryRequested,
    MessageRemoved,
)
from schemas.streams import INBOUND_BODIES, LOG
from services.edges.launcher.broker import Broker
from services.historian.worker import Historian
from services.historian.writers.base import RuleWriter, WriterInput, WriterOutput
from services.kit.bus import Bodies, Bus
from services.kit.consumer import Consumer
from services.kit.pacing import Pacing
from tests.helpers.broker_world import HARBOUR, connected, facts, opened
from tests.helpers.compressed_sessions import (
    Session,
    append,
    covers,
    ended,
    hasty,
    of,
    ran,
    reported_session,
    sampled,
    settings,
    spans,
    text,
)
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


@pytest.fixture
async def session(bus: Bus) -> AsyncIterator[Session]:
    async with reported_session(bus) as made:
        yield made


async def test_a_session_near_its_threshold_is_compressed_once(bus: Bus, session: Session) -> None:
    await session.turns(11)
    await session.step(45_000)
    async with opened(Historian(), bus, settings()) as kit:
        await until(lambda: ended(bus))
        made = await of(bus, CompartmentSealed)
        assert spans(made)[0][0] == 1
        assert [HistoryRequested] == [type(event) for event in await of(bus, HistoryRequested)]
        assert kit.room == "historian"
    sealed = made[0]
    assert isinstance(sealed, CompartmentSealed)
    assert "rules" == sealed.source
    assert "file_0.py" in sealed.p1
    assert ("m1", 1) == (sealed.first_message, sealed.first)


async def test_what_is_wrapped_up_is_compressed_to_its_end_and_the_rest_stays(bus: Bus, session: Session) -> None:
    await session.turns(12)
    await session.step(10_000)
    async with opened(Historian(), bus, settings()):
        await append(bus, HistoryOrdered(order="wrapup"))
        await until(lambda: ended(bus))
    assert covers(await of(bus, CompartmentSealed), 1, 20)


async def test_an_order_with_nothing_to_do_fails_with_a_reason(bus: Bus, session: Session) -> None:
    await session.turns(1)
    await session.step(1_000)
    async with opened(Historian(), bus, settings()):
        await append(bus, HistoryOrdered(order="wrapup"))
        await until(lambda: ended(bus))
    failed = (await of(bus, HistoryFailed))[0]
    assert isinstance(failed, HistoryFailed)
    assert ("no_eligible", 0) == (failed.code, failed.failures)


async def test_what_only_calls_for_a_look_makes_room_while_it_is_put_off_and_an_order_ends_that(
    bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pacing, "wait", lambda *_: 0.05)
    monkeypatch.setattr(Consumer, "quiet", 0.0)

    async def only_the_newest_waits() -> bool:
        lag = await bus.lag(LOG.name, "historian")
        return lag is not None and (lag.waiting, lag.in_hand) == (0, 1)

    await session.turns(12)
    for _ in range(5):
        await session.step(10_000)
    async with opened(Historian(), bus, settings()):
        await until(only_the_newest_waits)
        assert [] == await of(bus, HistoryRequested)
        await append(bus, HistoryOrdered(order="wrapup"))
        await session.step(10_000)
        await until(lambda: ended(bus))
    assert covers(await of(bus, CompartmentSealed), 1, 20)


async def test_a_historian_that_starts_late_does_what_was_missed_once(bus: Bus, session: Session) -> None:
    await session.turns(11)
    await session.step(45_000)
    await until(lambda: has(bus, "usage.sampled"))
    for _ in range(2):
        async with opened(historian := Historian(), bus, settings()):
            await until(historian.idle)
    assert 1 == len(await of(bus, HistoryRequested))
    assert len({one[0] for one in spans(await of(bus, CompartmentSealed))}) == len(await of(bus, CompartmentSealed))


async def has(bus: Bus, event_type: str) -> bool:
    return any(event.TYPE == event_type for event in await facts(bus, HARBOUR))


class WaitingWriter(RuleWriter):
    """The rules, delayed until a test lets them go."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.readers = 0

    async def write(self, reading: WriterInput) -> WriterOutput:
        self.readers += 1
        self.asked.set()
        await self.go.wait()
        return await super().write(reading)


def waiting_writer(monkeypatch: pytest.MonkeyPatch) -> WaitingWriter:
    writer = WaitingWriter()
    monkeypatch.setattr("services.historian.worker._writer", lambda *_: writer)
    return writer


async def test_what_changes_under_a_run_is_not_published(
    bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = waiting_writer(monkeypatch)
    await session.turns(11)
    await session.step(45_000)
    async with opened(Historian(), bus, settings()):
        await writer.asked.wait()
        await append(bus, MessageRemoved(messages=["m2"], reason="deleted"))
        writer.go.set()
        await until(lambda: ended(bus))
    failed = (await of(bus, HistoryFailed))[0]
    assert isinstance(failed, HistoryFailed)
    assert ("stale_fingerprint", 0, None) == (failed.code, failed.failures, failed.retry_at)
    assert [] == await of(bus, CompartmentSealed)


class Falling(RuleWriter):
    """Rules that fall over whatever they read."""

    def __init__(self) -> None:
        self.falls = 0

    async def write(self, reading: WriterInput) -> WriterOutput:
        self.falls += 1
        raise RecursionError(f"message {reading.chunk.first} is too deep")


async def test_a_run_whose_writer_falls_counts_as_failed_and_is_not_begun_again_at_once(
    bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Falling()
    monkeypatch.setattr("services.historian.worker._writer", lambda *_: writer)
    async with opened(historian := Historian(), bus, settings()):
        await session.turns(11)
        await session.step(45_000)
        await until(lambda: ended(bus))
        for used in range(45_001, 45_010):
            await session.step(used)
        await until(lambda: sampled(bus, 45_009))
        await until(historian.idle)
    (failed,) = await of(bus, HistoryFailed)
    assert isinstance(failed, HistoryFailed)
    assert ("crashed", "RecursionError: message 1 is too deep", 1) == (failed.code, failed.detail, failed.failures)
    assert failed.retry_at is not None
    assert 1 == writer.falls == len(await of(bus, HistoryRequested))


async def test_a_run_that_was_cut_off_is_made_once_by_the_next_historian(
    broker: Broker, bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.turns(11)
    await session.step(45_000)
    with monkeypatch.context() as patch:
        writer = waiting_writer(patch)
        other = await connected(broker)
        async with opened(Historian(), other, hasty(settings())):
            await writer.asked.wait()
    await other.close()
    assert [] == await of(bus, CompartmentSealed)
    async with opened(historian := Historian(), bus, hasty(settings())):
        await until(lambda: ended(bus))
        await until(historian.idle)
    assert 1 == len(await of(bus, HistoryRequested))
    assert 1 == len({one for one in spans(await of(bus, CompartmentSealed)) if one[0] == 1})


async def test_of_two_historians_that_race_one_publishes(
    broker: Broker, bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = waiting_writer(monkeypatch)
    await session.turns(11)
    await session.step(45_000)
    other = await connected(broker)
    first, second = Historian(), Historian()
    async with opened(first, bus, settings()), opened(second, other, settings()):
        await writer.asked.wait()
        request = (await of(bus, HistoryRequested))[0]
        assert isinstance(request, HistoryRequested)
        again = [asyncio.create_task(one.jobs.run(HARBOUR, request.run)) for one in (first, second)]
        await until(lambda: writer.readers == len(again) + 1)
        writer.go.set()
        await asyncio.gather(*again)
        await until(first.idle)
    await other.close()
    made = spans(await of(bus, CompartmentSealed))
    assert len(made) == len(set(made))
    assert 1 == sum(isinstance(event, HistoryAdvanced) and event.done for event in await of(bus, HistoryAdvanced))
    assert 1 == len(await of(bus, HistoryAttempted))


async def test_an_output_of_three_megabytes_stops_nothing(bus: Bus, session: Session) -> None:
    await session.add_message("user", text("Show me the log"))
    body = await Bodies(bus, INBOUND_BODIES).put("2026 INFO a line of a log\n" * 120_000)
    await session.add_message("assistant", replace(ran("cat big.log", "", "c1"), output_ref=body))
    await session.turns(8)
    await session.step(45_000)
    async with opened(Historian(), bus, settings()):
        await until(lambda: ended(bus))
    made = await of(bus, CompartmentSealed)
    assert spans(made)[0][0] == 1
    assert sum(len(encode(event)) for event in made) < 40_000


async def test_a_long_session_with_one_request_is_compressed(bus: Bus, session: Session) -> None:
    await session.add_message("user", text("Make all tests pass, and never touch the fixtures"))
    for number in range(60):
        await session.add_message("assistant", ran(f"pytest tests/test_{number}.py", "1 failed\n" * 150, f"c{number}"))
    await session.step(45_000)
    async with opened(Historian(), bus, settings()):
        await until(lambda: ended(bus))
    made = [event for event in await of(bus, CompartmentSealed) if isinstance(event, CompartmentSealed)]
    assert any("never touch the fixtures" in event.p1 for event in made)
