"""What holds no more, and of what nobody has said that it is worth keeping, is archived, with the reason.

It is conservative: rules, constraints, reasons, lessons, known faults, what is about the environment, and what was seen
more than once stay. A person can restore whatever was archived.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas.commands import MemoryArchive
from services.dreamer.core.keeping import is_worth_keeping
from services.dreamer.core.named import Named, named_in
from services.dreamer.core.task import Change, Scene, Task, Tree
from services.memory.entry import Memory
from services.memory.gate.verdict import judge
from services.memory.strength import DAY

GRACE = 14 * DAY
"""How old a memory has to be: what it names may be on another branch, or not committed yet."""
VOLATILE = 30 * DAY
"""How old one has to be that names the number of a line: with every edit of the file it becomes another."""
PASSING = {
    "progress_snapshot": "it says how far some work was",
    "raw_error": "it is an error, word for word",
    "commit_or_ci_snapshot": "it says how a commit or a run of tests went",
    "temporary_status": "it says how something was for a time",
    "active_file_snapshot": "it says which file was worked on",
    "deployment_snapshot": "it says how a deployment went",
    "of_the_moment": "it is about one moment",
}
"""Reasons of the gate for which a text is not remembered today, in words. An earlier release may have taken it in."""
_LINE = re.compile(r"\.\w{1,5}:\d{1,6}\b|\b[Ll]ines? \d{1,6}\b")


class Staleness:
    """Finds memories that hold no more."""

    NAME = "archive_stale"
    CRON = "0 5 * * 0"
    needs_tree = False

    def backlog(self, scene: Scene) -> int:
        """How many memories would be archived."""
        return len(self.changes(scene))

    def changes(self, scene: Scene) -> Sequence[Change]:
        """An archiving, with its reason, for each memory that is stale, passing or volatile."""
        known = sorted(scene.book.memories.values(), key=lambda memory: memory.id)
        found = ((memory.id, _reason(memory, scene)) for memory in known if memory.is_active)
        return [Change(MemoryArchive(name, reason), f"{name}: {reason}") for name, reason in found if reason]


def _reason(memory: Memory, scene: Scene) -> str:
    age = scene.now - memory.clock
    if age < GRACE or is_worth_keeping(memory):
        return ""
    if memory.verification == "stale" and not _is_back(memory, scene.tree):
        return "it was found to hold no more"
    if age >= VOLATILE and _LINE.search(memory.text):
        return "it names the number of a line, which changes with every edit"
    reasons = judge(memory.text, memory.memory_class).reasons
    return next((PASSING[reason] for reason in reasons if reason in PASSING), "")


def _is_back(memory: Memory, tree: Tree | None) -> bool:
    """Whether a file that it names is there after all."""
    named = named_in(memory.text) if tree is not None else Named()
    return tree is not None and any(tree.exists(one.path) for one in named.paths)


TASK: Task = Staleness()
