"""Facts about messages."""

from datetime import datetime
from typing import ClassVar

from schemas.events.base import Event


class MessageRecorded(Event, frozen=True):
    """A message was seen, or one of these properties of it changed."""

    TYPE: ClassVar[str] = "message.recorded"

    message: str
    role: str
    sent: datetime | None = None
    """When the harness created it."""
    agent: str = ""
    provider: str = ""
    model: str = ""
    synthetic: bool = False
    listed: list[str] = []
    """The parts of it that are sent, where these are not all that are known."""


class MessageListed(Event, frozen=True):
    """Messages got their places in the conversation: a harness is going to send them."""

    TYPE: ClassVar[str] = "message.listed"

    messages: list[str]
    ordinals: list[int]
    """The place of each: larger is later, gaps are allowed."""


class MessageRemoved(Event, frozen=True):
    """Messages are no longer part of the conversation."""

    TYPE: ClassVar[str] = "message.removed"

    messages: list[str]
    reason: str
    """deleted, reverted, or unlisted (the harness left them out of its list)."""


EVENTS: tuple[type[Event], ...] = (MessageRecorded, MessageListed, MessageRemoved)
