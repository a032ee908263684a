"""Archives what is no longer true, and what nobody has called worth keeping, with the reason.

It is conservative: rules, constraints, reasons, lessons, known faults, what is about the environment, and what was seen
more than once stay. A person can restore whatever was archived.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas.commands import MemoryArchive
from services.dreamer.core.keeping import is_worth_keeping
from services.dreamer.core.named import TextNames, named_in
from services.dreamer.core.task import DreamTask, Scene, TaskChange, Tree, undecided
from services.memory.entry import Memory
from services.memory.gate.verdict import judge
from services.memory.strength import DAY

GRACE = 14 * DAY
"""The least age of a memory: what it names may be on another branch, or not committed yet."""
VOLATILE = 30 * DAY
"""The least age of a memory that names the number of a line, or reports what was the case once."""
PASSING = {
    "raw_error": "it is an error, word for word",
    "commit_or_ci_snapshot": "it reports how a commit or a run of tests went",
    "active_file_snapshot": "it reports which file was worked on",
    "deployment_snapshot": "it reports how a deployment went",
}
"""Reasons of the gate for which a text is not remembered today, in words: an earlier release may have taken it in.

Those of its reasons that also match a sentence that is true, such as `The ledger has two owners`, are none of these.
"""
_LINE = re.compile(r"\.\w{1,5}:\d{1,6}\b|\blines? \d{1,6}\b", re.IGNORECASE)


class Staleness:
    """Finds memories that are no longer true."""

    NAME = "archive_stale"
    CRON = "0 5 * * 0"
    needs_tree = False
    model = None
    needs_model = False

    def backlog(self, scene: Scene) -> int:
        """The number of memories that would be archived."""
        return len(self.changes(scene))

    def changes(self, scene: Scene) -> Sequence[TaskChange]:
        """An archiving, with its reason, for each memory that is stale, passing or volatile."""
        known = sorted(scene.book.memories.values(), key=lambda memory: memory.id)
        found = ((memory, _reason(memory, scene)) for memory in known if memory.is_active)
        stale = (
            TaskChange(MemoryArchive(memory.id, reason, revision=memory.revision), f"{memory.id}: {reason}")
            for memory, reason in found
            if reason
        )
        return undecided(scene, stale)


def _reason(memory: Memory, scene: Scene) -> str:
    age = scene.now - memory.clock
    if age < GRACE or is_worth_keeping(memory):
        return ""
    if _is_there(memory, scene.tree):
        return ""
    if memory.verification == "stale":
        return "it was found to be no longer true"
    if age < VOLATILE or memory.verification == "verified":
        return ""
    if _LINE.search(memory.text):
        return "it names the number of a line, which changes with every edit"
    reasons = judge(memory.text, memory.memory_class).reasons
    return next((PASSING[reason] for reason in reasons if reason in PASSING), "")


def _is_there(memory: Memory, tree: Tree | None) -> bool:
    """Whether a file that it names is there."""
    named = named_in(memory.text) if tree is not None else TextNames()
    return tree is not None and any(tree.exists(one.path) for one in named.paths)


TASK: DreamTask = Staleness()
