"""Facts about model calls."""

from typing import ClassVar

import msgspec

from schemas.events.base import Event


class StepOpened(Event, frozen=True):
    """A harness is about to call a model with the listed messages."""

    TYPE: ClassVar[str] = "step.opened"

    step: str
    previous: str = ""
    aligned: bool = True
    """Whether both sides mean the same list; if not, the harness is asked to send the whole of it."""
    unchanged: int = msgspec.field(default=0, name="kept")
    """The ordinal of the last message that was sent at the step before, too, unchanged in order."""
    last: int = 0
    """The ordinal of the last message sent."""
    count: int = 0
    """The number of messages that are sent."""
    served: int = -1
    """The plan's revision that the step before was made with; -1: not known."""
    agent: str = ""
    mode: str = "primary"
    provider: str = ""
    model: str = ""
    context_limit: int = 0
    output_limit: int = 0
    capabilities: list[str] = []
    system_digest: str = ""
    """Of the system prompt; empty: not known."""
    toolset: str = ""
    """Digest of the set of tools that the call offers."""
    denied: list[str] = []
    """Tools that are switched off for this call."""
    variant: str = ""
    """The model's way of reasoning, where the harness has a choice of that."""
    compacts: bool = False
    """Whether the harness compacts a session that fills the window, if the service lets it."""


EVENTS: tuple[type[Event], ...] = (StepOpened,)
