"""The folder of a document, as its text sees the project: paths begin there, and lead no further up.

A path in back quotes may be meant from the root of the project, too. So what is there from the root is not gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from services.dreamer.core.paths import followed, is_ignored, parts_of
from services.dreamer.core.task import FileCommit, Tree


class DocFolder:
    """The files of a project by their paths from the folder of a document."""

    def __init__(self, tree: Tree, document: str) -> None:
        """`document`: its path from the root of the project."""
        self._tree = tree
        self._document = document
        folder = document.rpartition("/")[0]
        self._within = f"{folder}/" if folder else ""

    def from_root(self, path: str) -> str:
        """A path of the folder as one from the root of the project."""
        return f"{self._within}{path}"

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this path."""
        return bool(parts_of(path)) and self._tree.exists(self.from_root(path))

    def is_ignored(self, path: str) -> bool:
        """Whether a `.gitignore` of the folder or of one above it names the path."""
        whole = self.from_root(path)
        return any(is_ignored(whole.removeprefix(place), text) for place, text in self._ignored)

    def is_known(self, path: str) -> bool:
        """Whether a path is there, from the folder or from the root."""
        return self.exists(path) or self._tree.exists(path)

    def may_be_there(self, path: str) -> bool:
        """Whether a path is there, from the folder or from the root, or is one that a build makes."""
        return self.is_known(path) or self.is_ignored(path)

    def followed(self, path: str) -> str:
        """The place in the folder to which git has followed a path that is gone; empty: none is known, or open."""
        new = followed(self.from_root(path), self._tree) if parts_of(path) else ""
        return new.removeprefix(self._within) if new.startswith(self._within) else ""

    def text(self, path: str) -> str | None:
        """The text of a file."""
        return self._tree.text(self.from_root(path))

    def commits(self) -> Iterator[FileCommit]:
        """The commits since the document was changed that concern its folder, with what they changed there."""
        for one in self._tree.commits_since(self._document):
            files = tuple(file.removeprefix(self._within) for file in one.files if file.startswith(self._within))
            if files:
                yield FileCommit(one.sha, one.subject, files)

    @cached_property
    def _ignored(self) -> Sequence[tuple[str, str]]:
        """Each folder from the root to this one, with the text of its `.gitignore`."""
        parts = self._within.split("/")[:-1]
        places = ["".join(f"{part}/" for part in parts[:depth]) for depth in range(len(parts) + 1)]
        return [(place, self._tree.text(f"{place}.gitignore") or "") for place in places]
