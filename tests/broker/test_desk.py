"""The desk over request and reply: every wish is answered, and what is granted is written once."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from schemas.codec import decode_envelope, encode
from schemas.commands import Answer, Command, DropQueue, FlushRequest, Wish
from schemas.envelope import Actor
from schemas.events import DropRequested, FlushRequested, NativeCompacted, TagAssigned
from schemas.streams import LOG
from schemas.subjects import Address
from services.desk.worker import Desk
from services.kit.bus import Appender, Bus, LogReader, Unreachable
from services.kit.retry import patiently
from services.launcher.broker import Broker
from tests.broker.waiting import until
from tests.broker.world import HARBOUR, NOON, connected, facts, kit_of, opened, stored, told, wrapped

pytestmark = pytest.mark.broker

AGENT = Actor("agent", "build")
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
TAGS = 30


@pytest.fixture
async def desk(bus: Bus) -> AsyncIterator[Bus]:
    """A connection beside an open desk and a session with 30 tags."""
    await with_tags(bus)
    async with opened(Desk(), bus, told()):
        yield bus


async def with_tags(bus: Bus) -> None:
    names = [f"p{number}" for number in range(TAGS)]
    given = TagAssigned(first=1, parts=names, messages=["m1"] * TAGS, kinds=["message"] * TAGS)
    await Appender(bus).append(wrapped([given]), {})


async def ask(bus: Bus, data: bytes, command: str = DropQueue.TYPE) -> Answer:
    return msgspec.json.decode(await bus.request(HARBOUR.wish(command), data, 10), type=Answer)


async def wish(bus: Bus, command: Command, name: str = "w1", address: Address = HARBOUR) -> Answer:
    data = encode(Wish(name, NOON, AGENT, msgspec.Raw(encode(command))))
    return msgspec.json.decode(await bus.request(address.wish(command.TYPE), data, 10), type=Answer)


async def drops(bus: Bus) -> list[list[int]]:
    return [event.tags for event in await facts(bus) if isinstance(event, DropRequested)]


async def test_a_granted_wish_is_answered_with_its_position_in_the_log(desk: Bus) -> None:
    assert Answer(ok=True, text="Queued to be dropped: 3-5, 8.", seq=2) == await wish(desk, DropQueue("3-5,8"))
    envelope = await LogReader(desk).at(2)
    assert envelope is not None
    assert ("drop.requested", AGENT, NOON, "w1") == (envelope.type, envelope.actor, envelope.at, envelope.cause)
    assert [[3, 4, 5, 8]] == await drops(desk)


async def test_a_wish_to_apply_what_waits_is_written_down(desk: Bus) -> None:
    answer = await wish(desk, FlushRequest("now"))
    assert (True, 2) == (answer.ok, answer.seq)
    assert FlushRequested(reason="now") == (await facts(desk))[-1]


@pytest.mark.parametrize(
    ("drop", "said"),
    [
        ("", "Nothing was queued: nothing is named: give tag numbers such as"),
        ("three", "Nothing was queued: 'three' is no tag number and no range"),
        ("5-3", "Nothing was queued: the range '5-3' runs backwards"),
        ("29-31", "Nothing was queued: there is no tag 31 in this session."),
        ("9" * 5000, "Nothing was queued: "),
    ],
)
async def test_a_wish_that_cannot_be_granted_is_answered_with_a_sentence(desk: Bus, drop: str, said: str) -> None:
    answer = await wish(desk, DropQueue(drop))
    assert (False, 0) == (answer.ok, answer.seq)
    assert answer.text.startswith(said)
    assert len(answer.text) < 500
    assert [] == await drops(desk)


async def test_tags_that_the_harness_summarised_are_refused(desk: Bus) -> None:
    await Appender(desk).append(wrapped([NativeCompacted(last_tag=4)]), {})
    answer = await wish(desk, DropQueue("3-5"))
    assert not answer.ok
    assert answer.text.startswith("Nothing was queued: 3-4 was summarised by the harness before")


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
async def test_a_wish_that_cannot_be_read_is_answered_with_what_would_be_right(desk: Bus, kind: str) -> None:
    answer = await ask(desk, UNREADABLE[kind])
    assert (False, 0) == (answer.ok, answer.seq)
    assert answer.text.startswith("This wish cannot be read: ")
    assert answer.text.endswith(". See commands.schema.json.")
    assert [] == await drops(desk)


async def test_an_unknown_command_is_answered_with_the_known_ones(desk: Bus) -> None:
    answer = await ask(desk, encode(Wish("w1", NOON, AGENT, msgspec.Raw(b"{}"))), "tea.make")
    assert not answer.ok
    assert "'tea.make' is not one of drop.queue, flush.request" in answer.text


async def test_a_subject_that_is_no_wish_is_answered(desk: Bus) -> None:
    answer = msgspec.json.decode(await desk.request("do.harbour", b"{}", 5), type=Answer)
    assert "'do.harbour' is not do.<project>.<session>.<noun>.<verb>" in answer.text


@pytest.mark.parametrize("round_", range(3))
async def test_of_many_wishes_at_once_for_the_same_tags_one_is_written(desk: Bus, round_: int) -> None:
    answers = await asyncio.gather(*(wish(desk, DropQueue("3-5"), f"w{round_}{number}") for number in range(6)))
    assert [True] * 6 == [answer.ok for answer in answers]
    assert [2] == [answer.seq for answer in answers if answer.seq]
    assert [[3, 4, 5]] == await drops(desk)


async def test_two_desks_write_the_same_tags_once(broker: Broker, desk: Bus) -> None:
    other = await connected(broker)
    try:
        async with opened(Desk(), other, told()):
            answers = await asyncio.gather(
                *(wish(desk, DropQueue(f"{number % 5 + 1}-6"), f"w{number}") for number in range(20))
            )
    finally:
        await other.close()
    assert {True} == {answer.ok for answer in answers}
    tags = [tag for drop in await drops(desk) for tag in drop]
    assert [1, 2, 3, 4, 5, 6] == sorted(tags)


async def test_a_repeated_wish_changes_nothing(desk: Bus) -> None:
    await wish(desk, DropQueue("3-5"))
    again = await wish(desk, DropQueue("3-5"))
    assert Answer(ok=True, text="Nothing to do: 3-5 was queued or dropped before.", seq=0) == again
    assert [[3, 4, 5]] == await drops(desk)


async def test_sessions_do_not_see_each_others_tags(desk: Bus) -> None:
    answer = await wish(desk, DropQueue("3"), address=Address("harbour", "s2"))
    assert "there is no tag 3 in this session" in answer.text


async def test_a_desk_that_was_restarted_knows_what_was_granted(broker: Broker, bus: Bus) -> None:
    await with_tags(bus)
    for expected in ("Queued to be dropped: 3.", "Nothing to do: 3 was queued or dropped before."):
        connection = await connected(broker)
        async with opened(Desk(), connection, told()):
            assert expected == (await patient_wish(bus, DropQueue("3"))).text
        await connection.close()
    assert [[3]] == await drops(bus)


async def patient_wish(bus: Bus, command: Command) -> Answer:
    """Wish until someone hears it: for a moment the broker may still think of the desk that has left."""
    async for attempt in patiently(Unreachable, seconds=5):
        with attempt:
            return await wish(bus, command)
    raise AssertionError("patience ends with the last error")


async def test_a_wish_that_is_too_long_to_be_written_is_answered(desk: Bus) -> None:
    answer = await wish(desk, FlushRequest("x" * (desk.max_payload - 300)))
    assert not answer.ok
    assert answer.text.startswith("Nothing was written: TooLarge: a flush.requested of ")


async def test_a_wish_whose_handling_breaks_is_answered(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by no tags")

    monkeypatch.setattr("services.desk.worker.decide", broken)
    async with opened(Desk(), bus, told()):
        answer = await wish(bus, DropQueue("3"))
    assert Answer(ok=False, text="Nothing was written: ZeroDivisionError: by no tags.") == answer


async def test_without_a_desk_a_wish_fails_at_once(bus: Bus) -> None:
    with pytest.raises(Unreachable, match="nobody serves do"):
        await wish(bus, DropQueue("3"))


async def test_the_desk_answers_again_after_a_restart_of_the_broker(broker: Broker, desk: Bus) -> None:
    await wish(desk, DropQueue("3"))
    broker.stop()
    await until(lambda: not desk.connected)
    await broker.start()
    await until(lambda: desk.connected)
    assert Answer(ok=True, text="Queued to be dropped: 4.", seq=3) == await wish(desk, DropQueue("4"), "w2")


async def test_a_wish_in_hand_is_answered_before_the_desk_hangs_up(broker: Broker, bus: Bus) -> None:
    connection = await connected(broker)
    entered, may_go = asyncio.Event(), asyncio.Event()

    async def slowly(_subject: str, data: bytes) -> bytes:
        entered.set()
        await may_go.wait()
        return data

    async with kit_of("slow", connection, told()):
        await connection.serve("do.>", "slow", slowly)
        await connection.client.flush()
        answer = asyncio.create_task(bus.request("do.x", b"a wish", 5))
        await entered.wait()
        closing = asyncio.create_task(connection.close())
        await until(lambda: _is_gone(bus))
        may_go.set()
        assert b"a wish" == await answer
        await closing


async def _is_gone(bus: Bus) -> bool:
    """Whether nobody takes new requests any more."""
    try:
        await bus.request("do.y", b"", 0.05)
    except Unreachable as error:
        return "nobody serves" in str(error)
    return False


async def test_a_secret_in_a_wish_is_masked_before_it_is_written(desk: Bus) -> None:
    await wish(desk, FlushRequest(f"token={SECRET}"))
    kept = [one.data for one in await stored(desk, LOG.name)]
    assert "flush.requested" == decode_envelope(kept[-1]).type
    assert [] == [data for data in kept if SECRET.encode() in data]
    assert b"[masked:" in kept[-1]
