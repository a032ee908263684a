"""Facts about the tasks of the dreamer's runs."""

from typing import ClassVar

import msgspec

from schemas.events.base import Event, LogOnly


class TaskAnswered(Event, frozen=True):
    """A model has answered a question of a task, and the desk has decided on nothing of it yet.

    A dreamer that goes on with the run after another one was killed sends this, and does not ask again.
    """

    TYPE: ClassVar[str] = "task.answered"

    run: str
    task: str
    answer: LogOnly = ""
    """JSON with two fields: `asked`, the `task.asked` that is recorded when the desk has decided, and `changes`, the
    commands that passed the checks."""


class TaskAsked(Event, frozen=True):
    """A model was asked a question of a task. The items of its answer that passed the checks were sent to the desk."""

    TYPE: ClassVar[str] = "task.asked"

    run: str
    task: str
    outcome: str
    """`ok`, or the code with which all models failed: then the task goes on without one."""
    detail: str = ""
    """The same in words, where there is more to say."""
    model: str = ""
    """Which one has answered, as `provider/model`."""
    items: list[str] = []
    """The items that the answer was about, as the task names them. A task asks about each of them once."""
    accepted: int = 0
    """Items of the answer that became commands."""
    dropped: int = 0
    """Items of the answer that failed a check."""
    refused: int = 0
    """Commands of it that the desk refused."""
    reasons: list[str] = []
    """The reasons why items were dropped, each reason once."""
    tokens: int = 0
    """The tokens that models took for it, in and out."""
    usd: float = 0.0
    """The cost of models for it, in USD."""
    seconds: float = 0.0


class TaskFinished(Event, frozen=True):
    """A task of a run has ended, with what came of it."""

    TYPE: ClassVar[str] = "task.finished"

    run: str
    task: str
    outcome: str
    """completed (something was written), no_effect (there was work, and nothing was written), skipped or failed."""
    code: str = ""
    """The reason why it was skipped (nothing_to_do, nothing_changed, no_tree, no_model, no_answer, policy, budget,
    unknown_task, equal_failures), or how it failed (crashed, or the name of an error)."""
    detail: str = ""
    """The same in words, where there is more to say."""
    backlog: int = 0
    """The amount of work that there was to do before."""
    backlog_after: int = 0
    """The amount of work that is left."""
    applied: int = 0
    """Commands that changed what is remembered."""
    waiting: int = msgspec.field(default=0, name="held")
    """Commands that wait for a person."""
    refused: int = 0
    """Commands that the desk refused."""
    tokens: int = 0
    """The tokens that models took for it, in and out."""
    usd: float = 0.0
    """The cost of models for it, in USD."""
    seconds: float = 0.0
    dropped: int = 0
    """Items of models' answers that failed a check."""
    unasked: int = 0
    """The amount of work that is left for a model: the task has a slot again, though nothing changed."""
    commit: str = ""
    """The commit of the tree that it has looked at, where it looks only at what changes from there; empty: it looks at
    all again."""
    uncommitted: list[str] = []
    """The paths of what differed from that commit."""
    position: int = 0
    """The position of the newest memory that it has seen."""
    is_of_mirror: bool = False
    """Whether the tree was the mirror of a remote, which has no texts."""
    is_partial: bool = False
    """Whether it has looked only at what had changed."""


EVENTS: tuple[type[Event], ...] = (TaskAnswered, TaskAsked, TaskFinished)
