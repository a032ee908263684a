"""Decides which commits are read, which are new, and which count no longer. No clock, no I/O."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Collection, Iterator, Mapping, Sequence

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


DAY = 86_400
MOST_REMOVED = 5_000
"""Names in one event."""
BATCH, BATCH_BYTES = 200, 4 * 1024 * 1024
"""Commits that are read and recorded together, and the most bytes that they have in git."""

Listed = tuple[int, str]
"""When a commit was made, and its name."""


def within(listed: Sequence[Listed], bounds: CommitBounds, now: float) -> list[Listed]:
    """Those that are young enough to be read for the first time."""
    if not bounds.since_days:
        return list(listed)
    return [one for one in listed if one[0] >= now - bounds.since_days * DAY]


def commits_to_read(
    history: CommitHistory, listed: Sequence[Listed], bounds: CommitBounds, ends: Collection[str]
) -> list[str]:
    """The commits to be read: not known, and among the newest that count; or known in part only.

    `listed` has children before their parents, and what is returned the other way round.
    `ends`: where the clone ends, of whose files nothing can be known.
    """
    known = history.commits
    unknown = [one for one in listed if one[1] not in known]
    recorded = [(one.committed, sha) for sha, one in known.items()]
    counting = {sha for _, sha in sorted([*recorded, *unknown], reverse=True)[: bounds.max_commits]}

    def is_wanted(sha: str) -> bool:
        if sha in known:
            return known[sha].partial and sha not in ends
        return sha in counting

    return [sha for _, sha in reversed(listed) if is_wanted(sha)]


def batches(shas: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Those that exist, in pieces that are read at once."""
    batch: list[str] = []
    size = 0
    for sha in shas:
        if sha not in sizes:
            continue
        if batch and (len(batch) == BATCH or size + sizes[sha] > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(sha)
        size += sizes[sha]
    if batch:
        yield batch


def news(history: CommitHistory, commits: Sequence[CommitSeen]) -> list[CommitSeen]:
    """The commits among these that are not known."""
    return [one for one in commits if _is_news(history.commits.get(one.sha), one)]


def _is_news(known: CountedCommit | None, seen: CommitSeen) -> bool:
    return known is None or (known.partial and not seen.partial)


def advanced(
    history: CommitHistory, source: str, head: str, bounds: CommitBounds, lost: Collection[str]
) -> list[CommitsAdvanced]:
    """That a repository has been read up to this commit, and what counts no longer; nothing where that is known."""
    gone = [sha for sha in lost if sha in history.commits]
    left = sorted(((one.committed, sha) for sha, one in history.commits.items() if sha not in lost), reverse=True)
    removed = [*sorted(gone), *(sha for _, sha in left[bounds.max_commits :])]
    if not removed and history.heads.get(source) == Head(head, bounds):
        return []
    count = len(history.commits) - len(removed)
    pieces = [removed[at : at + MOST_REMOVED] for at in range(0, len(removed), MOST_REMOVED)] or [[]]
    return [
        CommitsAdvanced(
            source=source,
            head=head,
            count=count,
            removed=piece,
            since_days=bounds.since_days,
            max_commits=bounds.max_commits,
        )
        for piece in pieces
    ]
