"""Files of a project that sessions have worked with, folded from the log."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable
from posixpath import normpath

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, FileTouched, SessionOpened
from services.domain.fold import Map
from services.domain.key_files import FileUse
from services.domain.project_settings import is_path

MOST_FILES = 20_000
"""Files that are counted; what else sessions have touched is passed over."""


class FileUses(msgspec.Struct, frozen=True):
    """Counts of how often files were read and changed by agents of primary sessions."""

    directories: Map[str, str] = Map()
    """Primary session -> the directory that its paths are relative to."""
    files: Map[str, FileUse] = Map()
    """Path from the project's root -> how often."""


def evolve(uses: FileUses, event: Event, envelope: Envelope, roots: Iterable[str]) -> FileUses:
    """The uses after this fact. `roots`: where harnesses have worked in the project."""
    match event:
        case SessionOpened(directory=directory, parent=""):
            return msgspec.structs.replace(uses, directories=uses.directories.insert(envelope.session, directory))
        case FileTouched() if envelope.session in uses.directories:
            path = _from_root(event.path, uses.directories[envelope.session], roots)
            return msgspec.structs.replace(uses, files=_counted(uses.files, path, event.action))
        case _:
            return uses


def _counted(files: Map[str, FileUse], path: str, action: str) -> Map[str, FileUse]:
    known = files.get(path)
    if action == "deleted":
        return files.discard(path)
    if action == "read" and is_path(path) and (known is not None or len(files) < MOST_FILES):
        known = known or FileUse()
        return files.insert(path, FileUse(known.reads + 1, known.edits))
    if action != "read" and known is not None:
        return files.insert(path, FileUse(known.reads, known.edits + 1))
    return files


def _from_root(path: str, directory: str, roots: Iterable[str]) -> str:
    """The path from the outermost of the roots that it lies in; one that lies in none stays as it is."""
    if not directory and not path.startswith("/"):
        return normpath(path)
    full = normpath(path if path.startswith("/") else f"{directory}/{path}")
    inner = [full.removeprefix(f"{root}/") for root in map(normpath, roots) if full.startswith(f"{root}/")]
    return max(inner, key=len, default=full)
