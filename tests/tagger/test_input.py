"""What a harness may send to the tagger: anything. It becomes facts, or a dead letter that says why."""

import hashlib
import json
from collections.abc import AsyncIterator

import msgspec
import pytest
from nats.js.api import Header

from schemas.codec import encode
from schemas.events import (
    Event,
    MessageRecorded,
    OverflowDetected,
    PartRecorded,
    ProjectIdentified,
    SessionClosed,
    SessionOpened,
    SessionRenamed,
    StepOpened,
    TagAssigned,
    ToolRan,
)
from schemas.inbox import (
    ErrorSeen,
    Inbound,
    Listed,
    MessageSeen,
    PartSeen,
    Seen,
    SessionSeen,
    StepSeen,
)
from schemas.inbox import (
    SessionClosed as SessionEnded,
)
from schemas.streams import BODIES, DEAD, IN, INBOUND_BODIES, MAX_BODY_BYTES
from services.kit.bus import Bodies, Bus, TooLarge, bodies
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, NOON, facts, opened, quick_settings, stored
from tests.helpers.reported_secrets import SECRET, holding_the_secret
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

SUBJECT = HARBOUR.inbound("pi")
HEAD = b'{"id":"bad","at":"2026-03-07T12:00:00Z",'


@pytest.fixture
async def tagger(bus: Bus) -> AsyncIterator[Tagger]:
    room = Tagger()
    async with opened(room, bus, quick_settings()):
        yield room


async def see(bus: Bus, name: str, *items: Seen) -> None:
    await bus.publish(SUBJECT, encode(Inbound(name, NOON, items)), name)


async def worked(bus: Bus, tagger: Tagger) -> list[Event]:
    """The facts, once nothing waits. A good message at the end shows that the consumer goes on."""
    await see(bus, "last", SessionSeen(title="still at work"))
    await until(tagger.idle)
    found = await facts(bus, HARBOUR)
    (last,) = [event for event in found if isinstance(event, SessionOpened | SessionRenamed)][-1:]
    assert "still at work" == last.title
    return [event for event in found if event is not last]


async def reasons(bus: Bus) -> list[str]:
    return [dead.headers["Annals-Reason"] for dead in await stored(bus, DEAD.name)]


def text(message: str, items: str, part: str = "") -> MessageSeen:
    return MessageSeen(message, "user", parts=(PartSeen(message, "text", part or f"{message}p", text=items),))


# What cannot be read.

UNREADABLE: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"hello", "not an inbound message: JSON is malformed"),
    "nothing": (b"", "not an inbound message: Input data was truncated"),
    "half a message": (HEAD + b'"items":[{"kind":"sess', "not an inbound message: Input data was truncated"),
    "no object": (b"[1,2]", "Expected `object`, got `array`"),
    "no items": (HEAD[:-1] + b"}", "missing required field `items`"),
    "a wrong type": (HEAD + b'"items":[{"kind":"session.seen","title":7}]}', "Expected `str`, got `int` - at `$.items"),
    "an unknown kind": (HEAD + b'"items":[{"kind":"tea.made"}]}', "Invalid value 'tea.made'"),
    "an unknown role": (HEAD + b'"items":[{"kind":"message.seen","message":"m","role":"cook"}]}', "Invalid enum value"),
    "an unknown version": (HEAD + b'"v":9,"items":[]}', "of version 9: this service reads version 1"),
    "a number out of range": (
        HEAD + b'"items":[{"kind":"usage.seen","message":"m","input":9007199254740992}]}',
        "Expected `int` <= 9007199254740991",
    ),
    "an amount out of range": (
        HEAD + b'"items":[{"kind":"usage.seen","message":"m","input":1,"cost":1e300}]}',
        "Expected `float` <= 1000000000000000.0",
    ),
    "a naive time": (b'{"id":"bad","at":"2026-03-07T12:00:00","items":[]}', "Expected `datetime` with a timezone"),
    "no UTF-8": (HEAD + b'"items":[{"kind":"session.seen","title":"\xff\xfe"}]}', "not an inbound message: "),
    "nested without end": (HEAD + b'"x":' + b"[" * 100_000 + b"]" * 100_000 + b',"items":[]}', "recursion"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
async def test_what_cannot_be_read_becomes_a_dead_letter_with_a_reason(bus: Bus, tagger: Tagger, kind: str) -> None:
    data, items = UNREADABLE[kind]
    await see(bus, "first", SessionSeen(title="a session"))
    await bus.publish(SUBJECT, data, "bad")
    assert 1 == len(await worked(bus, tagger))
    (dead,) = await stored(bus, DEAD.name)
    assert items in dead.headers["Annals-Reason"]
    assert (data, SUBJECT, "2") == (dead.data, dead.headers["Annals-Subject"], dead.headers["Annals-Sequence"])


async def test_half_a_character_costs_that_character_and_not_the_message(bus: Bus, tagger: Tagger) -> None:
    part = (
        rb'{"kind":"part.seen","message":"m","type":"tool","part":"p","call":"c","tool":"bash","status":"completed",'
        rb'"input":"{\"command\":\"echo \\ud83d\"}","output":"a \ud83d"}'
    )
    await bus.publish(SUBJECT, HEAD.replace(b"bad", b"half") + b'"items":[%b]}' % part, "half")
    found = await worked(bus, tagger)
    (recorded,) = [event for event in found if isinstance(event, PartRecorded)]
    (ran,) = [event for event in found if isinstance(event, ToolRan)]
    assert ("a \ufffd", len("a \ufffd".encode())) == (recorded.output, recorded.bytes)
    assert r'{"command":"echo \ufffd"}' == recorded.input
    assert "echo \ufffd" == ran.target
    assert [] == await stored(bus, DEAD.name)


async def test_half_a_character_in_long_arguments_is_replaced_as_well(bus: Bus, tagger: Tagger) -> None:
    arguments = json.dumps({"command": "echo \ud83d" + "x" * MAX_BODY_BYTES})
    reference = await Bodies(bus, INBOUND_BODIES).put(arguments)
    await see(bus, "long", PartSeen("m", "tool", "p", tool="bash", status="completed", input_ref=reference))
    (recorded,) = [event for event in await worked(bus, tagger) if isinstance(event, PartRecorded)]
    assert arguments.replace(r"\ud83d", r"\ufffd") == await Bodies(bus, BODIES).get(recorded.input_ref)


async def test_a_subject_that_names_no_session_becomes_a_dead_letter(bus: Bus, tagger: Tagger) -> None:
    await bus.publish("in.pi.harbour", encode(Inbound("bad", NOON, ())), "bad")
    assert [] == await worked(bus, tagger)
    assert ["'in.pi.harbour' is not in.<harness>.<project>.<session>"] == await reasons(bus)


@pytest.mark.parametrize("size", [0, 1, 1024 * 1024])
async def test_a_message_above_the_brokers_limit_is_not_sent(bus: Bus, tagger: Tagger, size: int) -> None:
    with pytest.raises(TooLarge, match="send long bodies through the bucket of inbound bodies, or in pieces"):
        await bus.publish(SUBJECT, b"x" * (bus.max_payload + size), "long")
    assert 0 == await bus.messages(IN.name)
    assert bus.connected
    assert [] == await worked(bus, tagger)


async def test_a_message_of_nearly_the_brokers_limit_that_cannot_be_read_is_stored(bus: Bus, tagger: Tagger) -> None:
    """With the headers of a dead letter it would be too large: its beginning is stored."""
    data = b"x" * (bus.max_payload - 50)
    await bus.publish(SUBJECT, data, "long")
    assert [] == await worked(bus, tagger)
    (dead,) = await stored(bus, DEAD.name)
    assert str(len(data)) == dead.headers["Annals-Bytes"]
    assert data.startswith(dead.data)
    assert len(dead.data) > len(data) - 1000


# Long bodies.


async def test_a_reference_to_a_body_that_does_not_exist_becomes_a_dead_letter(bus: Bus, tagger: Tagger) -> None:
    await see(bus, "bad", PartSeen("m1", "text", "p1", text_ref="feed"))
    assert [] == await worked(bus, tagger)
    assert ["the bucket inbound has no body feed; it may have expired"] == await reasons(bus)


async def test_a_body_that_is_no_text_becomes_a_dead_letter(bus: Bus, tagger: Tagger) -> None:
    store = await bus.js.object_store(INBOUND_BODIES.name)
    await store.put("feed", b"\xff\xfe")
    await see(bus, "bad", PartSeen("m1", "text", "p1", text_ref="feed"))
    assert [] == await worked(bus, tagger)
    ((reason),) = await reasons(bus)
    assert reason.startswith("the body feed in the bucket inbound is spoilt: 'utf-8' codec can't decode byte 0xff")


async def test_a_body_whose_digest_is_wrong_becomes_a_dead_letter(bus: Bus, tagger: Tagger) -> None:
    store = await bus.js.object_store(INBOUND_BODIES.name)
    info = await store.put("feed", b"a body")
    other = await store.put("other", b"another body")
    meta = (await bus.js.get_last_msg("OBJ_inbound", f"$O.inbound.M.{_b64('feed')}")).data or b""
    await bus.js.publish(
        f"$O.inbound.M.{_b64('feed')}",
        meta.replace(str(info.nuid).encode(), str(other.nuid).encode()),
        headers={Header.ROLLUP.value: "sub"},
    )
    await see(bus, "bad", PartSeen("m1", "text", "p1", text_ref="feed"))
    assert [] == await worked(bus, tagger)
    assert ["the body feed in the bucket inbound is spoilt: "] == [reason[:47] for reason in await reasons(bus)]


def _b64(name: str) -> str:
    return msgspec.json.encode(name.encode()).decode().strip('"').replace("+", "-").replace("/", "_")


async def test_a_body_whose_pieces_are_gone_becomes_a_dead_letter(
    bus: Bus, tagger: Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.1)
    store = await bus.js.object_store(INBOUND_BODIES.name)
    info = await store.put("feed", b"a body")
    await bus.js.purge_stream("OBJ_inbound", subject=f"$O.inbound.C.{info.nuid}")
    await see(bus, "bad", PartSeen("m1", "text", "p1", text_ref="feed"))
    assert [] == await worked(bus, tagger)
    assert ["failed 3 times: TimeoutError: the body feed did not come within 0.1 s"] == await reasons(bus)


async def test_a_text_of_three_megabytes_is_masked_and_referred_to(bus: Bus, tagger: Tagger) -> None:
    line = "a line of the harbour's log\n"
    long = line * 55_000 + f"token={SECRET}\n" + line * 55_000
    reference = await Bodies(bus, INBOUND_BODIES).put(long)
    await see(bus, "long", PartSeen("m1", "text", "p1", text_ref=reference))
    (part,) = [event for event in await worked(bus, tagger) if isinstance(event, PartRecorded)]
    masked = await Bodies(bus, BODIES).get(part.text_ref)
    assert long.replace(SECRET, "[masked:github-token]") == masked
    assert ("", hashlib.sha256(masked.encode()).hexdigest()) == (part.text, part.text_ref)
    assert len(masked.encode()) == part.bytes
    assert [] == await holding_the_secret(bus)


@pytest.mark.parametrize(
    ("items", "referred"),
    [
        ("x" * (MAX_BODY_BYTES - 2), False),
        ("x" * (MAX_BODY_BYTES + 1), True),
        ("\x1b" * (MAX_BODY_BYTES // 5), True),
        ("é" * (MAX_BODY_BYTES // 2 + 1), True),
    ],
)
async def test_a_body_is_stored_apart_from_the_log_where_it_is_long_as_json(
    bus: Bus,
    tagger: Tagger,
    items: str,
    referred: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    """Three of them must fit into one fact, whatever they are made of."""
    reference = await Bodies(bus, INBOUND_BODIES).put(items)
    tool = PartSeen("m1", "tool", "p1", tool="bash", call="c1", status="completed")
    long = msgspec.structs.replace(tool, text_ref=reference, input_ref=reference, output_ref=reference)
    await see(bus, "long", long)
    (part,) = [event for event in await worked(bus, tagger) if isinstance(event, PartRecorded)]
    expected = ("", reference) if referred else (items, "")
    assert expected == (part.text, part.text_ref)
    assert expected == (part.input, part.input_ref)
    assert expected == (part.output, part.output_ref)
    assert [] == await reasons(bus)


# Order and repetition.


async def test_parts_may_come_before_their_message(bus: Bus, tagger: Tagger) -> None:
    await see(bus, "1", PartSeen("m1", "text", "p1", text="first"))
    await see(bus, "2", StepSeen("t1", messages=(Listed("m1"),), count=1))
    await see(bus, "3", MessageSeen("m1", "user"))
    found = await worked(bus, tagger)
    assert ["p1"] == [event.part for event in found if isinstance(event, PartRecorded)]
    assert ["m1"] == [event.message for event in found if isinstance(event, MessageRecorded)]
    assert [["p1"]] == [event.parts for event in found if isinstance(event, TagAssigned)]
    assert [] == await reasons(bus)


async def test_steps_may_come_in_any_order(bus: Bus, tagger: Tagger) -> None:
    await see(bus, "1", text("m1", "first"), text("m2", "second"))
    await see(bus, "2", StepSeen("t2", previous="t1", after="m1", messages=(Listed("m2"),), count=2))
    await see(bus, "3", StepSeen("t1", messages=(Listed("m1"),), count=1))
    await see(bus, "4", StepSeen("t2", previous="t1", after="m1", messages=(Listed("m2"),), count=2))
    found = await worked(bus, tagger)
    assert ["t2", "t1"] == [event.step for event in found if isinstance(event, StepOpened)]
    assert ["t2"] == [event.step for event in found if isinstance(event, StepOpened) and not event.aligned]
    tagged = [part for event in found if isinstance(event, TagAssigned) for part in event.parts]
    assert len(set(tagged)) == len(tagged)
    assert [] == await reasons(bus)


async def test_what_is_reported_twice_is_written_once(bus: Bus, tagger: Tagger) -> None:
    items = (SessionSeen(title="a session"), text("m1", "first"), StepSeen("t1", messages=(Listed("m1"),), count=1))
    await see(bus, "1", *items)
    await until(tagger.idle)
    once = await facts(bus, HARBOUR)
    await see(bus, "1", *items)
    await see(bus, "2", *items)
    await see(bus, "3", *items, *items)
    assert once == await worked(bus, tagger)


# Secrets.

SEEN: dict[str, tuple[Seen, ...]] = {
    "a title": (SessionSeen(title=f"use {SECRET}"),),
    "another title": (SessionSeen(title="a session"), SessionSeen(title=f"use {SECRET}")),
    "a directory": (SessionSeen(directory=f"/home/ada/{SECRET}"),),
    "the reason of an end": (SessionEnded(reason=f"token={SECRET}"),),
    "a text": (text("m1", f"my token is {SECRET}"),),
    "a part of its own": (PartSeen("m1", "text", "p1", text=SECRET),),
    "a thought": (PartSeen("m1", "reasoning", "p1", text=f"the token {SECRET} works"),),
    "the address of a file": (PartSeen("m1", "file", "p1", text=f"https://ada:{SECRET}@example.com/a.png"),),
    "a summary": (PartSeen("m1", "compaction", "p1", text=SECRET),),
    "a tool's input": (PartSeen("m1", "tool", "p1", call="c", input=f'{{"command":"curl -u ada:{SECRET} x"}}'),),
    "a tool's output": (PartSeen("m1", "tool", "p1", call="c", output=f"GITHUB_TOKEN={SECRET}\n"),),
    "a long output": (PartSeen("m1", "tool", "p1", call="c", output="x\n" * 100_000 + f"TOKEN={SECRET}\n"),),
    "an error": (ErrorSeen(f"prompt is too long: 210000 tokens > 200000 maximum; key {SECRET}"),),
}
SHOWN = (
    SessionOpened | SessionRenamed | ProjectIdentified | SessionClosed | PartRecorded | OverflowDetected
)  # where a masked text ends up


@pytest.mark.parametrize("field", SEEN)
async def test_a_secret_never_reaches_what_is_stored(bus: Bus, tagger: Tagger, field: str) -> None:
    await see(bus, "1", *SEEN[field])
    await until(tagger.idle)
    assert [] == await holding_the_secret(bus)
    assert [] == await reasons(bus)
    stored_events = [encode(event) for event in await facts(bus) if isinstance(event, SHOWN)]
    if not any(b"[masked:" in event for event in stored_events):
        assert b"[masked:" in b"".join(one.data for one in await stored(bus, "OBJ_bodies"))
