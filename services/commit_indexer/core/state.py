"""The state of a project's commits: those that count, and how far repositories were read. No clock, no I/O."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import msgspec

from schemas.envelope import Envelope
from schemas.events import CommitsAdvanced, CommitSeen, Event
from services.domain.fold import Map

replace = msgspec.structs.replace

NOUNS = ("commit", "commits")
"""The events that a project's commits are folded from, of all events of a project."""


class CountedCommit(msgspec.Struct, frozen=True):
    """A commit that counts."""

    committed: int
    """In seconds since 1970."""
    partial: bool = False


class CommitBounds(msgspec.Struct, frozen=True):
    """Bounds of reading: what is read at first, and the most commits that count."""

    since_days: int
    max_commits: int


class Head(msgspec.Struct, frozen=True):
    """The head up to which a repository was read, and the bounds within which that began."""

    sha: str
    bounds: CommitBounds


class CommitHistory(msgspec.Struct, frozen=True):
    """A project's commits, and the repositories that they were read from."""

    commits: Map[str, CountedCommit] = Map()
    heads: Map[str, Head] = Map()


def evolve(history: CommitHistory, event: Event, _: Envelope) -> CommitHistory:
    match event:
        case CommitSeen(sha=sha, committed=committed, partial=partial):
            return replace(
                history, commits=history.commits.insert(sha, CountedCommit(int(committed.timestamp()), partial))
            )
        case CommitsAdvanced():
            return _advanced(history, event)
        case _:
            return history


def _advanced(history: CommitHistory, event: CommitsAdvanced) -> CommitHistory:
    """A head that counts no longer is nothing to go on from: it may come back with all behind it."""
    commits, heads = history.commits, history.heads
    for sha in event.removed:
        commits = commits.discard(sha)
    removed = set(event.removed)
    for source in [source for source, head in heads.items() if head.sha in removed]:
        heads = heads.discard(source)
    head = Head(event.head, CommitBounds(event.since_days, event.max_commits))
    return replace(history, commits=commits, heads=heads.insert(event.source, head))
