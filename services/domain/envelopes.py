"""Makes envelopes of a decision: ids over what was decided and where, so that no attempt counts twice."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from schemas.codec import derived_id, encode, wrap
from schemas.envelope import Actor, Envelope
from schemas.events import Event
from schemas.subjects import Address


def envelopes(
    events: Sequence[Event],
    address: Address,
    expected: Mapping[str, int],
    *,
    at: datetime,
    actor: Actor,
    cause: str,
    start: int = 0,
) -> list[Envelope]:
    """Events ready to be appended. Two who decide the same at the same position of the log give the same ids.

    `expected` maps subjects to the position of their newest event; `start` counts the events that were decided
    before these at that position.
    """
    wrapped = [
        envelope(event, address, expected, at=at, actor=actor, cause=cause, number=number)
        for number, event in enumerate(events, start)
    ]
    if wrapped:
        wrapped[-1] = replace(wrapped[-1], last=True)
    return wrapped


def envelope(
    event: Event, address: Address, expected: Mapping[str, int], *, at: datetime, actor: Actor, cause: str, number: int
) -> Envelope:
    """One event of a decision; `number` counts the events that were decided before it at that position."""
    subject = address.log(event.TYPE)
    data = encode(event)
    decided = derived_id(subject, str(expected.get(subject, 0)), str(number), data.decode())
    return wrap(event, address, id=decided, at=at, actor=actor, cause=cause, data=data)
