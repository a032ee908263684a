"""A model's answer between its check and the decision of the desk, in the form in which the log has it.

It costs money, and the process that got it may be killed. So it is recorded before anything of it is decided on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from schemas.codec import encode
from schemas.commands import (
    Command,
    MemoryImportance,
    MemoryMerge,
    MemoryRevise,
    MemorySplit,
    NoteTranslate,
)
from schemas.document_commands import DocsPropose
from schemas.events import TaskAnswered, TaskAsked
from services.domain.secrets import mask
from services.dreamer.core.task import TaskChange

COMMANDS: Mapping[str, type[Command]] = {
    one.TYPE: one for one in (DocsPropose, MemoryImportance, MemoryMerge, MemoryRevise, MemorySplit, NoteTranslate)
}
"""The commands that answers become, by their types."""
ERASED = "its answer was erased before it was decided on"


class StoredChange(msgspec.Struct, frozen=True):
    """A command that an answer has become."""

    type: str
    command: msgspec.Raw
    reason: str
    target: str


class StoredAnswer(msgspec.Struct, frozen=True):
    """A whole answer."""

    asked: TaskAsked
    changes: tuple[StoredChange, ...]


def answered(asked: TaskAsked, changes: Sequence[TaskChange]) -> TaskAnswered:
    """The fact of an answer, without secrets. Raises `KeyError` for a command that no answer becomes."""
    stored = tuple(
        StoredChange(COMMANDS[one.command.TYPE].TYPE, msgspec.Raw(encode(one.command)), one.reason, one.target)
        for one in changes
    )
    return TaskAnswered(run=asked.run, task=asked.task, answer=mask(encode(StoredAnswer(asked, stored)).decode()))


def changes_of(event: TaskAnswered) -> tuple[TaskAsked, tuple[TaskChange, ...]]:
    """The record of a question, and the changes that its answer has become. Of one that was erased: none."""
    try:
        stored = msgspec.json.decode(event.answer, type=StoredAnswer)
        changes = tuple(
            TaskChange(msgspec.json.decode(one.command, type=COMMANDS[one.type]), one.reason, one.target)
            for one in stored.changes
        )
    except (msgspec.DecodeError, KeyError):
        return TaskAsked(run=event.run, task=event.task, outcome="invalid_output", detail=ERASED), ()
    return stored.asked, changes
