"""The runs of the dreamer: one task after the other, whatever process dies meanwhile."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from schemas.envelope import Actor
from schemas.events import (
    DreamFinished,
    DreamRequested,
    DreamStarted,
    Event,
    FileTouched,
    SessionOpened,
    TaskAnswered,
    TaskAsked,
    TaskFinished,
)
from schemas.subjects import Address, of_sessions
from services.domain.dream_times import DreamTimes
from services.domain.jobs import Open
from services.domain.key_files import FileUse
from services.domain.project_settings import ProjectSettings, with_own
from services.dreamer.core.answered import answered, changes_of
from services.dreamer.core.outcome import (
    LONGEST_DETAIL,
    NO_TREE,
    NO_TREES,
    broken,
    closing,
    command_name,
    done_before,
    ending,
    equal_failures,
    is_refused,
    next_part,
    next_task,
)
from services.dreamer.core.state import MOST_CHANGES, SENDER, Dreams
from services.dreamer.core.task import DreamTask, FileUseTask, OptionalTreeTask, Scene, TaskChange, Tree, TreeNameTask
from services.dreamer.core.tree_look import changes_since, with_look
from services.dreamer.core.uses import FileUses, evolve
from services.dreamer.places import checkout_of, mirror_of
from services.dreamer.questions import TaskQuestions
from services.kit.bus import LogReader, Unreachable
from services.kit.commands import send
from services.kit.jobs import Advance, Complete, Fail, Job, Outcome, Snooze, Worker
from services.kit.model import BudgetExhausted
from services.kit.room import Kit
from services.settings.dream_tasks import check_zone

DreamJob = Job[Dreams, DreamRequested]
LONGEST_PAUSE = 0.1
"""Seconds between two commands, at most. A pause is as long as the desk took, so that half of its time is others'."""
DESK_AWAY = 15.0
"""Seconds until a task is tried again of which the desk did not decide a command."""

Newest = Callable[[Address], Awaitable[Dreams]]


class DreamRuns:
    """The kind of jobs that run tasks on a project."""

    def __init__(self, kit: Kit, newest: Newest, tasks: Mapping[str, DreamTask], questions: TaskQuestions) -> None:
        self._kit = kit
        self._newest = newest
        self._tasks = tasks
        self._questions = questions

    def open(self, state: Dreams) -> Open[DreamRequested] | None:
        return state.jobs.open

    def worker(self, _: DreamRequested) -> Worker[Dreams, DreamRequested]:
        return DreamRun(self._kit, self._newest, self._tasks, self._questions)

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
                    waiting=event.waiting,
                    tokens=event.tokens,
                )


class DreamRun:
    """Does one run. It can be cut off anywhere: what a command has done, the log says."""

    def __init__(self, kit: Kit, newest: Newest, tasks: Mapping[str, DreamTask], questions: TaskQuestions) -> None:
        self._kit = kit
        self._newest = newest
        self._tasks = tasks
        self._questions = questions

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
            made = await self._part_of(job, task)
        except Unreachable as error:
            self._kit.log.warning("a task waits for the desk", task=task, reason=str(error))
            return Snooze(DESK_AWAY)
        known = next_part(state)
        return Advance(lambda now: [made] if next_part(now) == known else ())

    async def _part_of(self, job: DreamJob, name: str) -> TaskAnswered | TaskAsked | TaskFinished:
        """Ask one question of a task, have its answer decided, or run the rest of it; the fact of that."""
        run, began = job.request.run, time.monotonic()
        task = self._tasks.get(name)
        if task is None:
            return TaskFinished(run=run, task=name, outcome="skipped", code="unknown_task")
        try:
            return await self._asked(job, task) or await self._performed(job, task, began)
        except Unreachable:
            raise
        except BudgetExhausted as error:
            ended = TaskFinished(run=run, task=name, outcome="skipped", code="budget", detail=_words(error))
        except Exception as error:
            self._kit.log.exception("a task failed", project=job.address.project, run=run, task=name)
            ended = TaskFinished(run=run, task=name, outcome="failed", code=type(error).__name__, detail=_words(error))
        return await self._with_counts(job.address, ended, began)

    async def _asked(self, job: DreamJob, task: DreamTask) -> TaskAnswered | TaskAsked | None:
        """Let rules settle what they can, and ask one question about the rest; none: nothing is asked any more.

        The desk decides on an answer in the next part: by then the log has it, and no process pays for it again.
        """
        state, run = job.state, job.request.run
        if state.run.answered is not None and state.run.answered.task == task.NAME:
            event, stored = changes_of(state.run.answered)
            return replace(event, refused=await self._sent(job.address, run, task.NAME, stored))
        if task.model is None or is_refused(state.book) or not self._questions.may_go_on(state.questions_of(task.NAME)):
            return None
        scene = await self._scene(job.address, state, task)
        if scene is None:
            return None
        changes = await asyncio.to_thread(task.changes, scene)
        if len(changes) > MOST_CHANGES:
            return None
        if changes:
            await self._sent(job.address, run, task.NAME, changes)
            scene = self._later(scene, await self._newest(job.address), task)
        asked = await self._questions.ask(job.address, run, task, scene)
        if asked is None:
            return None
        event, found = asked
        return answered(event, found) if found else event

    async def _with_counts(self, address: Address, ended: TaskFinished, began: float) -> TaskFinished:
        """With what the task has done before it ended, in all processes that had it, and what that has cost."""
        state = await self._newest(address)
        applied, proposals = state.counted(ended.run, ended.task)
        asked = state.questions_of(ended.task)
        return replace(
            ended,
            applied=applied,
            waiting=proposals,
            refused=ended.refused + sum(one.refused for one in asked),
            dropped=sum(one.dropped for one in asked),
            tokens=sum(one.tokens for one in asked),
            usd=sum(one.usd for one in asked),
            seconds=_since(began),
        )

    async def _performed(self, job: DreamJob, task: DreamTask, began: float) -> TaskFinished:
        """Do what rules settle, and say what came of the task."""
        state, run = job.state, job.request.run
        scene = await self._scene(job.address, state, task)
        if scene is None:
            return self._without_tree(run, task, began)
        backlog = done_before(state, task) + await asyncio.to_thread(task.backlog, scene)
        changes = await asyncio.to_thread(task.changes, scene) if backlog else ()
        refused = await self._sent(job.address, run, task.NAME, changes)
        after = await self._newest(job.address)
        ended = ending(after, task, backlog, are_models=self._questions.are_possible)
        left, unasked = await asyncio.to_thread(self._left, task, self._later(scene, after, task))
        ended = replace(ended, refused=refused, backlog_after=left, unasked=unasked)
        if _looks_at_changes(task) and not refused and len(changes) <= MOST_CHANGES:
            ended = await asyncio.to_thread(with_look, ended, scene)
        return await self._with_counts(job.address, ended, began)

    def _without_tree(self, run: str, task: DreamTask, began: float) -> TaskFinished:
        detail = NO_TREE if self._kit.settings.commits.checkouts else NO_TREES
        return TaskFinished(
            run=run, task=task.NAME, outcome="skipped", code="no_tree", detail=detail, seconds=_since(began)
        )

    def _left(self, task: DreamTask, scene: Scene) -> tuple[int, int]:
        """The amount of work that is left, and the part of it that a model is to be asked about."""
        model = task.model if self._questions.are_possible and not is_refused(scene.book) else None
        return task.backlog(scene), model.left(scene) if model is not None else 0

    async def _scene(self, address: Address, state: Dreams, task: DreamTask) -> Scene | None:
        """The scene of a task; None: it needs the files of the project, and they are not here."""
        takes_tree = isinstance(task, OptionalTreeTask) and task.takes_tree
        if not task.needs_tree and not takes_tree:
            return self._later(Scene(state.book, datetime.now(UTC)), state, task)
        commits = self._kit.settings.commits
        tree: Tree | None = await checkout_of(address.project, state.roots if commits.checkouts else ())
        if tree is None and (takes_tree or _looks_at_changes(task)) and address.project in commits.remotes:
            tree = await mirror_of(self._kit.settings.data, address.project)
        if tree is None and task.needs_tree:
            return None
        needs_uses = isinstance(task, FileUseTask) and task.needs_uses
        uses = await file_uses(self._kit.reader, address.project, state.roots) if needs_uses else {}
        changes = None
        if tree is not None and _looks_at_changes(task):
            await asyncio.to_thread(
                getattr, tree, "point"
            )  # that of now: what changes from here on is for the next run
            changes = await asyncio.to_thread(changes_since, state.looked.get(task.NAME), tree, datetime.now(UTC))
        return self._later(Scene(state.book, datetime.now(UTC), tree, uses=uses, changes=changes), state, task)

    def _later(self, scene: Scene, state: Dreams, task: DreamTask) -> Scene:
        """The same with what is known of the project by now."""
        return replace(
            scene,
            book=state.book,
            now=datetime.now(UTC),
            asked=state.asked_about.get(task.NAME, frozenset()),
            own=state.own,
            docs=state.docs,
            documents=self._kit.settings.dream.documents,
            limits=self._kit.settings.plan,
            zone=self._zone_of_days(state.own),
        )

    def _zone_of_days(self, own: ProjectSettings) -> tzinfo:
        """The time zone of a project's days: its own, or that of the installation, or UTC.

        It is never that of a machine, since the rooms of a team run on several.
        """
        times = DreamTimes(zone=self._kit.settings.dream.zone)
        for name in (with_own(times, own.newest.settings).zone, times.zone):
            try:
                check_zone(name)
            except ValueError as error:
                self._kit.log.warning("a project's time zone is not used", reason=str(error))
                continue
            if name:
                return ZoneInfo(name)
        return UTC

    async def _sent(self, address: Address, run: str, task: str, changes: Sequence[TaskChange]) -> int:
        """Have the desk decide each change, in their order; how many it refused. Raises `Unreachable`."""
        refused, actor = 0, Actor("room", SENDER)
        for change in changes[:MOST_CHANGES]:
            name, began = command_name(run, task, change.command, change.target), time.monotonic()
            answer = await send(self._kit.bus, address, change.command, name=name, actor=actor)
            await asyncio.sleep(min(time.monotonic() - began, LONGEST_PAUSE))
            if answer.again:
                raise Unreachable(f"the desk did not decide on a command: {answer.text}")
            if not answer.ok:
                refused += 1
                self._kit.log.debug("a change was refused", task=task, reason=answer.text, wanted=change.reason)
        return refused


def _started(run: str, now: Dreams) -> Sequence[DreamStarted]:
    memories = sum(memory.is_active for memory in now.book.memories.values())
    return () if now.run.is_started else [DreamStarted(run=run, memories=memories)]


def _looks_at_changes(task: DreamTask) -> bool:
    """Whether a task looks at names and history alone, and only at what has changed since."""
    return isinstance(task, TreeNameTask) and task.looks_at_changes


def _words(error: Exception) -> str:
    return str(error)[:LONGEST_DETAIL]


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)


async def file_uses(reader: LogReader, project: str, roots: Sequence[str]) -> Mapping[str, FileUse]:
    """Path from the project's root -> its use up to now, in all primary sessions of the project.

    `roots`: where harnesses have worked in it. Raises `Unreachable`.
    """
    uses = FileUses()
    for kind in (SessionOpened, FileTouched):
        async for record in reader.after(0, of_sessions(project, kind.TYPE)):
            if record.event is not None:
                uses = evolve(uses, record.event, record.envelope, roots)
    return uses.files
