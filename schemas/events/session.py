"""Facts about sessions."""

from typing import ClassVar

from schemas.events.base import Event


class SessionOpened(Event, frozen=True):
    """A session was seen for the first time."""

    TYPE: ClassVar[str] = "session.opened"

    harness: str
    mode: str
    title: str = ""
    parent: str = ""
    """The session whose agent started this one; empty for a primary session."""
    directory: str = ""
    agent: str = ""
    version: str = ""
    """The harness's version."""


class SessionRenamed(Event, frozen=True):
    """A session got another title."""

    TYPE: ClassVar[str] = "session.renamed"

    title: str


class SessionIdled(Event, frozen=True):
    """The agent finished its turn."""

    TYPE: ClassVar[str] = "session.idled"


class SessionClosed(Event, frozen=True):
    """The session was deleted or archived in the harness. Its log stays."""

    TYPE: ClassVar[str] = "session.closed"

    reason: str = ""


class SessionForked(Event, frozen=True):
    """The session began as a copy of another. Tag numbers of the copied parts are taken over."""

    TYPE: ClassVar[str] = "session.forked"

    origin: str
    """The session that was copied."""
    until: str = ""
    """Its last message that was copied; empty: all of them."""
    last_tag: int = 0
    """The highest tag number of the origin: this session's numbers go on from there."""
    tags: list[int] = []
    """The numbers of the copied parts, which stay whatever ids the copies have."""
    digests: list[str] = []
    """The digests of the contents by which those parts are known, in the order of the conversation."""
    places: list[int] = []
    """Ordinals of the copied messages, which their copies keep: the first and the last of each run without a gap."""


EVENTS: tuple[type[Event], ...] = (SessionOpened, SessionRenamed, SessionIdled, SessionClosed, SessionForked)
