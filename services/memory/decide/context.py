"""The context of a decision about a project's memory: what it needs to know in addition to the book."""

from datetime import datetime

import msgspec

from schemas.commands import Command
from schemas.envelope import Actor
from services.domain.senders import name_of
from services.memory.rendering import COMPACT, Profile

LONGEST = 400
"""Characters of a memory and of a note."""
LONGEST_REASON = 400


class Refusal(Exception):
    """A refusal of a command: the reason as the end of a sentence, with what would be right."""


class FirstHead(msgspec.Struct, frozen=True):
    """The memory in a session's first head, before it could report any of it itself."""

    position: int
    """The position of the log up to which the head knows the memory; the session has notices of what changed later."""
    memories: frozenset[str] = frozenset()


class BookContext(msgspec.Struct, frozen=True):
    """The context of a command: its sender, its time, and its session."""

    actor: Actor
    trust: str
    """The trust in the sender (`memory.TRUSTS`); the desk itself is called `desk`."""
    at: datetime
    cause: str
    """The id of the command."""
    session: str = ""
    """The session that it comes from or is about; empty: none."""
    is_subagent: bool = False
    """Whether that session is of a sub-agent."""
    is_enabled: bool = True
    """Whether the installation has memory at all."""
    memory_enabled: bool = True
    """Whether this project has memory: its own settings may switch it off."""
    now: datetime | None = None
    """The moment by the desk's own clock, where it matters."""
    dormant: tuple[tuple[datetime, datetime], ...] = ()
    """Spans in which nobody worked on the project, each behind its days of grace, as far as they have ended."""

    started: tuple[str, ...] = ()
    """The sessions that the agents of a quarantined session have started, and those that theirs have."""
    head: FirstHead | None = None
    """The first head of the session that it comes from, where that has the memory."""
    profile: Profile = COMPACT
    """The profile of the head of a new session: how much of the memory it gets."""

    @property
    def sender(self) -> str:
        return name_of(self.actor)


def checked_text(text: str, what: str = "text") -> str:
    """The text without white space around it. Raises `Refusal` for one that is empty or too long."""
    plain = text.strip()
    if not plain:
        raise Refusal(f"the {what} is empty; say in 1 to {LONGEST} characters what holds")
    if len(plain) > LONGEST:
        raise Refusal(f"the {what} has {len(plain)} characters; say it in at most {LONGEST}")
    return plain


def checked_reason(reason: str) -> str:
    """The reason, which may be empty. Raises `Refusal` for one that is too long."""
    if len(reason) > LONGEST_REASON:
        raise Refusal(f"the reason has {len(reason)} characters; say it in at most {LONGEST_REASON}")
    return reason.strip()


def session_of(command: Command, subject: str) -> str:
    """The session that a command is about: that of its subject, or the one that it names on the project's subject."""
    return subject or getattr(command, "session", "")
