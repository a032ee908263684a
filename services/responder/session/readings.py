"""The readings of files in a session, folded from its facts: which part shows which file, and how long ago.

Time is told in tokens: all that has come since. What a call of the shell shows is a reading like one of a tool.
"""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import msgspec

from schemas.events import Event, FileTouched, PartRecorded, PartRemoved, ToolRan
from services.domain.conversation import Conversation
from services.domain.fold import Map
from services.domain.tools.names import READ_ONLY, plain
from services.domain.tools.shell import shown_file
from services.domain.transcript.names import end_of

replace = msgspec.structs.replace

MOST = 100
"""Readings that are known; older ones stay for no prompt."""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A part that shows a file."""

    part: str
    file: str
    """The end of its path."""
    shown: int
    """How many tokens had come when it was shown."""
    target: str = ""
    """The command of the shell that shows it; empty: a tool does."""


class Readings(msgspec.Struct, frozen=True):
    """What a session's calls have shown of files, and which of these were changed."""

    clock: int = 0
    """Tokens that have come."""
    shown: tuple[Reading, ...] = ()
    """The newest, in their order."""
    changed: Map[str, int] = Map()
    """File -> how many tokens had come when it was changed last."""

    def idle(self, reading: Reading) -> int:
        """Tokens that have come since it was shown, or its file was changed."""
        return self.clock - max(reading.shown, self.changed.get(reading.file, 0))

    def is_changed(self, reading: Reading) -> bool:
        """Whether its file was changed since."""
        return self.changed.get(reading.file, -1) > reading.shown


def read(readings: Readings, event: Event, before: Conversation) -> Readings:
    """The readings after this fact. `before`: the conversation without it."""
    match event:
        case PartRecorded(part=part, tokens=tokens):
            known = before.parts.get(part)
            growth = tokens - known.recorded.tokens if known is not None else tokens
            return replace(readings, clock=readings.clock + max(0, growth)) if growth else readings
        case FileTouched(path=path, action="read", part=part):
            return _shown(readings, Reading(part, end_of(path), readings.clock))
        case FileTouched(path=path):
            return replace(readings, changed=readings.changed.insert(end_of(path), readings.clock))
        case ToolRan(status="completed", part=part, tool=tool, target=target) if plain(tool) not in READ_ONLY:
            path = shown_file(target)
            return _shown(readings, Reading(part, end_of(path), readings.clock, target)) if path else readings
        case PartRemoved(part=part) if any(one.part == part for one in readings.shown):
            return replace(readings, shown=tuple(one for one in readings.shown if one.part != part))
        case _:
            return readings


def _shown(readings: Readings, reading: Reading) -> Readings:
    """A call may be reported twice: it shows its file since the first time."""
    if any(one.part == reading.part for one in readings.shown):
        return readings
    return replace(readings, shown=(*readings.shown, reading)[-MOST:])
