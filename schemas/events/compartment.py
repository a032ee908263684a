"""Facts about compartments: spans of messages with what stays of them."""

from datetime import datetime
from typing import ClassVar

from schemas.events.base import Event


class CompartmentSealed(Event, frozen=True):
    """A span of messages was summarised, in four tiers from the fullest to the shortest."""

    TYPE: ClassVar[str] = "compartment.sealed"

    compartment: str
    """Its id: over the session, the generation and the first message."""
    run: str
    generation: int
    first: int
    """The ordinal of its first message."""
    last: int
    """The ordinal of its last message; compartments in force follow each other."""
    first_message: str
    last_message: str
    messages: int = 0
    title: str = ""
    episode: list[str] = []
    """bug, feature, release, refactor, infra, design, investigation, docs."""
    importance: int = 50
    """1 to 100: how slowly it fades."""
    p1: str = ""
    p2: str = ""
    p3: str = ""
    p4: str = ""
    anchors: list[str] = []
    """Paths, symbols and hashes that every tier keeps; at most eight."""
    names: list[str] = []
    """Files, identifiers, commits and errors of the span, the most telling first.

    One that is defined in a file follows the file and `#`.
    """
    began: datetime | None = None
    ended: datetime | None = None
    tokens: int = 0
    """Estimated tokens of the messages that it replaces."""
    source: str = "rules"
    """The author of the compartment: `rules`, or `provider/model`."""
    fingerprint: str = ""
    """Of the messages as they were read."""
    copied: int = 0
    """For a copy: the log position of the original compartment, in the session's origin; 0: it is no copy."""


class CompartmentRescored(Event, frozen=True):
    """A compartment fades faster or slower from the next rebase on; what it says stays."""

    TYPE: ClassVar[str] = "compartment.rescored"

    compartment: str
    importance: int
    reason: str = ""


EVENTS: tuple[type[Event], ...] = (CompartmentSealed, CompartmentRescored)
