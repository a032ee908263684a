"""Facts about tool calls that have ended."""

from typing import ClassVar

from schemas.events.base import Event


class ToolRan(Event, frozen=True):
    """A tool call has ended, or ended otherwise than was known."""

    TYPE: ClassVar[str] = "tool.ran"

    message: str
    part: str
    tool: str
    call: str = ""
    status: str = "completed"
    """completed or error."""
    exit_code: int | None = None
    """A command's exit code, where the harness reports it."""
    duration_ms: int = 0
    child: str = ""
    """The session that it started: a sub-agent."""
    target: str = ""
    """The subject of the call: a path, a command's first line, a pattern; at most 240 characters."""


EVENTS: tuple[type[Event], ...] = (ToolRan,)
