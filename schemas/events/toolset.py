"""Facts about the tools that a model is offered."""

from typing import ClassVar

from schemas.events.base import Event, LogOnly


class ToolsetChanged(Event, frozen=True):
    """Another set of tools is offered to the model from here on."""

    TYPE: ClassVar[str] = "toolset.changed"

    digest: str
    """Names the set: the same tools have the same."""
    names: list[str]
    tokens: list[int]
    """Estimate of what each costs in a prompt."""
    definitions: LogOnly = ""
    """The tools as JSON."""
    definitions_ref: str = ""
    """sha256 of the definitions in their bucket, where these are too long for a message."""


EVENTS: tuple[type[Event], ...] = (ToolsetChanged,)
