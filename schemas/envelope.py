"""The envelope: what every message of the log carries around its fact."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec

Moment = Annotated[datetime, msgspec.Meta(tz=True)]
"""A point in time, with its zone."""

ActorKind = Literal["harness", "agent", "person", "room"]


class Actor(msgspec.Struct, frozen=True, omit_defaults=True):
    """The author of a fact or a command. In a fact the kind follows from the subject that its message came on."""

    kind: ActorKind
    id: str = ""
    """The name that the sender gives itself."""
    claimed: ActorKind | Literal[""] = ""
    """In a fact: the kind of sender that a harness claimed to be, where a harness may not claim it."""


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fact with its address. `data` is the event's own JSON, decoded only by who reads that type."""

    id: str
    """The `Nats-Msg-Id`: a uuid5 over what was decided, never over the attempt."""
    type: str
    """`<noun>.<past participle>`: the contract, whatever the class is called."""
    at: Moment
    """When it happened, in UTC: by the clock of the harness or the sender who reported it, or of the room that decided
    it by itself."""
    project: str
    """Empty for a fact about no project: the limits of models, and the names that lead to projects."""
    session: str
    """Empty for a fact about the whole project, or about none."""
    actor: Actor
    data: msgspec.Raw
    v: int = 1
    """The version of the event's shape that `data` was written in."""
    cause: str = ""
    """The id of the message that led to this one."""
    last: bool = False
    """Whether it is the last fact of its decision: all that `cause` led to is in the log."""
    answer: str = ""
    """The answer to the sender of a command, with the last fact of its decision: a repeated one gets the same."""
    refused: bool = False
    """Whether that was a refusal."""
    seq: int = 0
    """The position in the log; set by the reader, never written."""
