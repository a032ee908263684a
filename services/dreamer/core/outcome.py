"""What came of a task, and when a run is cut short."""

from __future__ import annotations

from hashlib import sha256

from schemas.codec import encode
from schemas.commands import Command
from schemas.events import DreamFinished, DreamRequested, Event, TaskFinished
from services.dreamer.core.state import Dreams, command_prefix

MOST_EQUAL = 3
"""Failures with one code, one behind the other, after which a run is cut short."""
CRASHED = "crashed"


def command_name(run: str, task: str, command: Command) -> str:
    """The name of a command: the same again in the same run is one command, whichever process sends it."""
    digest = sha256(command.TYPE.encode() + b"\0" + encode(command)).hexdigest()
    return f"{command_prefix(run, task)}{digest[:24]}"


def next_task(state: Dreams) -> str:
    """The task of the open run that comes next; empty: all have ended."""
    done = {one.task for one in state.run.finished}
    return next((task for task in state.request.tasks if task not in done), "") if state.request else ""


def equal_failures(state: Dreams) -> str:
    """The code with which the newest tasks have all failed; empty: they have not."""
    newest = state.run.finished[-MOST_EQUAL:]
    codes = {one.code if one.outcome == "failed" else "" for one in newest}
    return codes.pop() if len(newest) == MOST_EQUAL and len(codes) == 1 else ""


def closing(state: Dreams, code: str) -> list[Event]:
    """The events that end a run before its last task: what is left is skipped, and seen to be."""
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


def broken(state: Dreams, request: DreamRequested, detail: str) -> list[Event]:
    """The events of a run that no process brings to its end: its next task has failed, and the others are not tried."""
    task = next_task(state)
    failed = [TaskFinished(run=request.run, task=task, outcome="failed", code=CRASHED, detail=detail)] if task else []
    return [*failed, DreamFinished(run=request.run, outcome="cut_short", code=CRASHED)]


def outcome_of(backlog: int, applied: int, held: int) -> tuple[str, str]:
    """The outcome of a task that did not fail, and why it was skipped: that it ran is no proof that it did anything."""
    if applied or held:
        return "completed", ""
    return ("no_effect", "") if backlog else ("skipped", "nothing_to_do")
