"""Coding: JSON out, today's Structs in, whatever version was written."""

import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from schemas.envelope import Actor, Envelope
from schemas.events import EVENTS, Event
from schemas.inbox import Attachment, Inbound
from schemas.plan import AnyEdit
from schemas.subjects import Address

NAMESPACE = uuid.UUID("6f0d5a0e-6c55-5d0b-9a3e-1f4f6b1f7a10")
"""The namespace of every derived id. It can never change."""

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of msgspec for bytes that are not the JSON it expects, or are nested without end."""

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rb"(\\[^u]|\\u[^dD]|\\u[dD][0-7]|%b%b)|%b|%b" % (_HIGH, _LOW, _HIGH, _LOW), re.DOTALL)
"""An escape in JSON. The group takes all but one half of a character without the other."""

_encoder = msgspec.json.Encoder()
_envelopes = msgspec.json.Decoder(Envelope)
_inbound = msgspec.json.Decoder(Inbound)
_attachments = msgspec.json.Decoder(tuple[Attachment, ...])
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
    """Decode a harness's message, if this release can read it. Unpaired surrogates in it are replaced."""
    try:
        inbound = _decoded(data)
    except _UNREADABLE as error:
        raise Malformed(f"not an inbound message: {error}; see inbox.schema.json") from error
    if inbound.v != Inbound.V:
        raise Malformed(f"an inbound message of version {inbound.v}: this service reads version {Inbound.V}")
    return inbound


def _decoded(data: bytes) -> Inbound:
    try:
        return _inbound.decode(data)
    except _UNREADABLE:
        whole = mended(data)
        if whole is data:
            raise
        return _inbound.decode(whole)


def mended(data: bytes) -> bytes:
    """JSON with U+FFFD for each half of a character: harnesses that cut texts in UTF-16 leave them, no text holds them.

    Where there is none it is the very same.
    """
    if rb"\ud" not in data and rb"\uD" not in data:
        return data
    return _ESCAPE.sub(lambda escape: escape[1] or rb"\ufffd", data)


def mended_json(text: str) -> str:
    """The same of a text that is JSON itself, as a tool's arguments are; one that is none stays as it is."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    data = mended(text.encode())
    try:
        msgspec.json.decode(data)
    except _UNREADABLE:
        return text
    return data.decode()


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
    """An event in its envelope, ready to be appended; `data`: the result of `encode`, where it is computed already."""
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


def encode_attachments(attachments: Iterable[Attachment]) -> str:
    """Attachments as the JSON string that a part's event carries; empty: there are none."""
    listed = tuple(attachments)
    return encode(listed).decode() if listed else ""


def decode_attachments(attachments: str) -> tuple[Attachment, ...]:
    return _attachments.decode(attachments) if attachments else ()
