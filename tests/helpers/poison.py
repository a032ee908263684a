"""Records that nobody of ours has written, as anybody who can publish into the log may leave them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
import pytest

from schemas.codec import encode, wrap
from schemas.envelope import Actor
from schemas.events import (
    Event,
    LimitLearned,
    MessageListed,
    PartRecorded,
    PlanExtended,
    SessionForked,
    SessionIdled,
    StepOpened,
    ToolRan,
)
from schemas.subjects import Address

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
DEEP = 100_000
HUGE = "9" * 400


class Poison(NamedTuple):
    """One such record."""

    subject: str
    data: bytes
    headers: Mapping[str, str] | None = None


Make = Callable[[Address], Poison]


def together(kinds: "Mapping[str, Make]") -> list[object]:
    """Parameters of a test on a real broker: records of all kinds one behind the other, and in `make soak` each alone.

    What is wrong with each is tried on pure code.
    """
    alone = [pytest.param((make,), id=kind, marks=pytest.mark.soak) for kind, make in kinds.items()]
    return [pytest.param((*kinds.values(),), id="all of them"), *alone]


def enveloped(event: Event, address: Address, **changes: object) -> bytes:
    """An event in its envelope, some of which is changed afterwards."""
    whole = wrap(event, address, id=f"poison-{event.TYPE}", at=NOON, actor=Actor("room", "tagger"))
    return encode(msgspec.structs.replace(whole, **changes))


def _text(address: Address, **changes: object) -> bytes:
    part = PartRecorded(message="m", part="poison", kind="text", text="a poisoned text", digest="d", bytes=3)
    return enveloped(msgspec.structs.replace(part, **changes), address)


def _raw(data: bytes, event_type: str = PartRecorded.TYPE) -> Make:
    return lambda address: Poison(address.log(event_type), data)


def _changed(old: bytes, new: bytes) -> Make:
    """A part whose JSON was changed after it was made."""

    def make(address: Address) -> Poison:
        data = _text(address)
        assert old in data
        return Poison(address.log(PartRecorded.TYPE), data.replace(old, new))

    return make


def _elsewhere(own: Callable[[Address], Address], event_type: str = PartRecorded.TYPE) -> Make:
    """A part that says of itself that it belongs somewhere else."""
    return lambda address: Poison(address.log(event_type), _text(own(address)))


def _wrong_shard(address: Address) -> Poison:
    right = address.log(PartRecorded.TYPE).split(".")
    right[1] = str((int(right[1]) + 1) % 64)
    return Poison(".".join(right), _text(address))


def _of(event: Event, **changes: object) -> Make:
    return lambda address: Poison(address.log(event.TYPE), enveloped(event, address, **changes))


UNREADABLE: dict[str, Make] = {
    "not JSON": _raw(b"+OK"),
    "an answer to a question": _raw(b'{"log_head":12,"read_through":12}'),
    "an empty body": _raw(b""),
    "not UTF-8": _changed(b"a poisoned text", b"a \xff\xfe text"),
    "half a character": _changed(b"a poisoned text", b"a \\ud800 text"),
    "a list": _raw(b"[1,2,3]"),
    "a number": _raw(b"7"),
    "null": _raw(b"null"),
    "the beginning of an envelope": lambda address: Poison(address.log(PartRecorded.TYPE), _text(address)[:60]),
    "an envelope without an id": _changed(b'"id":"poison-part.recorded",', b""),
    "an event without its fields": _changed(b'"message":"m",', b""),
    "an event that is null": _raw(
        b'{"id":"i","type":"session.idled","at":"2026-03-07T12:00:00Z","project":"p","session":"s",'
        b'"actor":{"kind":"room"},"data":null}',
        SessionIdled.TYPE,
    ),
    "a field of another type": _changed(b'"bytes":3', b'"bytes":"three"'),
    "a moment without a zone": _changed(b"2026-03-07T12:00:00Z", b"2026-03-07T12:00:00"),
    "a moment before all time": _changed(b"2026-03-07T12:00:00Z", b"0001-01-01T00:00:00+14:00"),
    "a moment after all time": _changed(b"2026-03-07T12:00:00Z", b"9999-12-31T23:59:59-14:00"),
    "a number of more than 64 bits": _changed(b'"bytes":3', b'"bytes":9223372036854775808'),
    "a negative one": _changed(b'"bytes":3', b'"bytes":-9223372036854775809'),
    "a number of 400 digits": _changed(b'"bytes":3', b'"bytes":' + HUGE.encode()),
    "a float beyond all": _changed(b'"bytes":3', b'"bytes":1e999'),
    "an optional number of more than 64 bits": _of(ToolRan(message="m", part="p", tool="t", exit_code=2**63)),
    "a place behind all messages": _of(MessageListed(messages=["m"], ordinals=[2**62])),
    "a place before all messages": _of(MessageListed(messages=["m"], ordinals=[-(2**62)])),
    "a copy of messages without end": _of(SessionForked(origin="o", places=[1, 2**62])),
    "nesting in an unknown field": _changed(b'"bytes":3', b'"bytes":3,"x":' + DEEP * b"[" + DEEP * b"]"),
    "nesting in a known field": _changed(b'"bytes":3', b'"bytes":' + DEEP * b"[" + DEEP * b"]"),
    "nesting of the whole": _raw(DEEP * b'{"data":' + b"1" + DEEP * b"}"),
    "a version below the first": _of(SessionIdled(), v=0),
    "a step without its name": _of(StepOpened(step="s"), data=msgspec.Raw(b'{"a":[{}]}')),
    "another project": _elsewhere(lambda address: Address("elsewhere", address.session)),
    "another session": _elsewhere(lambda address: Address(address.project, "elsewhere")),
    "another type": _elsewhere(lambda address: address, "session.idled"),
    "an unknown type on a known subject": lambda address: Poison(
        address.log(PartRecorded.TYPE), _text(address).replace(b"part.recorded", b"spell.cast")
    ),
    "an id that is too long for a subject": _elsewhere(lambda address: Address(300 * "p", address.session)),
    "another shard": _wrong_shard,
    "a subject that is too long": lambda address: Poison(address.log(f"{PartRecorded.TYPE}.more"), _text(address)),
    "a subject that is too short": lambda _: Poison("log.7", b"{}"),
    "attachments that are none": lambda address: Poison(
        address.log(PartRecorded.TYPE), _text(address, attachments="{]", attachment_tokens=9)
    ),
    "a limit of all that is no envelope": lambda _: Poison(Address("").log(LimitLearned.TYPE), b"-ERR"),
    "the status of an empty answer": lambda address: Poison(
        address.log(PartRecorded.TYPE), b"", {"Status": "404", "Description": "Message Not Found"}
    ),
    "headers of a position": lambda address: Poison(
        address.log(PartRecorded.TYPE),
        b"{}",
        {"Nats-Sequence": "1", "Nats-Num-Pending": "0", "Nats-Subject": "log.1.a.b.part.recorded", "Status": "204"},
    ),
}
"""By what is wrong with it."""

UNKNOWN: dict[str, Make] = {
    "a type that nobody knows": lambda address: Poison(
        address.log("spell.cast"), _text(address).replace(b"part.recorded", b"spell.cast")
    ),
    "a version of the future": _of(SessionIdled(), v=99),
}
"""What a later release may have written: it is passed over, and nobody is warned."""

UNFOLDABLE: dict[str, Make] = {
    "edits that are none": _of(PlanExtended(revision=1, step="s", as_of=1, edits="garbage", edit_count=1)),
    "edits of another kind": _of(PlanExtended(revision=1, step="s", as_of=1, edits='[{"type":"spell"}]', edit_count=1)),
}
"""What only its fold can find out."""

BREAKING: dict[str, Make] = {"fewer places than messages": _of(MessageListed(messages=["m", "n"], ordinals=[1]))}
"""What can be read whole, and breaks the fold of a session."""
