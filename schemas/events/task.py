"""Facts about the tasks of the dreamer's runs."""

from typing import ClassVar

from schemas.events.base import Event


class TaskFinished(Event, frozen=True):
    """A task of a run has ended, with what came of it."""

    TYPE: ClassVar[str] = "task.finished"

    run: str
    task: str
    outcome: str
    """completed (something was written), no_effect (there was work, and nothing was written), skipped or failed."""
    code: str = ""
    """Why it was skipped (nothing_to_do, nothing_changed, no_tree, budget, unknown_task, equal_failures), or how it
    failed (crashed, or the name of an error)."""
    detail: str = ""
    """The same in words, where there is more to say."""
    backlog: int = 0
    """How much there was to do before ..."""
    backlog_after: int = 0
    """... and how much is left."""
    applied: int = 0
    """Commands that changed what is remembered ..."""
    held: int = 0
    """... and those that wait for a person."""
    refused: int = 0
    """Commands that the desk refused."""
    tokens: int = 0
    """What models took for it, in and out ..."""
    usd: float = 0.0
    """... and cost."""
    seconds: float = 0.0


EVENTS: tuple[type[Event], ...] = (TaskFinished,)
