"""Orders to the dreamer: which of its tasks are to be run on a project."""

from __future__ import annotations

from difflib import get_close_matches

import msgspec

from schemas.commands import DreamOrder
from schemas.envelope import Envelope
from schemas.events import DreamOrdered, Event
from services.domain.command import command
from services.domain.decision import CommandContext, Decision
from services.domain.finding import echo

LONGEST_PATH = 4_096
"""Characters of the path of a directory."""


class DreamOrders(msgspec.Struct, frozen=True):
    """The orders of a project, as far as they are decided on: none prevents another."""

    count: int = 0


def evolve(orders: DreamOrders, event: Event, _: Envelope) -> DreamOrders:
    return DreamOrders(orders.count + 1) if isinstance(event, DreamOrdered) else orders


@command(DreamOrder, on=DreamOrders, sent_by=("person", "agent"), writes=(DreamOrdered,))
def order(_: DreamOrders, command: DreamOrder, context: CommandContext) -> Decision:
    """Have all tasks run, or one of them. Orders that wait are answered by one run."""
    task = command.task.strip()
    if wrong := _wrong(task, context) or _wrong_directory(command.directory):
        return Decision(ok=False, text=f"Nothing was ordered: {wrong}.")
    directory = command.directory if context.trust == "person" else ""
    event = DreamOrdered(tasks=[task] if task else [], origin=context.session, directory=directory)
    what = f"The task {task}" if task else f"All tasks ({', '.join(context.tasks)})"
    text = (
        f"{what} will be run on what is remembered of this project, in the background and after a run that is under "
        "way. `annals dream status` shows what comes of it."
    )
    return Decision(ok=True, text=text, events=(event,))


def _wrong_directory(directory: str) -> str:
    """The reason why this can be the path of no directory, with a remedy; empty: it can."""
    if len(directory) <= LONGEST_PATH and "\0" not in directory:
        return ""
    return f"a directory has at most {LONGEST_PATH:,} characters, and no NUL among them; name another, or none"


def _wrong(task: str, context: CommandContext) -> str:
    """The reason why nobody would run this task, with a remedy; empty: somebody would."""
    if not context.dreams:
        return "the dreamer is switched off here (ANNALS_DREAM__ENABLED)"
    if not context.remembers:
        return "this project has no memory (ANNALS_MEMORY__ENABLED, or memory.enabled of its own settings)"
    if not task or task in context.tasks:
        return ""
    like = get_close_matches(task, context.tasks, 1)
    meant = f"did you mean {like[0]}?" if like else f"there are {', '.join(context.tasks)}"
    return f"there is no task {echo(task)}: {meant}"
