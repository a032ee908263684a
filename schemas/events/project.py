"""Facts about projects."""

from typing import ClassVar

from schemas.events.base import Event


class ProjectIdentified(Event, frozen=True):
    """A project was seen for the first time, or under a new directory."""

    TYPE: ClassVar[str] = "project.identified"

    directory: str
    harness: str
