"""Facts about the part of us that sits in a harness."""

from typing import ClassVar

from schemas.events.base import Event


class AdapterConnected(Event, frozen=True):
    """An adapter, or another version of it, works in this session."""

    TYPE: ClassVar[str] = "adapter.connected"

    harness: str
    name: str
    version: str
    harness_version: str = ""
    digest: str = ""
    """sha256 of the bundle that it was loaded from."""
    rival: str = ""
    """Another plugin of the harness that changes the same prompts; empty: none was seen."""


EVENTS: tuple[type[Event], ...] = (AdapterConnected,)
