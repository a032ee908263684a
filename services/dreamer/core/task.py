"""What a task of the dreamer is: it looks at a project's memory, and names commands for the desk to decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from schemas.commands import Command
from services.memory.book import Book
from services.memory.decide.holding import is_proposed


class Change(msgspec.Struct, frozen=True):
    """One command that a task wants the desk to decide, and why, in one line."""

    command: Command
    reason: str


class Tree(Protocol):
    """The files of a project, read through one door."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this path, from the root of the tree."""

    def text(self, path: str) -> str | None:
        """The text of a file. None: it is not there, secret, a link out, or larger than 64 KiB."""

    def moved(self, path: str) -> str:
        """Where git says that a file was renamed to; empty: not known."""


class Scene(msgspec.Struct, frozen=True):
    """What a task sees: the project's book at one position of the log, the tree if there is one, the moment."""

    book: Book
    now: datetime
    tree: Tree | None = None
    vectors: Mapping[str, bytes] = {}
    """Memory id -> vector, where there is a model for vectors."""


def undecided(scene: Scene, changes: Iterable[Change]) -> list[Change]:
    """Those of changes that no person has on the table, and that none has decided on."""
    return [one for one in changes if not is_proposed(scene.book, one.command)]


class Task(Protocol):
    """One kind of work on a project's memory."""

    NAME: str
    """As its module is called, such as `consolidate`."""
    CRON: str
    """Its slot by default; empty: it is only run when it is ordered."""
    needs_tree: bool
    """Whether it is skipped where the files of the project are not on this machine."""

    def backlog(self, scene: Scene) -> int:
        """How much there is to do."""

    def changes(self, scene: Scene) -> Sequence[Change]:
        """The commands that would do it, in their order."""
