"""The interface of a dreamer's task: it looks at a project's memory, and proposes commands for the desk to decide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from schemas.commands import Command
from services.domain.documents.proposals import DOCUMENTS, DocProposals
from services.domain.key_files import FileUse
from services.domain.limits import Limits
from services.domain.project_settings import ProjectSettings
from services.memory.book import Book
from services.memory.decide.holding import is_proposed


class TaskChange(msgspec.Struct, frozen=True):
    """One command that a task wants the desk to decide, and why, in one line."""

    command: Command
    reason: str
    target: str = ""
    """The thing that it is about. In one run it is decided once, even if a model that is asked again decides
    otherwise."""


class FileCommit(NamedTuple):
    """A commit, and what it has changed."""

    sha: str
    """The beginning of its name."""
    subject: str
    files: tuple[str, ...]
    """Paths from the root of the tree."""


class TreePoint(NamedTuple):
    """The state of a tree at one moment."""

    commit: str
    uncommitted: tuple[str, ...] = ()
    """Paths of what differs from that commit."""
    is_whole: bool = True
    """Whether it is that of a tree with texts."""


class SeenTree(msgspec.Struct, frozen=True):
    """The things that a task has looked at last: a tree, and the memories up to a position of the log."""

    point: TreePoint
    position: int
    whole_at: datetime
    """When it last looked at all memories."""


class TreeChanges(msgspec.Struct, frozen=True):
    """The changes since a task looked last."""

    paths: frozenset[str]
    position: int
    """Behind it facts are new."""


class Tree(Protocol):
    """The files of a project, read through one door."""

    @property
    def is_whole(self) -> bool:
        """Whether it has texts and ignore files. Otherwise it has names and a history alone."""

    @property
    def point(self) -> TreePoint | None:
        """Its state when it was first asked for. None: it is not known."""

    def was_there(self, path: str) -> bool:
        """Whether the history has a file or a folder of this path that is gone."""

    def changed_since(self, before: TreePoint) -> AbstractSet[str] | None:
        """The paths of what has changed since then. None: it is not known."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this path, from the root of the tree."""

    def text(self, path: str) -> str | None:
        """The text of a file. None: it is not there, secret, a link out, or larger than 64 KiB."""

    def document(self, path: str) -> str | None:
        """The text of a file in UTF-8, byte for byte. None: as for `text`, it is a link, or is in another encoding."""

    def commits_since(self, path: str) -> Sequence[FileCommit]:
        """The commits since the newest one that has changed a file, the newest first; none where git does not say."""

    def named(self, ending: str) -> Sequence[str]:
        """The files that git has under a path that ends so, by whole parts of it; none where it does not say."""

    def moved(self, path: str) -> str:
        """The new path of a file or a folder that git reports as renamed; empty: not known."""


class Scene(msgspec.Struct, frozen=True):
    """The input of a task: the project's book at one position of the log, the tree if there is one, the moment."""

    book: Book
    now: datetime
    tree: Tree | None = None
    asked: AbstractSet[str] = frozenset()
    """The items that a model was asked about before, as the task names them."""
    own: ProjectSettings = ProjectSettings()
    """The project's own settings, and the key files that were proposed."""
    docs: DocProposals = DocProposals()
    """Which changes of documents were proposed, and what people have decided on them."""
    documents: tuple[str, ...] = DOCUMENTS
    """The names of the documents that changes are proposed to."""
    uses: Mapping[str, FileUse] = {}
    """Path from the project's root -> how often sessions have worked with the file, for a task that looks at it."""
    zone: tzinfo = UTC
    """The time zone of the project's days."""
    limits: Limits = Limits()
    """The limits of prompts, as the installation has them."""
    changes: TreeChanges | None = None
    """The changes since the task looked last, where it looks at nothing else. None: all counts."""


class JudgedAnswer(msgspec.Struct, frozen=True):
    """The part of an answer that passed the check."""

    changes: tuple[TaskChange, ...] = ()
    items: tuple[str, ...] = ()
    """The keys of the items that it was about, also of those of which nothing passed."""
    dropped: tuple[str, ...] = ()
    """The reasons why items were dropped, one for each of them."""


class QuestionSheet(msgspec.Struct, frozen=True):
    """One question."""

    system: str
    prompt: str
    shape: type[Any]
    """The type that the answer is decoded into."""
    check: Callable[[Any], str]
    """The fault of an answer as a whole, in a sentence for the model; empty: there is none."""
    judge: Callable[[Any], JudgedAnswer]
    unusable: tuple[TaskChange, ...] = ()
    """The changes that follow where a model has answered, and its answer is of no use after a repair either."""


class ModelPart(Protocol):
    """The part of a task that asks a model."""

    def left(self, scene: Scene) -> int:
        """The number of items that a model was not asked about."""

    def sheet(self, scene: Scene, most: int) -> QuestionSheet | None:
        """The next question, about so many items at most; none: nothing is left."""


def undecided(scene: Scene, changes: Iterable[TaskChange]) -> list[TaskChange]:
    """Those of changes that no person has on the table, and that none has decided on."""
    return [one for one in changes if not is_proposed(scene.book, one.command)]


def waiting_in(book: Book) -> frozenset[str]:
    """The memories that a proposal would change that waits for a person."""
    found = (one for one in book.memories.values() if one.change is not None and one.status == "pending")
    return frozenset(name for one in found if one.change for name, _ in one.change.targets)


@runtime_checkable
class FileUseTask(Protocol):
    """A task that looks at how often sessions have worked with files: for the others that is not read."""

    needs_uses: bool


@runtime_checkable
class OptionalTreeTask(Protocol):
    """A task that looks at the names of files where there is a tree, and does its other work without one, too."""

    takes_tree: bool


@runtime_checkable
class TreeNameTask(Protocol):
    """A task for which names and the history of files are enough, and which looks again only at what has changed."""

    looks_at_changes: bool


class DreamTask(Protocol):
    """One kind of work on a project's memory."""

    NAME: str
    """As its module is called, such as `consolidate`."""
    CRON: str
    """Its slot by default; empty: it is only run when it is ordered."""
    needs_tree: bool
    """Whether it is skipped where the files of the project are not on this machine."""
    needs_model: bool
    """Whether it is skipped where no model is set: rules settle nothing of it."""

    @property
    def model(self) -> ModelPart | None:
        """The part that asks a model, behind what rules have settled; None: it asks nothing."""

    def backlog(self, scene: Scene) -> int:
        """The amount of work that there is to do."""

    def changes(self, scene: Scene) -> Sequence[TaskChange]:
        """The commands that would do it, in their order."""


class QuestionTask(ABC):
    """A task that consists of questions: where rules settle nothing of it, it is skipped without a model."""

    needs_tree = False
    needs_model = True

    @property
    def model(self) -> ModelPart:
        """The task itself."""
        return self

    def backlog(self, scene: Scene) -> int:
        """The number of items that a model was not asked about."""
        return self.left(scene)

    def changes(self, scene: Scene) -> Sequence[TaskChange]:  # noqa: ARG002 - as a task is asked
        """None."""
        return []

    @abstractmethod
    def left(self, scene: Scene) -> int:
        """The number of items that a model was not asked about."""

    @abstractmethod
    def sheet(self, scene: Scene, most: int) -> QuestionSheet | None:
        """The next question, about so many items at most; none: nothing is left."""
