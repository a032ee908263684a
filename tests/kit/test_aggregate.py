"""Aggregates on a real broker: decided on all that they were folded from, by several writers, once however often."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest

from schemas.envelope import Actor, Envelope
from schemas.events import Event, MemoryProposed, MemoryReinforced, SessionIdled, SpendReserved
from schemas.subjects import Address
from services.domain.draft import Draft
from services.kit.aggregate import Aggregate
from services.kit.bus import Bus, Conflict, TooLarge
from services.kit.command_queue import HandledCommand, QueuedCommand
from tests.helpers.broker_world import NOON, facts, kit_of, quick_settings
from tests.helpers.poison import UNREADABLE, Make, together

pytestmark = pytest.mark.broker

PROJECT = Address("harbour")
ROOM = Actor("room", "test")
Names = tuple[str, ...]


class Writer:
    """One process that writes names, each once; it counts what it folds."""

    def __init__(self) -> None:
        self.evolved: Counter[str] = Counter()
        self.decided = 0

    def evolve(self, names: Names, event: Event, _: Envelope) -> Names:
        match event:
            case MemoryProposed(text=name):
                self.evolved[name] += 1
                return (*names, name)
            case MemoryReinforced(origin=name):
                self.evolved[name] += 1
                return tuple(one for one in names if one != name)
            case _:
                return names

    async def open(
        self, stack: AsyncExitStack, bus: Bus, guard: str = "memory", *, catches_up: bool = True
    ) -> "Writer":
        kit = await stack.enter_async_context(kit_of("desk", bus, quick_settings()))
        self.aggregate = Aggregate.of(kit, self.evolve, (), guard=guard, catches_up=catches_up, once=True)
        return self

    def propose(self, name: str, cause: str = "") -> QueuedCommand[Names, str]:
        async def decide(draft: Draft[Names]) -> str:
            self.decided += 1
            if name in draft.state:
                return "known"
            draft.record(proposed(name))
            return "proposed"

        return QueuedCommand(
            decide, cause=cause or name, at=NOON, actor=ROOM, again=lambda before: f"before, at {before.seq}"
        )

    async def do(self, command: QueuedCommand[Names, str]) -> HandledCommand[Names, str]:
        (handled,) = await self.aggregate.handle_all(PROJECT, [command])
        assert isinstance(handled, HandledCommand), handled
        return handled


def proposed(name: str) -> MemoryProposed:
    return MemoryProposed(memory=name, category="NAMING", text=name)


@pytest.mark.parametrize("catches_up", [True, False])
async def test_a_command_is_decided_appended_and_answered_with_its_positions(bus: Bus, catches_up: bool) -> None:  # noqa: FBT001
    async with AsyncExitStack() as stack:
        writer = await Writer().open(stack, bus, catches_up=catches_up)
        first, second = await writer.do(writer.propose("a")), await writer.do(writer.propose("b"))
    assert (("a",), "proposed", (1,)) == (first.state, first.result, first.positions)
    assert (("a", "b"), "proposed", (2,)) == (second.state, second.result, second.positions)
    assert [proposed("a"), proposed("b")] == await facts(bus)


@pytest.mark.parametrize("catches_up", [True, False])
@pytest.mark.parametrize("guard", ["memory", ">"])
@pytest.mark.parametrize("kinds", together(UNREADABLE))
async def test_a_decision_is_stored_behind_a_record_that_cannot_be_read(
    bus: Bus,
    kinds: Sequence[Make],
    guard: str,
    catches_up: bool,  # noqa: FBT001
) -> None:
    """Its position counts for what an append expects, in memory and in a process that begins anew."""
    poisons = [make(PROJECT) for make in kinds]
    names = ("a", "b", "c")
    async with AsyncExitStack() as stack:
        first, second = [await Writer().open(stack, bus, guard, catches_up=catches_up) for _ in range(2)]
        for number, (writer, name) in enumerate(zip((first, first, second), names, strict=True)):
            handled = await writer.do(writer.propose(name))
            assert (names[: number + 1], "proposed") == (handled.state, handled.result)
            for poison in poisons:
                for subject in (poison.subject, PROJECT.log(MemoryProposed.TYPE)):
                    await bus.client.publish(subject, poison.data, headers=dict(poison.headers or {}))
            await bus.client.flush()
    assert [proposed(name) for name in names] == await facts(bus)


async def test_each_event_is_folded_once_where_the_end_of_a_decision_is_the_new_state(bus: Bus) -> None:
    names = [f"n{number}" for number in range(8)]

    async def decide(draft: Draft[Names]) -> None:
        for name in names:
            draft.record(proposed(name))
            assert name == draft.state[-1]

    async with AsyncExitStack() as stack:
        writer = await Writer().open(stack, bus, catches_up=False)
        await writer.aggregate.handle(PROJECT, decide, cause="c", at=NOON, actor=ROOM)
        assert tuple(names) == await writer.aggregate.load(PROJECT)
    assert dict.fromkeys(names, 1) == writer.evolved


@pytest.mark.parametrize("catches_up", [True, False])
async def test_a_decision_is_stale_where_another_wrote_an_event_of_another_type_that_it_was_folded_from(
    bus: Bus,
    catches_up: bool,  # noqa: FBT001
) -> None:
    """One adds while the other clears all that it knows: each type is written by one of them alone."""
    async with AsyncExitStack() as stack:
        one = await Writer().open(stack, bus, catches_up=catches_up)
        other = await Writer().open(stack, bus, catches_up=catches_up)
        await one.do(one.propose("a"))
        entered, gate = asyncio.Event(), asyncio.Event()

        async def clear(draft: Draft[Names]) -> Names:
            entered.set()
            await gate.wait()
            draft.record(*(MemoryReinforced(memory=name, origin=name) for name in draft.state))
            return draft.state

        clearing = asyncio.create_task(other.aggregate.handle(PROJECT, clear, cause="c", at=NOON, actor=ROOM))
        await entered.wait()
        await one.do(one.propose("b"))
        gate.set()
        assert () == (await clearing).state
    assert ["a", "b", "a", "b"] == [event.memory for event in await facts(bus) if hasattr(event, "memory")]


async def test_facts_of_another_noun_do_not_make_a_decision_stale(bus: Bus) -> None:
    reservation = SpendReserved(reservation="r", day="2026-03-07", purpose="p", tokens=1, usd=0.0)
    async with AsyncExitStack() as stack:
        writer, spender = await Writer().open(stack, bus), await Writer().open(stack, bus, "spend")
        calls = 0

        async def spend(draft: Draft[Names]) -> None:
            draft.record(reservation)

        async def decide(draft: Draft[Names]) -> None:
            nonlocal calls
            calls += 1
            await spender.aggregate.handle(PROJECT, spend, cause="s", at=NOON, actor=ROOM)
            draft.record(proposed("a"))

        await writer.aggregate.handle(PROJECT, decide, cause="c", at=NOON, actor=ROOM)
    assert 1 == calls
    assert [reservation, proposed("a")] == await facts(bus)


async def test_a_repeated_command_is_decided_once_and_gets_the_position_of_the_first(bus: Bus) -> None:
    async with AsyncExitStack() as stack:
        writer = await Writer().open(stack, bus)
        await writer.do(writer.propose("before"))
        both = await writer.aggregate.handle_all(PROJECT, [writer.propose("a", "c"), writer.propose("b", "c")])
        other = await Writer().open(stack, bus)
        third = await other.do(other.propose("d", "c"))
    assert ["proposed", "before, at 2"] == [one.result for one in both if isinstance(one, HandledCommand)]
    assert "before, at 2" == third.result
    assert [proposed("before"), proposed("a")] == await facts(bus)


async def test_what_breaks_in_one_command_does_not_hurt_those_it_is_decided_with(bus: Bus) -> None:
    async def broken(draft: Draft[Names]) -> str:
        draft.record(proposed("half"))
        raise RuntimeError("it broke")

    async def huge(draft: Draft[Names]) -> str:
        draft.record(proposed("x" * bus.max_payload))
        return "huge"

    async with AsyncExitStack() as stack:
        writer = await Writer().open(stack, bus)
        odd = [QueuedCommand(decide, cause=decide.__name__, at=NOON, actor=ROOM) for decide in (broken, huge)]
        results = await writer.aggregate.handle_all(PROJECT, [writer.propose("a"), *odd, writer.propose("b")])
    assert ["proposed", RuntimeError, TooLarge, "proposed"] == [
        one.result if isinstance(one, HandledCommand) else type(one) for one in results
    ]
    assert [proposed("a"), proposed("b")] == await facts(bus)


async def test_commands_that_wait_for_one_address_are_appended_as_one(bus: Bus) -> None:
    async with AsyncExitStack() as stack:
        writer = await Writer().open(stack, bus)
        names = [f"n{number}" for number in range(20)]
        handled = await writer.aggregate.handle_all(PROJECT, [writer.propose(name) for name in names])
    assert [(number,) for number in range(1, 21)] == [
        one.positions for one in handled if isinstance(one, HandledCommand)
    ]
    assert [proposed(name) for name in names] == await facts(bus)


@pytest.mark.parametrize("catches_up", [True, False])
async def test_two_contending_writers_both_come_through(bus: Bus, catches_up: bool) -> None:  # noqa: FBT001
    """Each with many callers of its own, all of whom want the same address at once."""
    names = [f"n{number}" for number in range(120)]
    async with AsyncExitStack() as stack:
        writers = [await Writer().open(stack, bus, catches_up=catches_up) for _ in range(2)]
        handled = await asyncio.gather(
            *(
                writer.do(writer.propose(name, f"{index}/{name}"))
                for name in names
                for index, writer in enumerate(writers)
            )
        )
        states = [await writer.aggregate.newest(PROJECT) for writer in writers]
    assert {"proposed": len(names), "known": len(names)} == Counter(one.result for one in handled)
    assert sorted(names) == sorted(states[0])
    assert states[0] == states[1]
    assert len(names) == len(await facts(bus))


async def test_two_writers_whose_callers_come_one_by_one_both_come_through(bus: Bus) -> None:
    """No group to append as one, so that each append meets one of the other: neither may starve."""
    async with AsyncExitStack() as stack:
        writers = [await Writer().open(stack, bus) for _ in range(2)]

        async def write(index: int) -> None:
            for number in range(120):
                assert "proposed" == (await writers[index].do(writers[index].propose(f"{index}/{number}"))).result

        await asyncio.gather(write(0), write(1))
    assert 240 == len(await facts(bus))


async def test_a_command_that_never_gets_its_turn_says_so_after_a_time_where_someone_waits(bus: Bus) -> None:
    async with AsyncExitStack() as stack:
        writer, rival = await Writer().open(stack, bus), await Writer().open(stack, bus)

        async def decide(draft: Draft[Names]) -> None:
            await rival.do(rival.propose(f"rival {len(draft.state)}"))
            draft.record(proposed("mine"))

        with pytest.raises(Conflict, match=r"others wrote to the same place for 0\.2 s without a pause"):
            await writer.aggregate.handle(PROJECT, decide, cause="c", at=NOON, actor=ROOM, patience=0.2)
        assert await facts(bus), "others have written"
        assert "proposed" == (await writer.do(writer.propose("mine"))).result


async def test_a_command_that_nobody_waits_for_is_decided_until_it_is_written(bus: Bus) -> None:
    async with AsyncExitStack() as stack:
        writer, rival = await Writer().open(stack, bus), await Writer().open(stack, bus)
        tries = 0

        async def decide(draft: Draft[Names]) -> None:
            nonlocal tries
            tries += 1
            if tries < 200:
                await rival.do(rival.propose(f"rival {tries}"))
            draft.record(proposed("mine"))

        await writer.aggregate.handle(PROJECT, decide, cause="c", at=NOON, actor=ROOM)
    assert (200, proposed("mine")) == (tries, (await facts(bus))[-1])


async def test_a_caller_that_goes_away_takes_no_other_command_with_it(bus: Bus) -> None:
    async with AsyncExitStack() as stack:
        writer = await Writer().open(stack, bus)
        entered, gate = asyncio.Event(), asyncio.Event()

        async def slow(draft: Draft[Names]) -> None:
            entered.set()
            await gate.wait()
            draft.record(proposed("gone"))

        leader = asyncio.create_task(writer.aggregate.handle(PROJECT, slow, cause="g", at=NOON, actor=ROOM))
        await entered.wait()
        others = [asyncio.create_task(writer.do(writer.propose(name))) for name in ("a", "b")]
        await asyncio.sleep(0)
        leader.cancel()
        assert ["proposed", "proposed"] == [(await other).result for other in others]
    assert [proposed("a"), proposed("b")] == await facts(bus)


async def test_facts_of_others_in_the_same_session_do_not_disturb(bus: Bus) -> None:
    """A state decided on in memory takes no notice of what it does not read."""
    session = Address("harbour", "s1")
    async with AsyncExitStack() as stack:
        writer = await Writer().open(stack, bus, catches_up=False)
        idler = await Writer().open(stack, bus, "session")

        async def idle(draft: Draft[Names]) -> None:
            draft.record(SessionIdled())

        async def note(draft: Draft[Names]) -> None:
            draft.record(proposed(f"n{len(draft.state)}"))

        for number in range(3):
            await writer.aggregate.handle(session, note, cause=f"n{number}", at=NOON, actor=ROOM)
            await idler.aggregate.handle(session, idle, cause=f"i{number}", at=NOON, actor=ROOM)
        assert ("n0", "n1", "n2") == await writer.aggregate.load(session) == await writer.aggregate.newest(session)
