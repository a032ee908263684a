"""The base of all events: a flat value with a wire name, a version, and upcasts from older versions."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import msgspec

Upcast = Callable[[dict[str, Any]], dict[str, Any]]

LogOnly = Annotated[str, msgspec.Meta(extra={"log_only": True})]
"""Text that no view needs: it stays in the log and gets no column."""


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fact: str, int, float, bool, datetime, lists of those, or nothing."""

    TYPE: ClassVar[str]
    V: ClassVar[int] = 1
    UPCASTS: ClassVar[dict[int, Upcast]] = {}
    """Version n -> a function that turns its plain dict into that of version n + 1."""
