"""Paths in a project: which of them lead nowhere else, and which of them a build makes."""

from __future__ import annotations

from fnmatch import fnmatchcase

from services.domain.secret_paths import is_secret
from services.dreamer.core.task import Tree

LONGEST, DEEPEST = 512, 32
"""Characters of a path, and its parts."""
MADE_FOLDERS = frozenset(
    {"node_modules", "vendor", "dist", "build", "target", "generated", "__pycache__", ".venv", "venv"}
)
"""Names of folders in which builds and others write, and not the people of a project."""


def parts_of(path: str) -> tuple[str, ...]:
    """The parts of a path from the root of a project; none where it leads out of it, or is no path."""
    if not path or len(path) > LONGEST or path.startswith(("/", "~")) or "\0" in path or "\\" in path:
        return ()
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    return () if ".." in parts or len(parts) > DEEPEST else parts


def is_ignored(path: str, ignored: str) -> bool:
    """Whether a path is one of those that a `.gitignore` with this text names, as far as its lines are simple.

    A line with `!` takes nothing back here: what is in doubt counts as ignored.
    """
    parts = parts_of(path)
    for line in ignored.splitlines():
        pattern = line.strip().rstrip("/")
        if not pattern or pattern.startswith(("#", "!")):
            continue
        pattern = pattern.removeprefix("**/")
        if "/" in pattern:
            if any(fnmatchcase("/".join(parts[:end]), pattern.lstrip("/")) for end in range(1, len(parts) + 1)):
                return True
        elif any(fnmatchcase(part, pattern) for part in parts):
            return True
    return False


def followed(path: str, tree: Tree) -> str:
    """The place to which git has followed a file or a folder that is gone; empty: none is known, there or open."""
    new = tree.moved(path)
    return new if new and tree.exists(new) and not is_secret(new) else ""
