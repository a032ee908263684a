"""Facts about projects."""

from typing import ClassVar

from schemas.events.base import Event


class ProjectIdentified(Event, frozen=True):
    """A project was seen for the first time, under a new directory, or more became known of its directory."""

    TYPE: ClassVar[str] = "project.identified"

    directory: str
    harness: str
    root: str = ""
    """The root directory of its work tree."""
    vcs: str = ""
    """Its version control: `git`, or nothing."""
    home: bool = False
    """Whether it is a home directory: nothing is remembered of it."""


class ProjectClaimed(Event, frozen=True):
    """A harness says that this project had another name before. Whether that is so is decided by others."""

    TYPE: ClassVar[str] = "project.claimed"

    former: str
    directory: str = ""
    """The directory in which the harness works in the project."""
    root: str = ""
    """The root directory of that work tree."""
    harness: str = ""


class ProjectMerged(Event, frozen=True):
    """The same project had another name before, as releases wrote it that believed each harness (`alias.added`)."""

    TYPE: ClassVar[str] = "project.merged"

    former: str


EVENTS: tuple[type[Event], ...] = (ProjectIdentified, ProjectClaimed, ProjectMerged)
