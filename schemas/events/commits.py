"""Facts about how far the history of a project's repository has been read."""

from typing import ClassVar

from schemas.events.base import Event


class CommitsAdvanced(Event, frozen=True):
    """The history of a repository has been read up to this commit, or some of it counts no longer."""

    TYPE: ClassVar[str] = "commits.advanced"

    source: str
    """The root of the checkout, or the address of the remote, without its password."""
    head: str
    """The newest commit that is recorded: a later reading starts after it."""
    count: int
    """The number of the project's commits that count now."""
    removed: list[str] = []
    """Commits that count no longer: no branch has them any more, or they are the oldest beyond the most that count."""
    since_days: int = 0
    """The greatest age, in days, of the commits that were read where there was nothing to go on from; 0: any age."""
    max_commits: int = 0
    """The most commits that were read where there was nothing to go on from, the newest."""


EVENTS: tuple[type[Event], ...] = (CommitsAdvanced,)
