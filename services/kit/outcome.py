"""What may become of a message that a room took: a closed set."""

from collections.abc import Sequence

import msgspec

from schemas.events import Event


class Done(msgspec.Struct, frozen=True):
    """Append these events, then acknowledge."""

    events: Sequence[Event] = ()


class Later(msgspec.Struct, frozen=True):
    """Deliver it again after so many seconds."""

    seconds: float


class Refused(msgspec.Struct, frozen=True):
    """It can never be done: keep it as a dead letter, with the reason."""

    reason: str


Outcome = Done | Later | Refused
