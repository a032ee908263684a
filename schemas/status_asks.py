"""The question of how the responder is, and the reply."""

from datetime import datetime
from typing import ClassVar

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.room_health import UnfoldedFact


class StatusAsk(Ask, frozen=True):
    """How is the responder?"""

    NAME: ClassVar[str] = "status"


class SessionStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """The distance of a session in memory from its next rebase. Tokens are as its provider counts them."""

    project: str
    session: str
    title: str = ""
    prompt: int = 0
    """Tokens of the coming prompt as it is, tools and system prompt included."""
    percent: float = 0.0
    """Its share of what is usable of the model's window."""
    threshold: float = 0.0
    """Percent of that from which on room is made between two turns."""
    spent: float = 0.0
    """Percent of what a rebase costs that going on as it is has cost; at 100 a rebase is made."""
    reason: str = ""
    """The reason why no rebase was made at the newest call."""


class SkippedRecord(msgspec.Struct, frozen=True):
    """A record of the log that no room can read: it counts for its position, and for nothing else."""

    seq: int
    subject: str
    reason: str


class LogBreak(msgspec.Struct, frozen=True):
    """The log was found to be another one than before: a copy was put back, or it was lost."""

    at: datetime
    """When that was noticed."""
    known: int
    """The position up to which the log before was known."""
    agreed: int
    """The position up to which both are known to be the same."""
    head: int
    """The last position of the log when it was noticed."""


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.status`: positions in the log, and what is in memory."""

    log_head: int
    read_through: int
    """Read into the session cache."""
    committed_through: int
    """Committed to the views."""
    hot_sessions: int
    file: str
    building: bool = False
    """Whether a new file is being built next to the one that answers."""
    counts: dict[str, int] = {}
    sessions: tuple[SessionStatus, ...] = ()
    """Those that were worked in last, the newest first."""
    skipped: int = 0
    """Records of the log that cannot be read; every room passes them over."""
    newest_skipped: tuple[SkippedRecord, ...] = ()
    """The last of them, the newest first."""
    unfolded: int = 0
    """Facts that can be read and that a state of the responder could not take in since the responder began."""
    newest_unfolded: tuple[UnfoldedFact, ...] = ()
    """The last of them, the newest first."""
    error: str = ""
    breaks: tuple[LogBreak, ...] = ()
    """When the log was another one than before, within the last week; the newest first."""
    plans_waiting: int = 0
    """Model calls whose step was read, and that wait for their plan."""
    plans_dropped: int = 0
    """Model calls without a plan since the responder began: nobody listened any more, a newer one of the session came,
    or too many waited."""


STATUS = RequestReply(StatusAsk, Status, order=220)
