"""Jobs of a made-up kind on a real broker: in parts, over crashes, by several processes, and given up."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from schemas.codec import encode
from schemas.envelope import Envelope
from schemas.events import SessionIdled
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus
from services.kit.jobs import Abandon, Advance, Complete, Fail, Outcome, Snooze
from tests.helpers.bakery import Bakery, BakeryJob, Gate, Kind, bake, baking, notes, order
from tests.helpers.broker_world import HARBOUR, connected, impatient_settings, quick_settings, wrapped
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

DONE = ["bread loaf", "bread loaf", "bread loaf", "bread done"]


async def ended(bus: Bus, count: int = 1) -> bool:
    return count <= sum("loaf" not in note for note in await notes(bus))


async def test_a_job_is_done_part_by_part(bus: Bus) -> None:
    kind = Kind()
    async with baking(bus, kind) as room:
        await order(bus, "bread 3")
        await until(lambda: ended(bus))
        await until(room.jobs.idle)
        assert 0 == room.jobs.in_hand
    assert DONE == await notes(bus)
    assert (1, 4) == (kind.bakers, len(kind.parts))


async def test_a_job_that_was_cut_off_goes_on_where_it_stands(broker: Broker, bus: Bus) -> None:
    other, dying = await connected(broker), Kind()
    dying.baker = gate = Gate(before=2)
    async with baking(other, dying, impatient_settings()):
        await order(bus, "bread 3")
        await gate.entered.wait()
    await other.close()
    assert DONE[:2] == await notes(bus)
    async with baking(bus, settings=impatient_settings()):
        await until(lambda: ended(bus))
    assert DONE == await notes(bus)


async def test_a_process_that_ends_finishes_its_part_and_leaves_the_rest_at_once(broker: Broker, bus: Bus) -> None:
    other, leaving = await connected(broker), Kind()
    leaving.baker = gate = Gate()
    patient = quick_settings(ack_wait=600.0)
    async with baking(other, leaving, patient) as room:
        await order(bus, "bread 3")
        await gate.entered.wait()
        closing = asyncio.create_task(let_go(room.jobs._consumer, gate))  # noqa: SLF001 - nothing else reports the end
    await closing
    await other.close()
    assert DONE[:1] == await notes(bus)
    async with baking(bus, settings=patient):
        await until(lambda: ended(bus))
    assert DONE == await notes(bus)


async def let_go(consumer: object, gate: Gate) -> None:
    await until(lambda: getattr(consumer, "closing"))  # noqa: B009 - it is looked at anew
    gate.go.set()


async def test_of_two_processes_that_do_the_same_part_one_publishes(broker: Broker, bus: Bus) -> None:
    other, kind = await connected(broker), Kind()
    kind.baker = gate = Gate()
    async with baking(bus, kind) as one, baking(other, kind) as two:
        await order(bus, "bread 3")
        await gate.entered.wait()
        both = [asyncio.create_task(room.jobs.run(HARBOUR, "bread")) for room in (one, two)]
        await until(lambda: kind.bakers == len(both) + 1)
        gate.go.set()
        await asyncio.gather(*both)
    await other.close()
    assert DONE == await notes(bus)


async def test_what_breaks_fails_and_is_tried_again_when_its_pause_ends(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.domain.jobs.FIRST_PAUSE", timedelta(milliseconds=200))
    kind = Kind()

    async def burning(job: BakeryJob) -> Outcome[Bakery]:
        if job.state.jobs.begun < 3:
            raise RuntimeError("the oven burns")
        return await bake(job)

    kind.baker = burning
    async with baking(bus, kind):
        await order(bus, "bread 3")
        await until(lambda: ended(bus, 3))
    assert ["bread failed 1", "again1 failed 2", "again2 loaf", "again2 loaf", "again2 done"] == await notes(bus)


async def test_a_job_that_snoozes_is_taken_up_again_and_that_is_no_attempt(bus: Bus) -> None:
    kind = Kind()
    left = 6

    async def sleepy(job: BakeryJob) -> Outcome[Bakery]:
        nonlocal left
        left -= 1
        return Snooze(0.01) if left else await bake(job)

    kind.baker = sleepy
    async with baking(bus, kind, quick_settings(max_deliver=1)) as room:
        await order(bus, "bread 1")
        await until(lambda: ended(bus))
        await until(room.jobs.idle)
        info = await bus.js.consumer_info("LOG", "bakery")
    assert ["bread loaf", "bread done"] == await notes(bus)
    assert info.delivered is not None
    assert 1 == info.delivered.consumer_seq


async def test_jobs_that_snooze_make_room_for_others(bus: Bus) -> None:
    kind = Kind()

    async def sleepy(job: BakeryJob) -> Outcome[Bakery]:
        return Snooze(600) if job.address != HARBOUR else await bake(job)

    kind.baker = sleepy
    async with baking(bus, kind) as room:
        for number in range(8):
            await order(bus, "rolls 1", Address("harbour", f"sleepy{number}"))
        await until(lambda: room.jobs.in_hand == 8)
        await order(bus, "bread 1")
        await until(lambda: ended(bus))


async def test_a_job_that_is_begun_too_often_without_a_part_fails(broker: Broker, bus: Bus) -> None:
    await order(bus, "bread 3")
    await cut_off(broker, times=3)
    async with baking(bus, settings=impatient_settings()):
        await until(lambda: ended(bus))
    assert ["bread failed 1"] == await notes(bus)


async def cut_off(broker: Broker, times: int, before: int = 0) -> None:
    """Let so many processes begin with the job and die, each behind so many loaves."""
    for _ in range(times):
        other, dying = await connected(broker), Kind()
        dying.baker = gate = Gate(before)
        async with baking(other, dying, impatient_settings(ack_wait=0.2)):
            await gate.entered.wait()
        await other.close()


async def test_a_job_that_gets_on_may_be_begun_more_often(broker: Broker, bus: Bus) -> None:
    await order(bus, "bread 9")
    await cut_off(broker, times=5, before=1)
    async with baking(bus, settings=impatient_settings()):
        await until(lambda: ended(bus))
    assert [*["bread loaf"] * 9, "bread done"] == await notes(bus)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Abandon("nobody is hungry"), ["bread abandoned"]),
        (Fail("no_flour", "there is none"), ["bread failed 1"]),
        (Advance(lambda _: Fail("mouldy", "it lay for too long")), ["bread failed 1"]),
        (Complete(lambda _: ()), ["bread failed 1"]),
    ],
)
async def test_whatever_a_worker_returns_the_job_ends(
    bus: Bus, outcome: Outcome[Bakery], expected: Sequence[str]
) -> None:
    kind = Kind()

    async def baker(_: BakeryJob) -> Outcome[Bakery]:
        return outcome

    kind.baker = baker
    async with baking(bus, kind) as room:
        await order(bus, "bread 3")
        await until(lambda: ended(bus))
        await until(room.jobs.idle)
    assert expected == await notes(bus)


class Crowded(Appender):
    """An appender before which, so many times, somebody else writes to the same bakery."""

    def __init__(self, bus: Bus, times: int) -> None:
        super().__init__(bus)
        self._other = bus
        self._left = times

    async def append(self, envelopes: Sequence[Envelope], expected: Mapping[str, int]) -> list[int]:
        if self._left and envelopes:
            self._left -= 1
            subject = HARBOUR.log(SessionIdled.TYPE)
            (fact,) = wrapped([SessionIdled()], {subject: self._left})
            await self._other.publish(subject, encode(fact), fact.id)
        return await super().append(envelopes, expected)


async def test_what_was_done_is_published_however_often_others_are_faster(bus: Bus) -> None:
    kind = Kind()
    baked = 0

    async def dear(job: BakeryJob) -> Outcome[Bakery]:
        nonlocal baked
        baked += 1
        return await bake(job)

    kind.baker = dear
    await order(bus, "bread 1")
    async with baking(bus, kind, appender=Crowded(bus, 20)):
        await until(lambda: ended(bus))
    assert 1 == baked
    assert ["bread loaf", "bread done"] == await notes(bus)
