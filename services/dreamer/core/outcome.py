"""The outcome of a task, and when a run is cut short."""

from __future__ import annotations

from hashlib import sha256

from schemas.codec import encode
from schemas.commands import Command
from schemas.events import DreamFinished, DreamRequested, TaskFinished
from services.dreamer.core.state import SENDER, Dreams, command_prefix
from services.dreamer.core.task import DreamTask
from services.memory.book import Book
from services.memory.policy import action_for

MOST_EQUAL = 3
"""Failures with one code, one behind the other, after which a run is cut short."""
CRASHED = "crashed"
IN_VAIN = frozenset({("no_effect", True), ("skipped", False)})
"""An outcome, and whether a task needs a model: then the reason is that no model has answered, if none has."""
LONGEST_DETAIL = 200
"""Characters of an error's words that are stored in the log."""
NO_MODEL = (
    "rules settle nothing of this task, and there is no model to ask; name one in ANNALS_MODEL__CHAIN, and let "
    "ANNALS_DREAM__QUESTIONS be more than 0"
)
NOTHING_TO_ASK = "no memory of this project is left that a model would be asked about"
NO_TREE = (
    "no working tree of this project is known on the machine where the dreamer runs; go there, and run "
    "`annals dream run` in the tree"
)
NO_TREES = (
    "this dreamer reads no working trees (ANNALS_COMMITS__CHECKOUTS), as on the server of a team; what needs files is "
    "done by a dreamer on the machine that has them"
)
REFUSED = "the policy refuses what the dreamer sends, so that no model is asked; `annals memory policy dreamer held`"


def command_name(run: str, task: str, command: Command, target: str = "") -> str:
    """The name of a command: the same again in the same run is one command, whichever process sends it.

    With a `target` it is that of whatever a task does with it: a model that is asked again may answer otherwise.
    """
    content = target.encode() if target else encode(command)
    digest = sha256(command.TYPE.encode() + b"\0" + content).hexdigest()
    return f"{command_prefix(run, task)}{digest[:24]}"


def next_task(state: Dreams) -> str:
    """The task of the open run that comes next; empty: all have ended."""
    done = {one.task for one in state.run.finished}
    return next((task for task in state.request.tasks if task not in done), "") if state.request else ""


def next_part(state: Dreams) -> tuple[object, ...]:
    """The part of the open run that comes next: others that have done it have written that down."""
    task = next_task(state)
    return task, state.questions_of(task), state.run.answered


def equal_failures(state: Dreams) -> str:
    """The code with which the newest tasks have all failed; empty: they have not."""
    newest = state.run.finished[-MOST_EQUAL:]
    codes = {one.code if one.outcome == "failed" else "" for one in newest}
    return codes.pop() if len(newest) == MOST_EQUAL and len(codes) == 1 else ""


def closing(state: Dreams, code: str) -> list[TaskFinished | DreamFinished]:
    """The events that end a run before its last task: the tasks that are left are recorded as skipped."""
    request = state.request
    if request is None:
        return []
    done = {one.task for one in state.run.finished}
    detail = f"the tasks before it have failed {MOST_EQUAL} times with {code}"
    skipped = [
        TaskFinished(run=request.run, task=task, outcome="skipped", code="equal_failures", detail=detail)
        for task in request.tasks
        if task not in done
    ]
    return [*skipped, DreamFinished(run=request.run, outcome="cut_short", code=code)]


def broken(state: Dreams, request: DreamRequested, detail: str) -> list[TaskFinished | DreamFinished]:
    """The events of a run that no process brings to its end: its next task has failed, and the others are not tried."""
    task = next_task(state)
    failed = [TaskFinished(run=request.run, task=task, outcome="failed", code=CRASHED, detail=detail)] if task else []
    return [*failed, DreamFinished(run=request.run, outcome="cut_short", code=CRASHED)]


def done_before(state: Dreams, task: DreamTask) -> int:
    """The amount of a task's work that this run has done before."""
    if task.needs_model:
        return sum(len(one.items) for one in state.questions_of(task.NAME))
    return sum(state.counted(state.run_name, task.NAME))


def ending(state: Dreams, task: DreamTask, backlog: int, *, are_models: bool) -> TaskFinished:
    """The end of a task that did not fail. That it ran is no proof that it did anything."""
    applied, waiting = state.counted(state.run_name, task.NAME)
    outcome, code = outcome_of(backlog, applied, waiting)
    silence, detail = _silence_of(state, task, are_models=are_models)
    if silence and (outcome, task.needs_model) in IN_VAIN:
        outcome, code = "skipped", silence
    elif code:
        detail = NOTHING_TO_ASK if task.needs_model else ""
        code = "nothing_changed" if state.seen.get(task.NAME, -1) >= state.newest_change else code
    return TaskFinished(
        run=state.run_name, task=task.NAME, outcome=outcome, code=code, detail=detail[:LONGEST_DETAIL], backlog=backlog
    )


def is_refused(book: Book) -> bool:
    """Whether the policy refuses what the dreamer sends: then it is not worth asking a model."""
    return action_for(book.policy, SENDER) == "refused"


def _silence_of(state: Dreams, task: DreamTask, *, are_models: bool) -> tuple[str, str]:
    """The reason why no model has answered a task, and the same in words; empty: one has, or nothing was asked."""
    if not are_models:
        return ("no_model", NO_MODEL) if task.needs_model else ("", "")
    if task.needs_model and is_refused(state.book):
        return "policy", REFUSED
    failed = next((one for one in state.questions_of(task.NAME) if one.outcome != "ok"), None)
    if failed is None:
        return "", ""
    code = "budget" if failed.outcome == "budget_exhausted" else "no_answer"
    return code, f"{failed.outcome}: {failed.detail}"


def outcome_of(backlog: int, applied: int, waiting: int) -> tuple[str, str]:
    """The outcome of a task that did not fail, and why it was skipped: that it ran is no proof that it did anything."""
    if applied or waiting:
        return "completed", ""
    return ("no_effect", "") if backlog else ("skipped", "nothing_to_do")
