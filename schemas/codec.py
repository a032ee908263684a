"""Coding: JSON out, today's Structs in, whatever version was written."""

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from schemas.envelope import Actor, Envelope
from schemas.events import EVENTS, Event
from schemas.inbox import Inbound
from schemas.plan import AnyEdit
from schemas.subjects import Address

NAMESPACE = uuid.UUID("6f0d5a0e-6c55-5d0b-9a3e-1f4f6b1f7a10")
"""The namespace of every derived id. It can never change."""

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)
"""What msgspec raises for bytes that are not the JSON it expects."""

_encoder = msgspec.json.Encoder()
_envelopes = msgspec.json.Decoder(Envelope)
_inbound = msgspec.json.Decoder(Inbound)
_edits = msgspec.json.Decoder(tuple[AnyEdit, ...])
_by_type = {event.TYPE: event for event in EVENTS}
_decoders = {event.TYPE: msgspec.json.Decoder(event) for event in EVENTS}


class Malformed(ValueError):
    """Bytes that are not what they should be; says what would be right."""


def encode(value: object) -> bytes:
    """Any value of the language as JSON."""
    return _encoder.encode(value)


def decode_envelope(data: bytes) -> Envelope:
    try:
        return _envelopes.decode(data)
    except _UNREADABLE as error:
        raise Malformed(f"not an envelope: {error}") from error


def decode_inbound(data: bytes) -> Inbound:
    """What a harness said, if this release can read it."""
    try:
        inbound = _inbound.decode(data)
    except _UNREADABLE as error:
        raise Malformed(f"not an inbound message: {error}; see inbox.schema.json") from error
    if inbound.v != Inbound.V:
        raise Malformed(f"an inbound message of version {inbound.v}: this service reads version {Inbound.V}")
    return inbound


def decode_event(envelope: Envelope) -> Event | None:
    """The event of an envelope in today's shape; None for a type that this release does not know."""
    event_class = _by_type.get(envelope.type)
    if event_class is None:
        return None
    if envelope.v < 1:
        raise Malformed(f"{envelope.type} has the version {envelope.v}; versions begin at 1")
    try:
        if envelope.v == event_class.V:
            return _decoders[envelope.type].decode(envelope.data)
        return _lift(event_class, envelope)
    except _UNREADABLE as error:
        raise Malformed(f"not a {envelope.type} of version {envelope.v}: {error}") from error


def _lift(event_class: type[Event], envelope: Envelope) -> Event | None:
    """Upcast dict by dict. A version from the future is passed over, as an unknown type is."""
    if envelope.v > event_class.V:
        return None
    fields = msgspec.json.decode(envelope.data, type=dict[str, Any])
    for version in range(envelope.v, event_class.V):
        fields = event_class.UPCASTS[version](fields)
    return msgspec.convert(fields, event_class)


def derived_id(*decided: str) -> str:
    """The id of a derived fact: the same decision has the same id at every attempt."""
    escaped = (word.replace("=", "=3D").replace("/", "=2F") for word in decided)  # ids of harnesses may hold a slash
    return str(uuid.uuid5(NAMESPACE, "/".join(escaped)))


def wrap(
    event: Event,
    address: Address,
    *,
    id: str,  # noqa: A002 - the name on the wire
    at: datetime,
    actor: Actor,
    cause: str = "",
    data: bytes = b"",
) -> Envelope:
    """An event in its envelope, ready to be appended; `data` is what `encode` makes of it, where that is at hand."""
    return Envelope(
        id=id,
        type=event.TYPE,
        v=event.V,
        at=at.astimezone(UTC),
        project=address.project,
        session=address.session,
        actor=actor,
        cause=cause,
        data=msgspec.Raw(data or encode(event)),
    )


def encode_edits(edits: Iterable[AnyEdit]) -> str:
    """Edits as the JSON string that a plan event carries."""
    return encode(tuple(edits)).decode()


def decode_edits(edits: str) -> tuple[AnyEdit, ...]:
    return _edits.decode(edits)
