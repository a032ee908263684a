"""A recorded session, in the language of the inbox: what a harness would have reported, message by message."""

import msgspec

from schemas.inbox import MessageSeen, SessionSeen, UsageSeen


class UnreadableTranscript(ValueError):
    """A file that is not a session we can read; says which formats we can."""


class Transcript(msgspec.Struct, frozen=True):
    """One session. Every part of a message has its id, and each message its time where the recording has one."""

    harness: str
    """opencode, claude-code, pi, ... or the source named in a neutral file."""
    session: str
    seen: SessionSeen
    messages: tuple[MessageSeen, ...]
    usage: dict[str, UsageSeen] = {}
    """The provider's counts, by the id of the assistant's message."""
