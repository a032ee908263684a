"""Facts about projects."""

from typing import ClassVar

from schemas.events.base import Event


class ProjectIdentified(Event, frozen=True):
    """A project was seen for the first time, under a new directory, or its root became known."""

    TYPE: ClassVar[str] = "project.identified"

    directory: str
    harness: str
    root: str = ""
    """The root directory of its work tree."""
    vcs: str = ""
    """What keeps its versions: `git`, or nothing."""
    home: bool = False
    """Whether it is a home directory: nothing is remembered of it."""


class ProjectMerged(Event, frozen=True):
    """The same project had another name before: what is known under that one is known of this project."""

    TYPE: ClassVar[str] = "project.merged"

    former: str


EVENTS: tuple[type[Event], ...] = (ProjectIdentified, ProjectMerged)
