"""Facts about single commits of a project's repository."""

from datetime import datetime
from typing import ClassVar

from schemas.events.base import Event, LogOnly


class CommitSeen(Event, frozen=True):
    """A commit is part of the project's history. Secrets are masked; what is long is cut.

    It is identified by the project and its id: a later report of the same commit replaces the earlier one.
    """

    TYPE: ClassVar[str] = "commit.seen"

    sha: str
    """40 or 64 hexadecimal digits."""
    committed: datetime
    """By the clock of who made it: a merge may be older than what it merges."""
    authored: datetime
    parents: list[str] = []
    """None: it is a root. Two or more: it is a merge."""
    author: str = ""
    email: str = ""
    subject: str = ""
    """The first paragraph of its message, as one line."""
    body: LogOnly = ""
    """The rest of it."""
    files: list[str] = []
    """Paths that it changed, from the root of the repository; of a merge those that differ from all its parents."""
    file_count: int = 0
    """The number of changed files, where more were changed than are named."""
    partial: bool = False
    """Whether its files are not known, since the clone that it was read from ends at it."""


class CommitMentioned(Event, frozen=True):
    """A part of a session's message names commits, or no longer names those that it did."""

    TYPE: ClassVar[str] = "commit.mentioned"

    message: str
    part: str
    hashes: list[str] = []
    """Beginnings of their names, of six digits at least, as far as they look like some: nobody has checked that there
    are such commits."""
    made: list[str] = []
    """Those of these that this call of git has made."""


EVENTS: tuple[type[Event], ...] = (CommitSeen, CommitMentioned)
