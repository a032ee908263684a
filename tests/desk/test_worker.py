"""The desk over request and reply: every command is answered, and what is granted is written once."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
from msgspec.structs import replace

from schemas.codec import decode_envelope, encode
from schemas.commands import Answer, Command, CommandMessage, DropQueue, FlushRequest, HistoryOrder
from schemas.envelope import Actor
from schemas.events import (
    DropRequested,
    FlushRequested,
    HistoryOrdered,
    MessageRemoved,
    NativeCompacted,
    StepOpened,
    TagAssigned,
)
from schemas.streams import LOG
from schemas.subjects import Address
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, Conflict, LogReader, Unconfirmed, Unreachable
from services.kit.retry import retrying
from tests.helpers.broker_world import HARBOUR, NOON, connected, facts, kit_of, opened, quick_settings, stored, wrapped
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

AGENT = Actor("agent", "build")
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
TAGS = 30


@pytest.fixture
async def desk(bus: Bus) -> AsyncIterator[Bus]:
    """A connection to an open desk and a session with 30 tags."""
    await with_tags(bus)
    async with opened(Desk(), bus, quick_settings()):
        yield bus


async def with_tags(bus: Bus) -> None:
    names = [f"p{number}" for number in range(TAGS)]
    given = TagAssigned(first=1, parts=names, messages=["m1"] * TAGS, kinds=["message"] * TAGS)
    await Appender(bus).append(wrapped([given]), {})


async def ask(bus: Bus, data: bytes, command: str = DropQueue.TYPE) -> Answer:
    return msgspec.json.decode(await bus.request(HARBOUR.command(command), data, PATIENCE), type=Answer)


async def send(bus: Bus, command: Command, name: str = "w1", address: Address = HARBOUR) -> Answer:
    data = encode(CommandMessage(name, NOON, AGENT, msgspec.Raw(encode(command))))
    return msgspec.json.decode(await bus.request(address.command(command.TYPE), data, PATIENCE), type=Answer)


async def drops(bus: Bus) -> list[list[int]]:
    return [event.tags for event in await facts(bus) if isinstance(event, DropRequested)]


async def test_a_granted_command_is_answered_with_its_position_in_the_log(desk: Bus) -> None:
    assert Answer(ok=True, text="Queued to be dropped: 3-5, 8.", seq=2) == await send(desk, DropQueue("3-5,8"))
    envelope = await LogReader(desk).at(2)
    assert envelope is not None
    assert ("drop.requested", AGENT, NOON, "w1") == (envelope.type, envelope.actor, envelope.at, envelope.cause)
    assert [[3, 4, 5, 8]] == await drops(desk)


async def test_a_command_to_apply_what_waits_is_written_down(desk: Bus) -> None:
    answer = await send(desk, FlushRequest("now"))
    assert (True, 2) == (answer.ok, answer.seq)
    assert FlushRequested(reason="now") == (await facts(desk))[-1]


@pytest.mark.parametrize(
    ("drop", "expected"),
    [
        ("", "Nothing was queued: nothing is named: give tag numbers such as"),
        ("three", "Nothing was queued: 'three' is no tag number and no range"),
        ("5-3", "Nothing was queued: the range '5-3' runs backwards"),
        ("29-31", "Nothing was queued: there is no tag 31 in this session."),
        ("9" * 5000, "Nothing was queued: "),
    ],
)
async def test_a_command_that_cannot_be_granted_is_answered_with_a_sentence(
    desk: Bus, drop: str, expected: str
) -> None:
    answer = await send(desk, DropQueue(drop))
    assert (False, 0) == (answer.ok, answer.seq)
    assert answer.text.startswith(expected)
    assert len(answer.text) < 500
    assert [] == await drops(desk)


async def test_tags_that_the_harness_lists_no_more_are_refused(desk: Bus) -> None:
    summarised = [NativeCompacted(last_tag=TAGS), MessageRemoved(messages=["m1"], reason="unlisted")]
    await Appender(desk).append(wrapped(summarised), {})
    answer = await send(desk, DropQueue("3-5"))
    assert not answer.ok
    assert answer.text.startswith("Nothing was queued: 3-5 is not in the prompt any more")


def nested(depth: int) -> bytes:
    return (
        b'{"id":"w","at":"2026-03-07T12:00:00Z","actor":{"kind":"agent"},"data":' + b"[" * depth + b"]" * depth + b"}"
    )


UNREADABLE = {
    "no JSON": b"drop 3-5, please",
    "empty": b"",
    "not UTF-8": b'{"id":"\xff\xfe","at":"2026-03-07T12:00:00Z","actor":{"kind":"agent"},"data":{}}',
    "a command not UTF-8": b'{"id":"w","at":"2026-03-07T12:00:00Z","actor":{"kind":"agent"},"data":{"drop":"\xff"}}',
    "a naive time": b'{"id":"w","at":"2026-03-07T12:00:00","actor":{"kind":"agent"},"data":{}}',
    "an unknown actor": b'{"id":"w","at":"2026-03-07T12:00:00Z","actor":{"kind":"robot"},"data":{}}',
    "no command": b'{"id":"w","at":"2026-03-07T12:00:00Z","actor":{"kind":"agent"}}',
    "a wrong type": b'{"id":"w","at":"2026-03-07T12:00:00Z","actor":{"kind":"agent"},"data":{"drop":35}}',
    "nested without end": nested(100_000),
}


@pytest.mark.parametrize("kind", UNREADABLE)
async def test_a_command_that_cannot_be_read_is_answered_with_what_would_be_right(desk: Bus, kind: str) -> None:
    answer = await ask(desk, UNREADABLE[kind])
    assert (False, 0) == (answer.ok, answer.seq)
    assert answer.text.startswith("This command cannot be read: ")
    assert answer.text.endswith(". Send it again as it must be.")
    assert [] == await drops(desk)


async def test_an_unknown_command_is_answered_with_the_known_ones(desk: Bus) -> None:
    answer = await ask(desk, encode(CommandMessage("w1", NOON, AGENT, msgspec.Raw(b"{}"))), "tea.make")
    assert not answer.ok
    assert "there is no command 'tea.make', only " in answer.text


async def test_a_subject_that_is_no_command_is_answered(desk: Bus) -> None:
    answer = msgspec.json.decode(await desk.request("do.harbour", b"{}", PATIENCE), type=Answer)
    assert "'do.harbour' is not do.<project>.<session>.<noun>.<verb>" in answer.text


@pytest.mark.parametrize("round_", range(3))
async def test_of_many_commands_at_once_for_the_same_tags_one_is_written(desk: Bus, round_: int) -> None:
    answers = await asyncio.gather(*(send(desk, DropQueue("3-5"), f"w{round_}{number}") for number in range(6)))
    assert [True] * 6 == [answer.ok for answer in answers]
    assert [2] == [answer.seq for answer in answers if answer.seq]
    assert [[3, 4, 5]] == await drops(desk)


async def test_two_desks_write_the_same_tags_once(broker: Broker, desk: Bus) -> None:
    other = await connected(broker)
    try:
        async with opened(Desk(), other, quick_settings()):
            answers = await asyncio.gather(
                *(send(desk, DropQueue(f"{number % 5 + 1}-6"), f"w{number}") for number in range(240))
            )
    finally:
        await other.close()
    assert {True} == {answer.ok for answer in answers}
    tags = [tag for drop in await drops(desk) for tag in drop]
    assert [1, 2, 3, 4, 5, 6] == sorted(tags)


async def test_two_desks_that_write_to_one_session_all_the_time_answer_each_sender(broker: Broker, desk: Bus) -> None:
    other = await connected(broker)
    try:
        async with opened(Desk(), other, quick_settings()):
            answers = await asyncio.gather(*(send(desk, HistoryOrder(), f"w{number}") for number in range(240)))
    finally:
        await other.close()
    assert {True} == {answer.ok for answer in answers}
    assert list(range(2, 242)) == sorted(answer.seq for answer in answers)


async def test_a_repeated_command_is_one_command_and_gets_the_first_answer(desk: Bus) -> None:
    """Also where it would mean something else by now, and whether it was written or is being written."""
    first = await send(desk, FlushRequest("now"))
    assert (first.ok, first.seq) == (True, 2)
    assert first == await send(desk, FlushRequest("now"))
    answers = await asyncio.gather(*(send(desk, DropQueue("3-5"), "w2") for _ in range(6)))
    assert [Answer(ok=True, text="Queued to be dropped: 3-5.", seq=3)] * 6 == answers
    assert [[3, 4, 5]] == await drops(desk)
    assert [FlushRequested(reason="now")] == [one for one in await facts(desk) if isinstance(one, FlushRequested)]


async def test_a_repeated_command_is_one_command_at_another_desk_too(broker: Broker, bus: Bus) -> None:
    """With the words of the first one, which by then would read differently."""
    await with_tags(bus)
    for step in (StepOpened(step="s1", last=1), None):
        connection = await connected(broker)
        async with opened(Desk(), connection, quick_settings()):
            answer = await patient_send(bus, HistoryOrder(), "w1")
        await connection.close()
        assert (True, 2) == (answer.ok, answer.seq)
        assert "after the first model call of this session" in answer.text
        if step:
            await Appender(bus).append(wrapped([step]), {})
    assert [TagAssigned, HistoryOrdered, StepOpened] == [type(event) for event in await facts(bus)]


async def test_a_repeated_command_that_an_older_release_has_written_is_answered(desk: Bus) -> None:
    (written,) = wrapped([FlushRequested()])
    await Appender(desk).append([replace(written, cause="w1")], {})
    assert Answer(ok=True, text="This was decided before; nothing more was written.", seq=2) == await send(
        desk, FlushRequest()
    )


async def test_the_same_drop_in_another_command_changes_nothing(desk: Bus) -> None:
    await send(desk, DropQueue("3-5"))
    again = await send(desk, DropQueue("3-5"), "w2")
    assert Answer(ok=True, text="Nothing to do: 3-5 was queued or dropped before.", seq=0) == again
    assert [[3, 4, 5]] == await drops(desk)


async def test_sessions_do_not_see_each_others_tags(desk: Bus) -> None:
    answer = await send(desk, DropQueue("3"), address=Address("harbour", "s2"))
    assert "there is no tag 3 in this session" in answer.text


async def test_a_desk_that_was_restarted_knows_what_was_granted(broker: Broker, bus: Bus) -> None:
    await with_tags(bus)
    for expected in ("Queued to be dropped: 3.", "Nothing to do: 3 was queued or dropped before."):
        connection = await connected(broker)
        async with opened(Desk(), connection, quick_settings()):
            assert expected == (await patient_send(bus, DropQueue("3"), expected)).text
        await connection.close()
    assert [[3]] == await drops(bus)


async def patient_send(bus: Bus, command: Command, name: str) -> Answer:
    """Send it until someone takes it: for a moment the broker may still think of the desk that has left."""
    async for attempt in retrying(Unreachable, seconds=PATIENCE):
        with attempt:
            return await send(bus, command, name)
    raise AssertionError("patience ends with the last error")


async def test_a_command_that_is_too_long_to_be_written_is_answered(desk: Bus) -> None:
    answer = await send(desk, FlushRequest("x" * (desk.max_payload - 300)))
    assert not answer.ok
    assert answer.text.startswith("Nothing was written: a flush.requested of ")


async def test_what_was_written_without_a_confirmation_is_not_reported_as_missing_and_is_written_once(
    desk: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Appender._request  # noqa: SLF001 - what is lost is the broker's confirmation

    async def unconfirmed(self: Appender, *given: object) -> None:
        await request(self, *given)  # type: ignore[arg-type] # whatever it takes
        raise Unconfirmed("the broker has not confirmed it")

    with monkeypatch.context() as patch:
        patch.setattr(Appender, "_request", unconfirmed)
        first = await send(desk, DropQueue("3"))
    assert (False, True) == (first.ok, first.again)
    assert first.text.startswith("It is not known whether this was written: ")
    written = await desk.messages(LOG.name)
    assert (True, "Queued to be dropped: 3.") == ((again := await send(desk, DropQueue("3"))).ok, again.text)
    assert written == await desk.messages(LOG.name)


async def test_a_command_that_lost_to_other_writers_may_be_sent_again(
    desk: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def conflict(*_: object) -> None:
        raise Conflict("another position")

    with monkeypatch.context() as patch:
        patch.setattr(Appender, "_request", conflict)
        first = await send(desk, DropQueue("3"))
    assert (False, True) == (first.ok, first.again)
    assert "others wrote to this place again and again" in first.text
    assert (await send(desk, DropQueue("3"))).ok


async def test_a_command_whose_handling_breaks_is_answered(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by no tags")

    monkeypatch.setattr("services.desk.worker.decide", broken)
    async with opened(Desk(), bus, quick_settings()):
        answer = await send(bus, DropQueue("3"))
    assert not answer.ok
    assert answer.text.startswith("Nothing was written: the desk failed at this command.")
    assert "ZeroDivisionError" not in answer.text


async def test_without_a_desk_a_command_fails_at_once(bus: Bus) -> None:
    with pytest.raises(Unreachable, match="nobody serves do"):
        await send(bus, DropQueue("3"))


@pytest.mark.own_broker
async def test_the_desk_answers_again_after_a_restart_of_the_broker(broker: Broker, desk: Bus) -> None:
    await send(desk, DropQueue("3"))
    broker.stop()
    await until(lambda: not desk.connected)
    await broker.start()
    await until(lambda: desk.connected)
    assert Answer(ok=True, text="Queued to be dropped: 4.", seq=3) == await send(desk, DropQueue("4"), "w2")


async def test_a_command_in_hand_is_answered_before_the_desk_hangs_up(broker: Broker, bus: Bus) -> None:
    connection = await connected(broker)
    entered, may_go = asyncio.Event(), asyncio.Event()

    async def slowly(_subject: str, data: bytes) -> bytes:
        entered.set()
        await may_go.wait()
        return data

    async with kit_of("slow", connection, quick_settings()):
        await connection.serve("do.>", "slow", slowly)
        await connection.client.flush()
        answer = asyncio.create_task(bus.request("do.x", b"a command", PATIENCE))
        await entered.wait()
        closing = asyncio.create_task(connection.close())
        await until(lambda: _is_gone(bus))
        may_go.set()
        assert b"a command" == await answer
        await closing


async def _is_gone(bus: Bus) -> bool:
    """Whether nobody takes new requests any more."""
    try:
        await bus.request("do.y", b"", 0.05)
    except Unreachable as error:
        return "nobody serves" in str(error)
    return False


async def test_a_secret_in_a_command_is_masked_before_it_is_written(desk: Bus) -> None:
    await send(desk, FlushRequest(f"token={SECRET}"))
    log = [one.data for one in await stored(desk, LOG.name)]
    assert "flush.requested" == decode_envelope(log[-1]).type
    assert [] == [data for data in log if SECRET.encode() in data]
    assert b"[masked:" in log[-1]
