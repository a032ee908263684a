"""Outcomes of a message that a room took: a closed set. Its facts, if any, are in the log by then."""

import msgspec


class Done(msgspec.Struct, frozen=True):
    """The message is done: acknowledge it."""


class Later(msgspec.Struct, frozen=True):
    """Deliver it again after so many seconds."""

    seconds: float


class Refused(msgspec.Struct, frozen=True):
    """The message can never be done: store it as a dead letter, with the reason."""

    reason: str


Outcome = Done | Later | Refused
