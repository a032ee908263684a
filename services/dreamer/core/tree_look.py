"""The things that a task has looked at in a tree, and those for the next time: only what has changed. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace

from schemas.events import TaskFinished
from services.dreamer.core.task import Scene, SeenTree, Tree, TreeChanges

WHOLE_EVERY = timedelta(days=7)
"""So long after its last look at everything a task looks at everything again: what is ignored changes unnoticed."""


def changes_since(seen: SeenTree | None, tree: Tree, now: datetime) -> TreeChanges | None:
    """The changes since a task looked last. None: it is to look at everything."""
    if seen is None or now - seen.whole_at >= WHOLE_EVERY or seen.point.is_whole != tree.is_whole:
        return None
    paths = tree.changed_since(seen.point)
    return None if paths is None else TreeChanges(frozenset(paths), seen.position)


def with_look(ended: TaskFinished, scene: Scene) -> TaskFinished:
    """The end of a task with what it has looked at. Where the state of the tree is not known, nothing is noted."""
    point = scene.tree.point if scene.tree is not None else None
    if point is None:
        return ended
    return replace(
        ended,
        commit=point.commit,
        uncommitted=[*point.uncommitted],
        is_of_mirror=not point.is_whole,
        position=max((memory.seq for memory in scene.book.memories.values()), default=0),
        is_partial=scene.changes is not None,
    )
