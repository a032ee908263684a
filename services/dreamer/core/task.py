"""What a task of the dreamer is: it sees a scene, and names the commands that the desk is to decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from schemas.commands import Command
from services.memory.book import Book


class Change(msgspec.Struct, frozen=True):
    """One command that a task wants the desk to decide, and why, in one line."""

    command: Command
    reason: str


class Tree(Protocol):
    """The files of a project, read through one door."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this path, from the root of the project."""

    def text(self, path: str) -> str | None:
        """The text of a file; None: it is not there, secret, a link that leads out, or larger than 64 KiB."""

    def moved(self, path: str) -> str:
        """Where git says that a file was renamed to; empty: that is not known."""


class Scene(msgspec.Struct, frozen=True):
    """What a task sees: the project's book at one position of the log, the tree if there is one, the moment."""

    book: Book
    now: datetime
    tree: Tree | None = None
    vectors: Mapping[str, bytes] = {}
    """Memory -> its vector, where there is a model for vectors."""


class Task(Protocol):
    """One kind of work of the dreamer. It has no state: the same scene gives the same changes."""

    NAME: str
    CRON: str
    """When it is due by default, as five fields of cron; empty: never."""
    needs_tree: bool

    def backlog(self, scene: Scene) -> int:
        """How much there is to do, counted without a model."""

    def changes(self, scene: Scene) -> Sequence[Change]:
        """The commands that the desk is to decide, in their order."""
