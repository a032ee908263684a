"""The log on a real broker: decisions stand or fall as a whole, and nothing that is written goes away."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from nats.js import JetStreamContext
from nats.js.errors import APIError

from schemas.events import Event, SessionClosed, SessionIdled, SessionOpened, SessionRenamed
from schemas.streams import INBOUND_BODIES, LOG, MAX_BATCH
from schemas.subjects import Address
from services.domain.record import Record
from services.edges.launcher import broker as launcher
from services.edges.launcher.broker import Broker
from services.kit.bus import (
    Appender,
    Bodies,
    Bus,
    Conflict,
    ForeignEvent,
    LogReader,
    TooLarge,
    Unreachable,
    append,
    layout,
)
from services.kit.bus.append import FEW
from services.kit.bus.layout import Log
from services.kit.bus.log import READ_BATCH, SLICE
from tests.helpers.broker_world import HARBOUR, connected, facts, stored, titles, wrapped
from tests.helpers.poison import UNREADABLE, Make, together
from tests.helpers.sent_requests import Sent
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

OPENED = SessionOpened(harness="pi", mode="primary")
RENAMED = HARBOUR.log(SessionRenamed.TYPE)


async def read(bus: Bus, seq: int, subject_filter: str) -> list[Record]:
    return [recorded async for recorded in LogReader(bus).after(seq, subject_filter)]


# Appending.


@pytest.mark.parametrize("count", [1, FEW, FEW + 1, 3 * FEW])
async def test_a_decision_of_any_length_is_appended_wholly_and_in_order(bus: Bus, count: int) -> None:
    events = titles(count)
    assert list(range(1, count + 1)) == await Appender(bus).append(wrapped(events), {})
    assert events == await facts(bus)


async def test_a_decision_of_several_kinds_keeps_its_order(bus: Bus) -> None:
    events: list[Event] = [
        OPENED,
        SessionRenamed(title="a"),
        SessionIdled(),
        SessionRenamed(title="b"),
        SessionClosed(),
    ]
    await Appender(bus).append(wrapped(events), {})
    assert events == await facts(bus)


@pytest.mark.own_broker
async def test_an_append_in_flight_fails_as_soon_as_the_broker_does_and_succeeds_when_tried_again(
    broker: Broker, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append, "APPEND_TIMEOUT", 10 * PATIENCE)
    assert broker.process is not None
    broker.process.send_signal(signal.SIGSTOP)
    events = wrapped(titles(3))
    appending = asyncio.create_task(Appender(bus).append(events, {}))
    await asyncio.sleep(0)
    broker.process.kill()
    with pytest.raises(Unreachable):
        await asyncio.wait_for(appending, PATIENCE)
    broker.process.wait()
    await broker.start()
    assert [1, 2, 3] == await Appender(bus).append(events, {})


async def test_what_a_room_does_not_list_it_cannot_append(bus: Bus) -> None:
    appender = Appender(bus, writes=[SessionRenamed])
    with pytest.raises(ForeignEvent, match=r"session\.opened: name it in the result of what decides on it"):
        await appender.append(wrapped([*titles(1), OPENED]), {})
    assert 0 == await LogReader(bus).head()
    assert [1] == await appender.append(wrapped(titles(1)), {})


async def test_an_empty_decision_writes_nothing(bus: Bus) -> None:
    assert [] == await Appender(bus).append([], {})
    assert 0 == await LogReader(bus).head()


async def test_a_decision_above_the_size_of_a_batch_is_appended_in_order(bus: Bus) -> None:
    count = 2 * MAX_BATCH + 7
    assert list(range(1, count + 1)) == await Appender(bus).append(wrapped(titles(count)), {})
    found = await read(bus, 0, HARBOUR.log_filter)
    assert wrapped(titles(count))[-1].data == found[-1].envelope.data
    assert [(number, RENAMED) for number in range(1, count + 1)] == [(one.envelope.seq, one.subject) for one in found]


@pytest.mark.parametrize("count", [1, FEW, FEW + 1])
async def test_a_stale_decision_conflicts_and_writes_nothing(bus: Bus, count: int) -> None:
    appender = Appender(bus)
    await appender.append(wrapped(titles(1)), {})
    with pytest.raises(Conflict):
        await appender.append(wrapped(titles(count, start=1)), {RENAMED: 0})
    assert titles(1) == await facts(bus)


async def test_what_follows_a_stale_fact_in_a_short_decision_is_not_written_either(bus: Bus) -> None:
    """Else the decision made anew would build on facts that the stale one left behind."""
    appender = Appender(bus)
    await appender.append(wrapped(titles(1)), {})
    with pytest.raises(Conflict):
        await appender.append(wrapped([SessionRenamed(title="stale"), SessionIdled(), SessionClosed()]), {RENAMED: 0})
    assert titles(1) == await facts(bus)


async def test_a_short_decision_is_whole_although_others_write_in_between(bus: Bus) -> None:
    appenders = Appender(bus), Appender(bus), Appender(bus), Appender(bus)
    for turn in range(6):
        events = titles(4, start=4 * turn)
        addresses = [Address("harbour", f"{turn}-{number}") for number in range(len(appenders))]
        positions = await asyncio.gather(
            *(one.append(wrapped(events, {}, where), {}) for one, where in zip(appenders, addresses, strict=True))
        )
        for where, seqs in zip(addresses, positions, strict=True):
            assert seqs == [one.envelope.seq for one in await read(bus, 0, where.log_filter)]
            assert events == await facts(bus, where)


@pytest.mark.parametrize("count", [1, FEW, FEW + 1])
async def test_the_same_decision_again_conflicts(bus: Bus, count: int) -> None:
    appender = Appender(bus)
    decision = wrapped(titles(count))
    await appender.append(decision, {})
    with pytest.raises(Conflict):
        await appender.append(decision, {RENAMED: count})
    assert titles(count) == await facts(bus)


async def test_the_newest_position_of_a_subject_is_the_one_to_expect(bus: Bus) -> None:
    appender = Appender(bus)
    await appender.append(wrapped([*titles(2), SessionIdled()]), {})
    assert [4] == await appender.append(wrapped(titles(1, start=2), {RENAMED: 2}), {RENAMED: 2})


async def test_decisions_that_wait_go_out_together_and_get_their_own_positions(bus: Bus) -> None:
    appender = Appender(bus)
    addresses = [Address("harbour", f"s{number}") for number in range(5)]
    positions = await asyncio.gather(
        *(appender.append(wrapped(titles(number + 1), {}, where), {}) for number, where in enumerate(addresses))
    )
    assert 1 == len({one.headers["Nats-Batch-Id"] for one in await stored(bus, LOG.name)})
    for where, seqs in zip(addresses, positions, strict=True):
        assert seqs == [one.envelope.seq for one in await read(bus, 0, where.log_filter)]
    assert list(range(1, 16)) == sorted(seq for seqs in positions for seq in seqs)


async def test_few_events_go_out_as_they_are_though_they_are_of_several_decisions(bus: Bus) -> None:
    """An atomic batch is four synced writes, and many other operations on files: more than these events are."""
    appender = Appender(bus)
    addresses = [Address("harbour", f"s{number}") for number in range(4)]
    positions = await asyncio.gather(
        *(appender.append(wrapped(titles(FEW // 4), {}, where), {}) for where in addresses)
    )
    assert not any("Nats-Batch-Id" in one.headers for one in await stored(bus, LOG.name))
    for where, seqs in zip(addresses, positions, strict=True):
        assert seqs == [one.envelope.seq for one in await read(bus, 0, where.log_filter)]
        assert seqs == list(range(seqs[0], seqs[0] + FEW // 4)), "what is decided together stands together"


async def test_of_few_events_a_stale_decision_hurts_no_other(bus: Bus) -> None:
    appender = Appender(bus)
    await appender.append(wrapped(titles(1)), {})
    before, after = Address("harbour", "s0"), Address("harbour", "s2")
    results = await asyncio.gather(
        appender.append(wrapped(titles(2), {}, before), {}),
        appender.append(wrapped(titles(2, start=1)), {RENAMED: 0}),
        appender.append(wrapped(titles(2), {}, after), {after.log(SessionRenamed.TYPE): 0}),
        return_exceptions=True,
    )
    assert [True, False, True] == [isinstance(one, list) for one in results]
    assert isinstance(results[1], Conflict)
    assert [titles(2), titles(1), titles(2)] == [await facts(bus, one) for one in (before, HARBOUR, after)]


async def test_a_conflicting_decision_does_not_hurt_those_it_went_out_with(bus: Bus) -> None:
    appender = Appender(bus)
    await appender.append(wrapped(titles(1)), {})
    before, after = Address("harbour", "s0"), Address("harbour", "s2")
    results = await asyncio.gather(
        appender.append(wrapped(titles(2), {}, before), {}),
        appender.append(wrapped(titles(2, start=1)), {RENAMED: 0}),
        appender.append(wrapped(titles(FEW + 1), {}, after), {}),
        return_exceptions=True,
    )
    assert isinstance(results[1], Conflict)
    assert titles(2) == await facts(bus, before)
    assert titles(1) == await facts(bus, HARBOUR)
    assert titles(FEW + 1) == await facts(bus, after)


async def test_stale_decisions_do_not_have_the_others_written_one_after_another(bus: Bus) -> None:
    """Each alone would cost as many writes as the whole group, and hold up who comes behind for as long."""
    appender = Appender(bus)
    many = [Address("harbour", f"s{number}") for number in range(12)]
    stale = many[3:9:5]
    for where in stale:
        await appender.append(wrapped(titles(1), {}, where), {})
    sent = Sent(bus)
    results = await asyncio.gather(
        *(appender.append(wrapped(titles(3, start=1), {}, where), {where.log_filter: 0}) for where in many),
        return_exceptions=True,
    )
    assert [where in stale for where in many] == [isinstance(one, Conflict) for one in results]
    assert (2, 0) == (sent.counts["batch"], sent.counts["fact"])
    for where, seqs in zip(many, results, strict=True):
        if isinstance(seqs, list):
            assert titles(3, start=1) == await facts(bus, where)
            assert seqs == [one.envelope.seq for one in await read(bus, 0, where.log_filter)]
        else:
            assert titles(1) == await facts(bus, where)


async def test_what_is_in_the_log_already_does_not_hurt_those_it_went_out_with(bus: Bus) -> None:
    """What makes it stale cannot be read where it expects nothing: then each goes out alone."""
    appender = Appender(bus)
    many = [Address("harbour", f"s{number}") for number in range(6)]
    await appender.append(wrapped(titles(3), {}, many[2]), {})
    results = await asyncio.gather(
        *(appender.append(wrapped(titles(3), {}, where), {}) for where in many), return_exceptions=True
    )
    assert [number == 2 for number in range(6)] == [isinstance(one, Conflict) for one in results]
    assert all([titles(3) == await facts(bus, where) for where in many])


async def test_a_decision_that_nobody_waits_for_any_more_does_not_hurt_those_it_went_out_with(bus: Bus) -> None:
    appender = Appender(bus)
    await appender.verify()  # so that both go out at once
    gone = asyncio.create_task(appender.append(wrapped(titles(1)), {}))
    stays = asyncio.create_task(appender.append(wrapped(titles(1), {}, Address("harbour", "s2")), {}))
    asyncio.get_running_loop().call_soon(gone.cancel)
    assert [2] == await stays
    assert gone.cancelled()


@pytest.mark.parametrize("count", [1, FEW + 1])
async def test_a_fact_above_the_brokers_limit_is_refused_as_too_large(bus: Bus, count: int) -> None:
    appender = Appender(bus)
    long = SessionRenamed(title="x" * bus.max_payload)
    with pytest.raises(TooLarge, match=r"session\.renamed"):
        await appender.append(wrapped([*titles(count - 1), long]), {})
    assert [] == await facts(bus)
    assert [1] == await appender.append(wrapped(titles(1)), {})


async def test_a_fact_above_the_brokers_limit_does_not_hurt_those_it_went_out_with(bus: Bus) -> None:
    appender = Appender(bus)
    long = SessionRenamed(title="x" * bus.max_payload)
    results = await asyncio.gather(
        appender.append(wrapped([long]), {}),
        appender.append(wrapped(titles(1), {}, Address("harbour", "s2")), {}),
        return_exceptions=True,
    )
    assert isinstance(results[0], TooLarge)
    assert [1] == results[1]


# Reading.


async def test_one_session_among_many_is_read_over_the_borders_of_pages(bus: Bus) -> None:
    appender = Appender(bus)
    quay = Address("harbour", "s2")
    count = READ_BATCH + 88
    for start in range(0, 2 * count, 400):
        await asyncio.gather(
            appender.append(wrapped(titles(200, start), {}, HARBOUR), {RENAMED: await _newest(bus, HARBOUR)}),
            appender.append(
                wrapped(titles(200, start), {}, quay), {quay.log(SessionRenamed.TYPE): await _newest(bus, quay)}
            ),
        )
    found = await read(bus, 0, quay.log_filter)
    assert 200 * ((2 * count + 399) // 400) == len(found)
    assert {quay.log(SessionRenamed.TYPE)} == {one.subject for one in found}
    assert sorted(one.envelope.seq for one in found) == [one.envelope.seq for one in found]
    half = found[len(found) // 2].envelope.seq
    assert [one for one in found if one.envelope.seq > half] == await read(bus, half, quay.log_filter)


async def _newest(bus: Bus, address: Address) -> int:
    return max((one.envelope.seq for one in await read(bus, 0, address.log_filter)), default=0)


async def test_exactly_one_page_is_read_once(bus: Bus) -> None:
    await Appender(bus).append(wrapped(titles(READ_BATCH)), {})
    assert READ_BATCH == len(await read(bus, 0, HARBOUR.log_filter))


async def test_nothing_is_read_behind_the_head_nor_of_an_unknown_session(bus: Bus) -> None:
    await Appender(bus).append(wrapped(titles(3)), {})
    assert [] == await read(bus, 3, HARBOUR.log_filter)
    assert [] == await read(bus, 99, HARBOUR.log_filter)
    assert [] == await read(bus, 0, Address("harbour", "s9").log_filter)


async def test_a_fact_is_found_at_its_position(bus: Bus) -> None:
    decision = wrapped(titles(2))
    await Appender(bus).append(decision, {})
    found = await LogReader(bus).at(2)
    assert found is not None
    assert (decision[1].id, decision[1].data, 2) == (found.id, found.data, found.seq)
    assert await LogReader(bus).at(3) is None


@pytest.mark.parametrize("kinds", together(UNREADABLE))
async def test_a_record_that_cannot_be_read_is_a_position_and_hides_nothing_behind_it(
    bus: Bus, kinds: Sequence[Make]
) -> None:
    count = len(kinds)
    await Appender(bus).append(wrapped(titles(2)), {})
    for make in kinds:
        poison = make(HARBOUR)
        await bus.client.publish(poison.subject, poison.data, headers=dict(poison.headers or {}))
    await bus.client.flush()
    await Appender(bus).append(wrapped(titles(2, 2), {RENAMED: 2}), {RENAMED: 2})
    found = await read(bus, 0, "log.>")
    assert [*range(1, count + 5)] == [one.envelope.seq for one in found]
    assert [*titles(2), *[None] * count, *titles(2, 2)] == [one.event for one in found]
    assert ["", "", "", ""] == [one.problem for one in found if one.event is not None]
    assert all(one.problem for one in found[2:-2])
    poisoned = range(3, count + 3)
    assert [None] * count == [await LogReader(bus).at(seq) for seq in poisoned]
    assert [1, count + 3] == sorted(await LogReader(bus).at_each([1, *poisoned, count + 3, count + 9]))


async def test_the_newest_fact_is_the_newest_that_can_be_read(bus: Bus) -> None:
    reader = LogReader(bus)
    await bus.publish(RENAMED, b"first", "broken")
    assert await reader.last(RENAMED) is None
    await Appender(bus).append(wrapped(titles(2), {RENAMED: 1}), {})
    for number in range(3):
        await bus.publish(RENAMED, b"no envelope", f"broken {number}")
    newest = await reader.last(RENAMED)
    assert newest is not None
    assert 3 == newest.seq


async def test_what_the_broker_answers_into_the_log_ends_no_reading(bus: Bus) -> None:
    """Its answers bear a status, as the end of a page does."""
    await Appender(bus).append(wrapped(titles(1)), {})
    await bus.client.publish(f"$JS.API.DIRECT.GET.{LOG.name}", b'{"seq":99}', reply=RENAMED)
    await until(lambda: _ends_at(bus, 2))
    await Appender(bus).append(wrapped(titles(1, 1), {RENAMED: 2}), {})
    assert [1, 2, 3] == [one.envelope.seq for one in await read(bus, 0, "log.>")]
    assert [1, 3] == [one.envelope.seq for one in await read(bus, 0, "log.>") if one.event is not None]
    assert await LogReader(bus).at(2) is None


async def _ends_at(bus: Bus, seq: int) -> bool:
    return await LogReader(bus).head() == seq


# What the broker refuses.


async def test_the_log_refuses_deletion_and_purge_even_of_one_who_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(launcher.PERMISSIONS, "room", {})
    server = Broker(tmp_path, port=0, max_payload=65536)
    await server.start()
    bus = await connected(server)
    try:
        await bus.ensure()
        await Appender(bus).append(wrapped(titles(2)), {})
        with pytest.raises(APIError, match="delete not permitted"):
            await bus.js.delete_msg(LOG.name, 1)
        with pytest.raises(APIError, match="purge not permitted"):
            await bus.js.purge_stream(LOG.name)
        assert titles(2) == await facts(bus)
    finally:
        await bus.close()
        server.stop()


Attempt = Callable[[Bus], Awaitable[object]]

ROOM_ATTEMPTS: dict[str, Attempt] = {
    "update": lambda bus: bus.js.update_stream(name="LOG", subjects=["log.>"], max_msgs=1),
    "purge": lambda bus: bus.js.purge_stream("LOG"),
    "delete": lambda bus: bus.js.delete_stream("LOG"),
    "delete a message": lambda bus: bus.js.delete_msg("LOG", 1),
    "delete the bodies": lambda bus: bus.js.delete_stream("OBJ_bodies"),
    "purge the inbox": lambda bus: bus.js.purge_stream("IN"),
}

HARNESS_ATTEMPTS: dict[str, Attempt] = {
    "write the log": lambda bus: bus.js.publish(HARBOUR.log("session.renamed"), b"{}"),
    "write dead letters": lambda bus: bus.js.publish("dead.tagger", b"{}"),
    "read the log": lambda bus: bus.js.get_msg("LOG", seq=1),
    "read the log directly": lambda bus: bus.js.get_msg("LOG", seq=1, direct=True),
    "follow the log": lambda bus: bus.js.subscribe("log.>"),
    "read what others say": lambda bus: bus.client.subscribe("in.>"),
    "answer in place of the desk": lambda bus: bus.client.subscribe("do.>"),
    "read the bodies": lambda bus: bus.js.get_msg("OBJ_bodies", seq=1),
    "take a room's consumer": lambda bus: bus.js.consumer_info("IN", "tagger"),
    "acknowledge for a room": lambda bus: bus.client.publish("$JS.ACK.IN.tagger.1.1.1.1.0", b"+ACK"),
}


PERSON_ATTEMPTS: dict[str, Attempt] = {
    **HARNESS_ATTEMPTS,
    "say what it saw": lambda bus: bus.js.publish(HARBOUR.inbound("pi"), b"{}"),
    "read the bodies of harnesses": lambda bus: bus.js.get_msg("OBJ_inbound", seq=1),
}


async def let_through(broker: Broker, user: str, attempts: dict[str, Attempt]) -> list[str]:
    """The attempts that the broker did not refuse. It says so aside; the call itself merely gets no answer."""
    passed = []
    for name, attempt in attempts.items():
        bus = await connected(broker, user)
        call = asyncio.ensure_future(attempt(bus))
        try:
            await asyncio.wait_for(bus.forbidden.wait(), PATIENCE)
        except TimeoutError:
            passed.append(name)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await bus.close()
    return passed


async def test_a_room_may_not_change_stored_objects(broker: Broker, bus: Bus) -> None:
    await Appender(bus).append(wrapped(titles(1)), {})
    assert [] == await let_through(broker, "room", ROOM_ATTEMPTS)
    assert titles(1) == await facts(bus)


async def test_a_harness_may_only_say_what_it_saw(broker: Broker, bus: Bus) -> None:
    await Appender(bus).append(wrapped(titles(1)), {})
    assert [] == await let_through(broker, "harness", HARNESS_ATTEMPTS)
    assert titles(1) == await facts(bus)


async def test_a_person_may_only_command_and_ask(broker: Broker, bus: Bus) -> None:
    await Appender(bus).append(wrapped(titles(1)), {})
    assert [] == await let_through(broker, "person", PERSON_ATTEMPTS)
    assert titles(1) == await facts(bus)


async def test_a_harness_may_say_what_it_saw_and_bring_long_bodies(broker: Broker, bus: Bus) -> None:
    harness = await connected(broker, "harness")
    try:
        assert 1 == await harness.publish(HARBOUR.inbound("pi"), b"{}", "m1")
        assert 1 == await harness.publish(HARBOUR.inbound("pi"), b"{}", "m1")
        reference = await Bodies(harness, INBOUND_BODIES).put("a long body")
    finally:
        await harness.close()
    assert not harness.forbidden.is_set()
    assert "a long body" == await Bodies(bus, INBOUND_BODIES).get(reference)


async def test_who_waits_for_the_loop_has_turns_while_the_log_is_read(bus: Bus) -> None:
    await Appender(bus).append(wrapped(titles(2 * READ_BATCH)), {})
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    most = 0
    async for _ in LogReader(bus).after(0, HARBOUR.log_filter):
        before, until = turns, time.thread_time() + SLICE
        while time.thread_time() < until:
            pass  # what is made of each fact takes its time
        most = max(most, turns - before)
    task.cancel()
    assert 0 == most
    assert turns >= 2 * READ_BATCH


async def test_facts_are_found_at_their_positions_and_those_that_are_none_are_left_out(bus: Bus) -> None:
    await Appender(bus).append(wrapped(titles(40)), {})
    found = await LogReader(bus).at_each([40, 3, 3, 99, *range(10, 30)])
    assert [3, *range(10, 30), 40] == list(found)
    assert all(seq == envelope.seq for seq, envelope in found.items())
    assert {} == await LogReader(bus).at_each([])


async def test_what_is_expected_of_a_subject_is_expected_once_however_many_events_come_before_it(bus: Bus) -> None:
    events: list[Event] = [SessionRenamed(title="a"), SessionRenamed(title="b"), SessionIdled()]
    expected: dict[str, int] = {}
    for _ in range(2):
        seqs = await Appender(bus).append(wrapped(events, expected), expected)
        expected = {HARBOUR.log(event.TYPE): seq for event, seq in zip(events, seqs, strict=True)}
    assert events * 2 == await facts(bus)


async def test_what_is_written_while_the_log_is_looked_at_makes_no_other_log_of_it(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A room writes and reads on while it looks: what it knows then is more than the end that it was sent."""
    await bus.ensure()
    look = layout.log
    await Appender(bus).append(wrapped(titles(1)), {})

    async def looked(js: JetStreamContext) -> Log:
        found = await look(js)
        await Appender(bus).append(wrapped(titles(1, 1)), {})
        return found

    monkeypatch.setattr(layout, "log", looked)
    assert not await bus.has_another_log()
