"""The readings of files in a session, folded from its facts: which part shows which file, and how long ago.

Time is measured in tokens: all that has come since. What a shell command prints is a reading like one of a tool, and so
is a file that the agent wrote whole: it has that before it.
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
    at: int
    """Tokens that had come when it was shown."""
    target: str = ""
    """The command of the shell that shows it; empty: a tool does."""
    changes: int = 0
    """The number of changes of the file by then, in the session."""
    is_written: bool = False
    """Whether the agent wrote the file so, which is the newest of these changes."""


class FileChanges(msgspec.Struct, frozen=True, gc=False):
    """The changes of a file."""

    at: int
    """Tokens that had come at the newest change."""
    part: str
    """The part that made it."""
    count: int = 1


class Readings(msgspec.Struct, frozen=True):
    """Files that a session's calls have shown, and which of these were changed."""

    clock: int = 0
    """Tokens that have come."""
    newest: tuple[Reading, ...] = ()
    """The newest, in their order."""
    changed: Map[str, FileChanges] = Map()
    """File -> its changes."""

    def idle(self, reading: Reading) -> int:
        """Tokens that have come since it was shown, or its file was changed."""
        change = self.changed.get(reading.file)
        return self.clock - max(reading.at, change.at if change is not None else 0)

    def changes(self, file: str) -> int:
        """The number of changes of a file."""
        change = self.changed.get(file)
        return change.count if change is not None else 0

    def is_changed(self, reading: Reading) -> bool:
        """Whether its file was changed since."""
        return self.changes(reading.file) > reading.changes


def readings_after(readings: Readings, event: Event, before: Conversation) -> Readings:
    """The readings after this fact. `before`: the conversation without it."""
    match event:
        case PartRecorded(part=part, tokens=tokens):
            known = before.parts.get(part)
            growth = tokens - known.recorded.tokens if known is not None else tokens
            return replace(readings, clock=readings.clock + max(0, growth)) if growth else readings
        case FileTouched(path=path, action="read", part=part):
            return _with_reading(readings, Reading(part, end_of(path), readings.clock))
        case FileTouched(path=path, action=action, part=part):
            return _changed(readings, part, end_of(path), is_written=action == "written")
        case ToolRan(status="completed", part=part, tool=tool, target=target) if plain(tool) not in READ_ONLY:
            path = shown_file(target)
            return _with_reading(readings, Reading(part, end_of(path), readings.clock, target)) if path else readings
        case PartRemoved(part=part) if any(one.part == part for one in readings.newest):
            return replace(readings, newest=tuple(one for one in readings.newest if one.part != part))
        case _:
            return readings


def _changed(readings: Readings, part: str, file: str, *, is_written: bool) -> Readings:
    """A call may be reported twice: that is one change."""
    before = readings.changed.get(file)
    if before is not None and before.part == part:
        return readings
    change = FileChanges(readings.clock, part, before.count + 1 if before is not None else 1)
    readings = replace(readings, changed=readings.changed.insert(file, change))
    return _with_reading(readings, Reading(part, file, readings.clock, is_written=True)) if is_written else readings


def _with_reading(readings: Readings, reading: Reading) -> Readings:
    """A call may be reported twice: it shows its file since the first time."""
    if any(one.part == reading.part for one in readings.newest):
        return readings
    reading = replace(reading, changes=readings.changes(reading.file))
    return replace(readings, newest=(*readings.newest, reading)[-MOST:])
