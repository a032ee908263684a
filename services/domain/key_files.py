"""Sessions' use of files, and decisions about those that were proposed as key files."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from typing import Literal

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, KeyFileDismissed, KeyFileProposed, SettingsApplied
from services.domain.fold import Map

Status = Literal["pending", "accepted", "dismissed"]
TIMES_MORE = 2
"""The factor by which a dismissed file has to be used more often than before until it is proposed again."""
NEVER = 0
"""The position of what has none yet."""


class FileUse(msgspec.Struct, frozen=True):
    """The use of a file by agents of primary sessions."""

    reads: int = 0
    edits: int = 0
    """Changes after it was read."""

    @property
    def count(self) -> int:
        return self.reads + self.edits


class KeyFile(msgspec.Struct, frozen=True):
    """A file that was proposed as a key file, and what became of the proposal."""

    path: str
    use: FileUse = FileUse()
    """When it was proposed last."""
    size: int = 0
    """Bytes, at that time."""
    status: Status = "pending"
    seq: int = NEVER
    """The position of the newest fact about it."""


class KeyFiles(msgspec.Struct, frozen=True):
    """All files of a project that were proposed, by their paths."""

    known: Map[str, KeyFile] = Map()

    def of(self, status: Status) -> tuple[KeyFile, ...]:
        """The key files of a status, in the order of their paths."""
        return tuple(one for _, one in sorted(self.known.items()) if one.status == status)

    def is_open(self, path: str, use: FileUse) -> bool:
        """Whether a file that is used so often may be proposed: nobody has decided, or the file is used much more."""
        known = self.known.get(path)
        return known is None or (known.status == "dismissed" and use.count >= TIMES_MORE * max(1, known.use.count))


def evolve(files: KeyFiles, event: Event, envelope: Envelope) -> KeyFiles:
    """The files after this fact. A fact that comes again changes nothing."""
    match event:
        case KeyFileProposed(path=path, reads=reads, edits=edits, size=size):
            return _with(files, KeyFile(path, FileUse(reads, edits), size), envelope)
        case KeyFileDismissed(path=path):
            return _with(files, _as(files, path, "dismissed"), envelope)
        case SettingsApplied(key_files=paths):
            for path in paths:
                files = _with(files, _as(files, path, "accepted"), envelope)
            return files
        case _:
            return files


def _as(files: KeyFiles, path: str, status: Status) -> KeyFile:
    return msgspec.structs.replace(files.known.get(path) or KeyFile(path), status=status)


def _with(files: KeyFiles, changed: KeyFile, envelope: Envelope) -> KeyFiles:
    known = files.known.get(changed.path)
    if known is not None and NEVER < envelope.seq <= known.seq:
        return files
    return KeyFiles(files.known.insert(changed.path, msgspec.structs.replace(changed, seq=envelope.seq)))
