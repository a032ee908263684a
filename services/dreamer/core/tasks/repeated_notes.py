"""Notes that say the same, word for word: the newest stays, and the others are done with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemas.commands import NoteDismiss
from services.dreamer.core.task import DreamTask, Scene, TaskChange
from services.memory.entry import Note


class RepeatedNotes:
    """Dismisses all notes of a session that a newer one of the same session repeats."""

    NAME = "repeated_notes"
    CRON = "15 2 * * *"
    needs_tree = False
    model = None
    needs_model = False

    def backlog(self, scene: Scene) -> int:
        return len([*_repeated(scene)])

    def changes(self, scene: Scene) -> Sequence[TaskChange]:
        return [
            TaskChange(NoteDismiss(old.id, session=old.session), f"{new.id} says the same")
            for old, new in _repeated(scene)
        ]


def _repeated(scene: Scene) -> Iterator[tuple[Note, Note]]:
    """Each note that is repeated, with the newest that repeats it."""
    newest: dict[tuple[str, str, str], Note] = {}
    notes = (note for note in scene.book.notes.values() if note.status == "active")
    for note in sorted(notes, key=lambda one: (-one.seq, one.id)):
        key = note.session, " ".join(note.text.split()), " ".join(note.condition.split())
        if (known := newest.setdefault(key, note)) is not note:
            yield note, known


TASK: DreamTask = RepeatedNotes()
