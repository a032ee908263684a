"""A record of the log as it is read: a fact, or why it is none, so that one bad record stops no reader."""

import struct
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import ClassVar, NamedTuple

import msgspec
from msgspec import inspect
from msgspec.structs import replace

from schemas.codec import Malformed, decode_attachments, decode_edits, decode_envelope, decode_event
from schemas.envelope import Envelope
from schemas.events import Event, MessageListed, PartRecorded, PlanExtended, PlanRebased, SessionForked
from schemas.subjects import Address, BadSubject, identifier

FIRST_YEAR, LAST_YEAR = 2, 9998
"""The years of which every moment has a time in UTC."""
LAST_PLACE = 10_000_000
"""Of a session's messages, with all gaps between them."""
MOST_PROBLEM = 300
"""Characters of a reason: it may quote what it complains of."""


class Record(NamedTuple):
    """One record of the log."""

    subject: str
    envelope: Envelope
    """With its position. That of a record that cannot be read has nothing else but what its subject says."""
    event: Event | None
    """None: this release does not know its type or version, or it cannot be read."""
    problem: str = ""
    """The reason why it cannot be read; empty: it can."""


class RecordSkipped(Event, frozen=True):
    """A record that no room can read; the projector's own note for its sink, which is in no log."""

    TYPE: ClassVar[str] = "record.skipped"

    subject: str = ""
    reason: str = ""
    bytes: int = 0


def read_record(subject: str, data: bytes, seq: int, *, deep: bool = False) -> Record:
    """Read what is stored at a position. It never raises: whoever can publish may have stored anything.

    `deep`: with the edits of plans. Who folds them decodes them, and passes over what cannot be folded.
    """
    try:
        envelope = decode_envelope(data)
        _check_address(subject, envelope)
        event = decode_event(envelope)
        if event is not None:
            _check_values(envelope, event)
        if deep and isinstance(event, PlanExtended | PlanRebased):
            decode_edits(event.edits)
    except _UNREADABLE as error:
        return _skipped(subject, seq, "it is empty" if not data else _plain(str(error) or type(error).__name__))
    return Record(subject, replace(envelope, seq=seq), event)


_UNREADABLE = (
    Malformed,
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""The errors of decoding, and of the upcasts of old versions, at bytes that nobody of ours has written."""


def _check_address(subject: str, envelope: Envelope) -> None:
    """A fact contains its own address: one that is stored at another was never decided there."""
    own = Address(envelope.project, envelope.session).log(envelope.type)
    if own != subject:
        raise Malformed(f"it is stored on {subject}, and its own address is {own}")


def _check_values(envelope: Envelope, event: Event) -> None:
    """Check what types alone do not: numbers and moments that no table can store, and JSON within a text."""
    values = _values_of(type(event))
    if values.numbers:
        try:
            values.packed(*values.numbers(event))
        except struct.error as error:
            raise Malformed("it holds a number of more than 64 bits") from error
    for name in values.others:
        value = getattr(event, name)
        array("q", value if isinstance(value, list) else () if value is None else (value,))
    for place in _places(event):
        if not 0 <= place <= LAST_PLACE:
            raise Malformed(f"the place {place} is none that a message of a session can have")
    _check_year(envelope.at)
    for name in values.moments:
        _check_year(getattr(event, name))
    if event.__class__ is PartRecorded and event.attachments:
        decode_attachments(event.attachments)


def _places(event: Event) -> Sequence[int]:
    """The places of messages that an event names: folds walk from one to the next."""
    if event.__class__ is MessageListed:
        return event.ordinals
    return event.places if event.__class__ is SessionForked else ()


def _check_year(moment: datetime | None) -> None:
    if moment is not None and not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise Malformed(f"the year {moment.year} has no time in UTC")


class _Values(NamedTuple):
    """The fields of an event that are looked at: packing them into 64 bits is the fastest look there is."""

    numbers: Callable[[Event], tuple[int, ...]] | None
    packed: Callable[..., bytes]
    others: tuple[str, ...]
    """Lists of whole numbers, and such as may be missing."""
    moments: tuple[str, ...]


@cache
def _values_of(event: type[Event]) -> _Values:
    fields = inspect.type_info(event).fields  # type: ignore[attr-defined] # a struct has them
    plain = [field.name for field in fields if isinstance(field.type, inspect.IntType)]
    others = tuple(field.name for field in fields if field.name not in plain and _has(field.type, inspect.IntType))
    moments = tuple(field.name for field in fields if _has(field.type, inspect.DateTimeType))
    pick = attrgetter(*plain) if len(plain) > 1 else (lambda one: (getattr(one, plain[0]),)) if plain else None
    return _Values(pick, struct.Struct(f"{len(plain)}q").pack, others, moments)


def _has(kind: inspect.Type, wanted: type[inspect.Type]) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(_has(one, wanted) for one in kind.types)
    inner = getattr(kind, "item_type", getattr(kind, "type", None))
    return isinstance(kind, wanted) or (isinstance(inner, inspect.Type) and _has(inner, wanted))


def _plain(text: str) -> str:
    """One line that is safe to print, whatever a sender has put into it."""
    flat = " ".join(text.encode("ascii", "backslashreplace").decode().split())
    safe = "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in flat)
    return safe if len(safe) <= MOST_PROBLEM else safe[: MOST_PROBLEM - 3] + "..."


def _skipped(subject: str, seq: int, problem: str) -> Record:
    """A record that says nothing, at its position and at the address of its subject, if it has one."""
    address, event_type = _place(subject)
    envelope = replace(_NOTHING, project=address.project, session=address.session, type=event_type, seq=seq)
    return Record(_plain(subject), envelope, None, problem)


def _place(subject: str) -> tuple[Address, str]:
    match subject.split(".", 4):
        case ["log", _, project, session, event_type]:
            with suppress(BadSubject):
                address = Address(identifier(project), identifier(session))
                if address.log(event_type) == subject:
                    return address, event_type
    return Address(""), ""


_NOTHING = msgspec.json.decode(
    b'{"id":"","type":"","at":"1970-01-01T00:00:00Z","project":"","session":"","actor":{"kind":"room"},"data":null}',
    type=Envelope,
)
