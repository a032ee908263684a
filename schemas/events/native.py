"""Facts about the harness's own compaction."""

from typing import ClassVar

from schemas.events.base import Event


class NativeCompacted(Event, frozen=True):
    """The harness summarised the session itself. What it lists no more is gone from the prompt; it may keep a tail."""

    TYPE: ClassVar[str] = "native.compacted"

    last_tag: int = 0
    """The highest number given before."""
    auto: bool = False
    """Whether the harness did so of its own accord, not because a person asked."""
    summary: str = ""
    """The message that holds the summary; empty: the harness does not say."""


EVENTS: tuple[type[Event], ...] = (NativeCompacted,)
