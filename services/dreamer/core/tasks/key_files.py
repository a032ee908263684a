"""Files that sessions read again and again are proposed as key files, which are at the head of prompts."""

from __future__ import annotations

from collections.abc import Sequence

from services.domain.often import often
from services.dreamer.core.key_files import proposals
from services.dreamer.core.task import DreamTask, Scene, TaskChange


class KeyFileSearch:
    """Finds files that are worth being key files."""

    NAME = "key_files"
    CRON = "30 4 * * *"
    needs_tree = True
    needs_uses = True
    model = None
    needs_model = False

    def backlog(self, scene: Scene) -> int:
        """The number of files that would be proposed."""
        return len(self.changes(scene))

    def changes(self, scene: Scene) -> Sequence[TaskChange]:
        """A proposal for each file, the most used first."""
        return [
            TaskChange(one, f"{one.path}: read {often(one.reads)}, and changed {often(one.edits)}", one.path)
            for one in proposals(scene)
        ]


TASK: DreamTask = KeyFileSearch()
