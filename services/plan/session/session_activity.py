"""State of a session besides its conversation and its plan: for reports and compaction contexts."""

import msgspec

from schemas.events import (
    CallFailed,
    Event,
    FileTouched,
    NativeCompacted,
    PlanRebased,
    SessionOpened,
    SessionRenamed,
    TodoCaptured,
    ToolRan,
    UsageSampled,
)
from services.domain.tools.todos import UNDONE

MAX_FILES = 50
MAX_FAILURES = 20
MAX_REBASES = 3

replace = msgspec.structs.replace


class FileActivity(msgspec.Struct, frozen=True):
    """A file that the agent has worked with."""

    path: str
    reads: int = 0
    edits: int = 0
    last: str = ""
    """The last thing that was done to it."""


class Rebase(msgspec.Struct, frozen=True):
    """A rebase in one line."""

    revision: int
    step: str
    causes: tuple[str, ...]
    before: int
    after: int


class SessionActivity(msgspec.Struct, frozen=True):
    """The newest of everything, bounded."""

    harness: str = ""
    title: str = ""
    todos: TodoCaptured = TodoCaptured(contents=[], statuses=[], priorities=[])
    files: tuple[FileActivity, ...] = ()
    """The newest last."""
    failures: tuple[ToolRan, ...] = ()
    """Calls that failed and were not made again with success, the newest last."""
    refused: CallFailed | None = None
    """The newest refusal of a model call, until one is answered."""
    rebases: tuple[Rebase, ...] = ()
    """The newest last."""
    compactions: int = 0
    """The number of summaries of the session by the harness itself."""

    @property
    def open_todos(self) -> list[str]:
        lines = zip(self.todos.contents, self.todos.statuses, strict=True)
        return [content for content, status in lines if status in UNDONE]


def activity_after(activity: SessionActivity, event: Event) -> SessionActivity:
    match event:
        case FileTouched():
            return replace(activity, files=_files(activity.files, event))
        case ToolRan():
            failures = _failures(activity.failures, event)
            return activity if failures == activity.failures else replace(activity, failures=failures)
        case TodoCaptured():
            return replace(activity, todos=event)
        case CallFailed():
            return replace(activity, refused=event)
        case UsageSampled() if activity.refused is not None:
            return replace(activity, refused=None)
        case NativeCompacted():
            return replace(activity, compactions=activity.compactions + 1)
        case PlanRebased():
            return replace(activity, rebases=_rebases(activity.rebases, event))
        case SessionOpened(harness=harness, title=title):
            return replace(activity, harness=harness, title=title)
        case SessionRenamed(title=title):
            return replace(activity, title=title)
        case _:
            return activity


def _files(files: tuple[FileActivity, ...], event: FileTouched) -> tuple[FileActivity, ...]:
    known = next((file for file in files if file.path == event.path), FileActivity(event.path))
    is_read = event.action == "read"
    now = FileActivity(event.path, known.reads + is_read, known.edits + (not is_read), event.action)
    return (*(file for file in files if file.path != event.path), now)[-MAX_FILES:]


def _failures(failures: tuple[ToolRan, ...], event: ToolRan) -> tuple[ToolRan, ...]:
    """A failure counts until the same is done with success; a command without an exit code proves nothing."""
    if _has_failed(event):
        others = (one for one in failures if one.part != event.part and not _is_same(one, event))
        return (*others, event)[-MAX_FAILURES:]
    return tuple(one for one in failures if one.part != event.part and not _is_healed(one, event))


def _has_failed(event: ToolRan) -> bool:
    return event.status == "error" or event.exit_code not in (None, 0)


def _is_same(one: ToolRan, other: ToolRan) -> bool:
    return bool(one.target) and (one.tool, one.target) == (other.tool, other.target)


def _is_healed(failure: ToolRan, success: ToolRan) -> bool:
    return _is_same(failure, success) and (failure.exit_code is None or success.exit_code is not None)


def _rebases(rebases: tuple[Rebase, ...], event: PlanRebased) -> tuple[Rebase, ...]:
    """A rebase of many edits is several revisions: only the last one counts."""
    made = Rebase(event.revision, event.step, tuple(event.causes), event.tokens_before, event.tokens_after)
    others = rebases[:-1] if rebases and rebases[-1].step == event.step else rebases
    return (*others, made)[-MAX_REBASES:]
