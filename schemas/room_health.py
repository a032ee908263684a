"""A room's report on its own health, for whoever looks after an installation."""

from typing import ClassVar

import msgspec

from schemas.ask import Ask, RequestReply


class HealthAsk(Ask, frozen=True):
    """How is this room? Its subject has the name of the room in place of a project: `ask.health.tagger`."""

    NAME: ClassVar[str] = "health"


class UnfoldedFact(msgspec.Struct, frozen=True):
    """A fact of the log that can be read, and that breaks a state: it is passed over there."""

    seq: int
    type: str


class RoomHealth(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.health`: what every room reports at `/healthz`."""

    room: str
    ok: bool
    """Whether it can do its work."""
    failures: tuple[str, ...] = ()
    """The things that it cannot do now, each with the reason."""
    committed_through: int | None = None
    """The position of the log up to which it has written what it makes of the log; None: it makes nothing of it, or it
    is not known yet."""
    unfolded: int = 0
    """Facts that can be read and that a state of this room could not take in since the room began."""
    newest_unfolded: tuple[UnfoldedFact, ...] = ()
    """The last of them, the newest first."""


HEALTH = RequestReply(HealthAsk, RoomHealth, order=60)
