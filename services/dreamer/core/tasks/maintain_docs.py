"""Changes of a project's documents are proposed, and a person decides: nothing is written or committed."""

from __future__ import annotations

from collections.abc import Sequence

from services.dreamer.core.doc_paths import renamed
from services.dreamer.core.doc_questions import offered_sections, sheet_about
from services.dreamer.core.drafts import drafts, proposal
from services.dreamer.core.outcome import is_refused
from services.dreamer.core.task import DreamTask, ModelPart, QuestionSheet, Scene, TaskChange


class DocsMaintenance:
    """Finds what documents say of files that have moved, and asks a model about sections whose files have changed."""

    NAME = "maintain_docs"
    CRON = "0 7 * * 0"
    needs_tree = True
    needs_model = False

    def __init__(self) -> None:
        self.model: ModelPart = self

    def backlog(self, scene: Scene) -> int:
        """The number of documents for which rules have something new to propose."""
        return len(self.changes(scene))

    def changes(self, scene: Scene) -> Sequence[TaskChange]:
        """A proposal for each document that names files by paths that they had before."""
        if is_refused(scene.book):
            return []
        found: list[TaskChange] = []
        for draft in drafts(scene):
            result, paths = renamed(draft.draft, draft.folder)
            whole = ((draft.folder.from_root(one.old), draft.folder.from_root(one.new)) for one in paths)
            reasons = [f"git says that {old} is {new} now" for old, new in whole]
            if paths and (command := proposal(scene, draft, result, reasons)):
                found.append(TaskChange(command, f"{draft.path}: {'; '.join(reasons)}"))
        return found

    def left(self, scene: Scene) -> int:
        """The number of sections that a model was not asked about."""
        return len(offered_sections(scene))

    def sheet(self, scene: Scene, most: int) -> QuestionSheet | None:
        """The next question."""
        return sheet_about(scene, most)


TASK: DreamTask = DocsMaintenance()
