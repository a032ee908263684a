"""The runs of the dreamer: one task after the other, whatever process dies meanwhile."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from schemas.envelope import Actor
from schemas.events import DreamFinished, DreamRequested, DreamStarted, Event, TaskFinished
from schemas.subjects import Address
from services.domain.jobs import Open
from services.dreamer.core.outcome import broken, closing, command_name, equal_failures, next_task, outcome_of
from services.dreamer.core.state import SENDER, Dreams
from services.dreamer.core.task import Change, Scene, Task
from services.dreamer.places import checkout_of
from services.kit.bus import Unreachable
from services.kit.commands import send
from services.kit.jobs import Advance, Complete, Fail, Job, Outcome, Snooze, Worker
from services.kit.model import BudgetExhausted
from services.kit.room import Kit

DreamJob = Job[Dreams, DreamRequested]
MOST_CHANGES = 200
"""Commands that a task sends in one run; what is left is the next run's."""
DESK_AWAY = 15.0
"""Seconds until a task is tried again of which the desk did not decide a command."""
LONGEST_DETAIL = 200
"""Characters of an error's words that are stored in the log."""

Newest = Callable[[Address], Awaitable[Dreams]]


class DreamRuns:
    """The kind of jobs that run tasks on a project."""

    def __init__(self, kit: Kit, newest: Newest, tasks: Mapping[str, Task]) -> None:
        self._kit = kit
        self._newest = newest
        self._tasks = tasks

    def open(self, state: Dreams) -> Open[DreamRequested] | None:
        return state.jobs.open

    def worker(self, _: DreamRequested) -> Worker[Dreams, DreamRequested]:
        return DreamRun(self._kit, self._newest, self._tasks)

    def failed(self, state: Dreams, request: DreamRequested, end: Fail, **_: object) -> Sequence[Event]:
        return broken(state, request, end.detail[:LONGEST_DETAIL])

    def abandoned(self, request: DreamRequested, reason: str) -> Sequence[Event]:
        return [DreamFinished(run=request.run, outcome="cut_short", code=reason)]

    def published(self, job: DreamJob, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, TaskFinished) and (event.outcome != "skipped" or event.code == "equal_failures"):
                self._kit.log.info(
                    "a task has ended",
                    project=job.address.project,
                    run=event.run,
                    task=event.task,
                    outcome=event.outcome,
                    code=event.code,
                    backlog=f"{event.backlog} -> {event.backlog_after}",
                    applied=event.applied,
                    held=event.held,
                )


class DreamRun:
    """Does one run. It can be cut off anywhere: what a command has done, the log says."""

    def __init__(self, kit: Kit, newest: Newest, tasks: Mapping[str, Task]) -> None:
        self._kit = kit
        self._newest = newest
        self._tasks = tasks

    async def perform(self, job: DreamJob) -> Outcome[Dreams]:
        state, run = job.state, job.request.run
        if not state.run.is_started:
            return Advance(partial(_started, run))
        if code := equal_failures(state):
            return Complete(lambda now: closing(now, code))
        task = next_task(state)
        if not task:
            return Complete(lambda _: [DreamFinished(run=run)])
        try:
            ended = await self._task_ended(job, task)
        except Unreachable as error:
            self._kit.log.warning("a task waits for the desk", task=task, reason=str(error))
            return Snooze(DESK_AWAY)
        return Advance(lambda now: [ended] if next_task(now) == task else ())

    async def _task_ended(self, job: DreamJob, name: str) -> TaskFinished:
        """Run a task, and say what came of it."""
        run, began = job.request.run, time.monotonic()
        task = self._tasks.get(name)
        if task is None:
            return TaskFinished(run=run, task=name, outcome="skipped", code="unknown_task")
        try:
            return await self._performed(job, task, began)
        except Unreachable:
            raise
        except BudgetExhausted as error:
            ended = TaskFinished(run=run, task=name, outcome="skipped", code="budget", detail=_words(error))
        except Exception as error:
            self._kit.log.exception("a task failed", project=job.address.project, run=run, task=name)
            ended = TaskFinished(run=run, task=name, outcome="failed", code=type(error).__name__, detail=_words(error))
        return await self._with_counts(job.address, ended, began)

    async def _with_counts(self, address: Address, ended: TaskFinished, began: float) -> TaskFinished:
        """What a task did before it was cut off."""
        applied, held = (await self._newest(address)).counted(ended.run, ended.task)
        return TaskFinished(
            run=ended.run, task=ended.task, outcome=ended.outcome, code=ended.code, detail=ended.detail,
            applied=applied, held=held, seconds=_since(began),
        )  # fmt: skip

    async def _performed(self, job: DreamJob, task: Task, began: float) -> TaskFinished:
        state, run = job.state, job.request.run
        scene = await self._scene(job.address, state, task)
        if scene is None:
            return TaskFinished(run=run, task=task.NAME, outcome="skipped", code="no_tree", seconds=_since(began))
        before, _ = state.counted(run, task.NAME)
        backlog = before + await asyncio.to_thread(task.backlog, scene)
        changes = await asyncio.to_thread(task.changes, scene) if backlog else ()
        refused = await self._sent(job.address, run, task.NAME, changes)
        after = await self._newest(job.address)
        applied, held = after.counted(run, task.NAME)
        left = await asyncio.to_thread(task.backlog, _later(scene, after))
        outcome, code = outcome_of(backlog, applied, held)
        if code and state.seen.get(task.NAME, -1) >= state.newest_change:
            code = "nothing_changed"
        return TaskFinished(
            run=run, task=task.NAME, outcome=outcome, code=code, backlog=backlog, backlog_after=left,
            applied=applied, held=held, refused=refused, seconds=_since(began),
        )  # fmt: skip

    async def _scene(self, address: Address, state: Dreams, task: Task) -> Scene | None:
        """What a task sees; none: it needs the files of the project, and they are not here."""
        if not task.needs_tree:
            return Scene(state.book, datetime.now(UTC))
        roots = state.roots if self._kit.settings.commits.checkouts else ()
        tree = await checkout_of(address.project, roots)
        return Scene(state.book, datetime.now(UTC), tree) if tree is not None else None

    async def _sent(self, address: Address, run: str, task: str, changes: Sequence[Change]) -> int:
        """Have the desk decide each change, in their order; how many it refused. Raises `Unreachable`."""
        refused, actor = 0, Actor("room", SENDER)
        for change in changes[:MOST_CHANGES]:
            name = command_name(run, task, change.command)
            answer = await send(self._kit.bus, address, change.command, name=name, actor=actor)
            if answer.again:
                raise Unreachable(f"the desk did not decide on a command: {answer.text}")
            if not answer.ok:
                refused += 1
                self._kit.log.debug("a change was refused", task=task, reason=answer.text, wanted=change.reason)
        return refused


def _started(run: str, now: Dreams) -> Sequence[Event]:
    memories = sum(memory.is_active for memory in now.book.memories.values())
    return () if now.run.is_started else [DreamStarted(run=run, memories=memories)]


def _later(scene: Scene, state: Dreams) -> Scene:
    return Scene(state.book, datetime.now(UTC), scene.tree, scene.vectors)


def _words(error: Exception) -> str:
    return str(error)[:LONGEST_DETAIL]


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
