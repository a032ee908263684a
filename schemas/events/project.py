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
