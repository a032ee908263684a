"""Rebuilds on a real broker: of all or of a range, cut off, and given up."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from schemas.commands import HistoryRebuild
from schemas.events import (
    CompartmentSealed,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryFailed,
    HistoryOrdered,
    HistoryReplaced,
    HistoryRequested,
)
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.historian.worker import Historian
from services.historian.writers.base import RuleWriter, WriterInput, WriterOutput
from services.kit.bus import Bus
from services.kit.commands import send
from tests.helpers.broker_world import HARBOUR, PERSON, connected, opened
from tests.helpers.compressed_sessions import (
    Session,
    append,
    covers,
    ended,
    hasty,
    history,
    of,
    reported_session,
    settings,
    spans,
)
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


@pytest.fixture
async def session(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Session]:
    """A session that is read in chunks of about twelve messages."""
    monkeypatch.setattr(RuleWriter, "budget", 6_000)
    async with reported_session(bus) as made, opened(Desk(), bus, settings()):
        yield made


async def compressed(bus: Bus, session: Session) -> list[tuple[int, int]]:
    """Compress a long session; the bounds of its compartments."""
    await session.turns(30)
    await session.step(10_000)
    await append(bus, HistoryOrdered(order="wrapup"))  # before a job that nobody ordered can begin
    async with opened(historian := Historian(), bus, settings()):
        await until(lambda: ended(bus))
        await until(historian.idle)
    return await in_force(bus)


async def in_force(bus: Bus) -> list[tuple[int, int]]:
    return spans((await history(bus)).sealed)


async def rebuild(bus: Bus, which: str = "") -> str:
    """The answer to a person's order of it."""
    answer = await send(bus, HARBOUR, HistoryRebuild(which), name=f"rebuild {which}", actor=PERSON)
    assert answer.ok, answer.text
    return answer.text


async def wrote(bus: Bus, kind: type[HistoryReplaced | HistoryAbandoned | HistoryFailed]) -> bool:
    return bool(await of(bus, kind))


async def stopped(bus: Bus) -> bool:
    """Whether all that was ordered has ended."""
    return await wrote(bus, HistoryReplaced) or await wrote(bus, HistoryFailed)


async def test_a_rebuild_goes_on_where_it_was_cut_off_and_holds_when_it_is_whole(
    broker: Broker, bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await compressed(bus, session)
    with monkeypatch.context() as patch:
        cut_short(patch, after=2)
        other = await connected(broker)
        async with opened(Historian(), other, hasty(settings())):
            await append(bus, HistoryOrdered(order="rebuild"))
            await until(lambda: advanced(bus, 1, 2))
    await other.close()
    async with opened(Historian(), bus, hasty(settings())):
        await until(lambda: stopped(bus))
    anew = [
        event for event in await of(bus, CompartmentSealed) if isinstance(event, CompartmentSealed) and event.generation
    ]
    assert covers(anew, 1, before[-1][1])
    replaced = (await of(bus, HistoryReplaced))[0]
    assert isinstance(replaced, HistoryReplaced)
    assert (1, 1, before[-1][1], len(anew)) == (
        replaced.generation,
        replaced.first,
        replaced.last,
        replaced.compartments,
    )


async def advanced(bus: Bus, generation: int, chunks: int) -> bool:
    made = [event for event in await of(bus, HistoryAdvanced) if isinstance(event, HistoryAdvanced)]
    return chunks <= sum(event.generation == generation for event in made)


def cut_short(monkeypatch: pytest.MonkeyPatch, *, after: int) -> asyncio.Event:
    """A writer that hangs after so many chunks, until someone lets it go on."""
    write = RuleWriter.write
    left = after
    go_on = asyncio.Event()

    async def hanging(self: RuleWriter, reading: WriterInput) -> WriterOutput:
        nonlocal left
        if left <= 0:
            await go_on.wait()
        left -= 1
        return await write(self, reading)

    monkeypatch.setattr(RuleWriter, "write", hanging)
    return go_on


@pytest.mark.parametrize("inside", [0, 1])
async def test_a_range_is_moved_out_to_whole_compartments_and_all_around_it_stays(
    bus: Bus, session: Session, inside: int
) -> None:
    before = await compressed(bus, session)
    first, last = before[1][0], before[2][1]
    async with opened(Historian(), bus, settings()):
        await rebuild(bus, f"{before[1][1] - inside}-{before[2][0] + inside}")
        await until(lambda: stopped(bus))
    (replaced,) = await of(bus, HistoryReplaced)
    assert isinstance(replaced, HistoryReplaced)
    assert (first, last) == (replaced.first, replaced.last)
    known = await history(bus)
    assert covers(known.sealed, 1, before[-1][1])
    anew = [one for one in known.sealed if one.generation == 1]
    assert covers(anew, first, last)
    assert [before[0], *before[3:]] == [(one.first, one.last) for one in known.sealed if one.generation == 0]


async def test_a_range_that_was_cut_off_goes_on_behind_what_is_made_of_it(
    broker: Broker, bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await compressed(bus, session)
    with monkeypatch.context() as patch:
        cut_short(patch, after=1)
        other = await connected(broker)
        async with opened(Historian(), other, hasty(settings())):
            await rebuild(bus, f"{before[1][0]}-{before[-1][0]}")
            await until(lambda: advanced(bus, 1, 1))
    await other.close()
    made = (await history(bus)).staged[1]
    assert before == await in_force(bus)
    async with opened(Historian(), bus, hasty(settings())):
        await until(lambda: stopped(bus))
    known = await history(bus)
    assert covers(known.sealed, 1, before[-1][1])
    assert before[0] == spans(known.sealed)[0]
    assert list(made) == [one for one in known.sealed if one in made]
    assert 1 == len(await of(bus, HistoryReplaced))
    every = [one.compartment for one in await of(bus, CompartmentSealed) if isinstance(one, CompartmentSealed)]
    assert len(every) == len(set(every))


async def test_a_range_behind_what_is_compressed_is_refused(bus: Bus, session: Session) -> None:
    before = await compressed(bus, session)
    async with opened(historian := Historian(), bus, settings()):
        await rebuild(bus, f"{before[-1][1] + 1}-{before[-1][1] + 4}")
        await until(lambda: wrote(bus, HistoryFailed))
        await until(historian.idle)
    (failed,) = await of(bus, HistoryFailed)
    assert isinstance(failed, HistoryFailed)
    assert ("no_eligible", 0, None) == (failed.code, failed.failures, failed.retry_at)
    known = await history(bus)
    assert (before, 0) == (spans(known.sealed), known.generation)


async def test_a_rebuild_that_is_given_up_leaves_no_trace_and_the_session_goes_on(
    bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await compressed(bus, session)
    with monkeypatch.context() as patch:
        go_on = cut_short(patch, after=1)
        async with opened(historian := Historian(), bus, settings()):
            await rebuild(bus)
            await until(lambda: advanced(bus, 1, 1))
            assert "is given up" in await rebuild(bus, "stop")
            await until(lambda: wrote(bus, HistoryAbandoned))
            go_on.set()
            await until(historian.idle)
    known = await history(bus)
    assert (before, 0, None) == (spans(known.sealed), known.generation, known.staged.get(1))
    assert [] == await of(bus, HistoryReplaced, HistoryFailed)
    (end,) = await of(bus, HistoryAbandoned)
    assert HistoryAbandoned(run=await newest_run(bus), generation=1, reason="it was ordered to be given up") == end
    async with opened(Historian(), bus, settings()):
        await rebuild(bus, " ")
        await until(lambda: wrote(bus, HistoryReplaced))
    known = await history(bus)
    assert 2 == known.generation
    assert covers(known.sealed, 1, before[-1][1])


async def newest_run(bus: Bus) -> str:
    event = (await of(bus, HistoryRequested))[-1]
    assert isinstance(event, HistoryRequested)
    return event.run


async def test_a_rebuild_that_was_given_up_while_nobody_worked_is_not_taken_up_again(
    broker: Broker, bus: Bus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await compressed(bus, session)
    with monkeypatch.context() as patch:
        cut_short(patch, after=1)
        other = await connected(broker)
        async with opened(Historian(), other, hasty(settings())):
            await rebuild(bus)
            await until(lambda: advanced(bus, 1, 1))
    await other.close()
    await rebuild(bus, "stop")
    async with opened(historian := Historian(), bus, hasty(settings())):
        await until(lambda: wrote(bus, HistoryAbandoned))
        await until(historian.idle)
    assert [] == await of(bus, HistoryReplaced, HistoryFailed)
    assert before == await in_force(bus)


async def test_where_nothing_is_made_anew_nothing_is_given_up(bus: Bus, session: Session) -> None:
    before = await compressed(bus, session)
    async with opened(historian := Historian(), bus, settings()):
        await until(historian.idle)
        runs = len(await of(bus, HistoryRequested))
        await append(bus, HistoryOrdered(order="abandon"))  # the desk refuses it today
        await until(historian.idle)
        assert runs == len(await of(bus, HistoryRequested))
        assert [] == await of(bus, HistoryAbandoned)
        await session.turns(6)
        await session.step(10_000)
        await append(bus, HistoryOrdered(order="wrapup"))

        async def goes_on() -> bool:
            """However often it was asked before there was anything to do."""
            return (await history(bus)).last > before[-1][1]

        await until(goes_on)
    assert 0 == (await history(bus)).generation
