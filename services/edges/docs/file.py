"""A document in a working tree: read as what it is, and written whole or not at all, never where a link leads."""

import os
import stat
from pathlib import Path
from typing import NamedTuple

from services.domain.documents.proposals import MOST_BYTES, is_document
from services.domain.finding import echo
from services.kit.files import open_within, write_whole


class UnfitDocument(ValueError):
    """A document is not read or written; says why, and what to do about it."""


class TreeDocument(NamedTuple):
    """A document in a working tree."""

    tree: Path
    name: str
    """Its path from the root of the tree."""
    text: str
    mode: int
    """Its permissions."""

    @property
    def path(self) -> Path:
        """The place of the file."""
        return self.tree / self.name


def read_document(tree: Path, name: str) -> TreeDocument:
    """The document with its line endings as they are. Raises `UnfitDocument`."""
    if not is_document(name):
        raise UnfitDocument(f"{echo(name)} is no document of a project: dismiss what is proposed for it")
    try:
        with os.fdopen(open_within(tree, name.split("/")), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UnfitDocument(f"{name} is no file here: put one there")
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise UnfitDocument(f"there is no {name} in {tree}: no document is made, only changed") from error
    except OSError as error:
        why = "it is a link, and none is followed" if _has_link(tree, name) else str(error.strerror)
        raise UnfitDocument(f"{name} cannot be read ({why}): put the file itself there, readable for you") from error
    if len(raw) > MOST_BYTES:
        raise UnfitDocument(f"{name} is longer than {MOST_BYTES} bytes: edit it yourself")
    try:
        return TreeDocument(tree, name, raw.decode(), stat.S_IMODE(found.st_mode))
    except UnicodeDecodeError as error:
        raise UnfitDocument(f"{name} is no text in UTF-8: save it so") from error


def _has_link(tree: Path, name: str) -> bool:
    parts = name.split("/")
    return any(tree.joinpath(*parts[: depth + 1]).is_symlink() for depth in range(len(parts)))


def write_document(document: TreeDocument, text: str) -> None:
    """Put this text in the place of the document as it was read. Raises `UnfitDocument`."""
    path, name = document.path, document.name
    if read_document(document.tree, name) != document:
        raise UnfitDocument(f"{name} was changed meanwhile: type the command again")
    if not os.access(path, os.W_OK):
        raise UnfitDocument(f"{name} may not be written: give yourself the permission, and type the command again")
    try:
        write_whole(path, text.encode(), mode=document.mode, durable=True)
    except OSError as error:
        raise UnfitDocument(f"{name} cannot be written ({error.strerror}): mend that, and try again") from error
