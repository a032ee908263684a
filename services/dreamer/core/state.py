"""The dreamer's state of a project: its memories, what changed in them, and its runs."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    CommitsAdvanced,
    DocsProposed,
    DreamFinished,
    DreamOrdered,
    DreamRequested,
    DreamStarted,
    Event,
    KeyFileProposed,
    MemoryArchived,
    MemoryDivided,
    MemoryExpired,
    MemoryJudged,
    MemoryMerged,
    MemoryPinned,
    MemoryProposed,
    MemoryQuarantined,
    MemoryReinforced,
    MemoryReleased,
    MemoryRestored,
    MemoryRevised,
    MemoryWritten,
    NoteUpdated,
    NoteWritten,
    PolicyChanged,
    ProjectIdentified,
    TaskAnswered,
    TaskAsked,
    TaskFinished,
)
from services.domain import jobs, project_settings
from services.domain.documents import proposals
from services.domain.documents.proposals import DocProposals
from services.domain.fold import Map
from services.domain.jobs import Advanced, Attempted, JobDone, Jobs, Requested, Transition
from services.domain.project_settings import ProjectSettings
from services.dreamer.core.task import SeenTree, TreePoint
from services.memory import book as books
from services.memory.book import Book

replace = msgspec.structs.replace

DreamJobs = Jobs[DreamRequested]
NOUNS = (*books.NOUNS, "commits", "docs", "dream", "settings", "task")
"""The nouns of the facts that the state is folded from."""
CHANGES: tuple[type[Event], ...] = (
    MemoryProposed,
    MemoryWritten,
    MemoryRevised,
    MemoryMerged,
    MemoryDivided,
    MemoryReinforced,
    MemoryArchived,
    MemoryRestored,
    MemoryPinned,
    MemoryExpired,
    MemoryQuarantined,
    MemoryReleased,
    NoteWritten,
    NoteUpdated,
    PolicyChanged,
    CommitsAdvanced,
)
"""The events after which there may be something to do."""
SENDER = "dreamer"
"""As commands of the dreamer are sent: what it changes itself gives no reason for another run."""
MOST_CHANGES = 200
"""Commands that a task sends in one run; what is left is the next run's."""
AGAIN = frozenset({"failed"})
"""Outcomes after which a task has a slot again although nothing changed."""
TRIED_AGAIN = frozenset({"budget", "equal_failures", "no_answer"})
"""The same by the reason why a task was skipped."""


AFTER_NOTES = frozenset({"translate_notes"})
"""Tasks that only notes with a condition in words give work to. Their slots come within minutes of one: a project
without such notes has no run of them, and none of these runs counts where the others are due because nobody works."""
LATER = timedelta(hours=6)
"""One of these that was not answered is tried again so much later: an outage must not write a run every few minutes."""


class Order(msgspec.Struct, frozen=True):
    """An order that no run has answered yet."""

    seq: int
    tasks: tuple[str, ...]
    """None: all."""


class NewestRun(msgspec.Struct, frozen=True):
    """The result of the newest run up to here."""

    is_started: bool = False
    finished: tuple[TaskFinished, ...] = ()
    questions: tuple[TaskAsked, ...] = ()
    """The questions that its tasks have asked models."""
    answered: TaskAnswered | None = None
    """A model's answer that the desk has not decided on; None: there is none."""
    commands: Map[str, bool] = Map()
    """The name of each of its commands that has written something -> whether that waits for a person."""


class Dreams(msgspec.Struct, frozen=True):
    """A project at one position of the log."""

    book: Book = Book()
    roots: tuple[str, ...] = ()
    """The directories in which harnesses have worked in it and people have ordered runs, the newest last. Any of them
    may be on another machine, or that of another project."""
    own: ProjectSettings = ProjectSettings()
    """The project's own settings, and the key files that were proposed."""
    docs: DocProposals = DocProposals()
    """Which changes of documents were proposed, and what people have decided on them."""
    jobs: DreamJobs = Jobs()
    orders: tuple[Order, ...] = ()
    run: NewestRun = NewestRun()
    asked: Map[str, datetime] = Map()
    """Task -> when it was requested last."""
    changed: Map[str, datetime] = Map()
    """Task -> when something first changed since the last run that had it began; none: nothing did."""
    first_change: datetime | None = None
    """When something changed at all: that counts for a task that was never run."""
    newest_change: int = 0
    """The position of the newest change."""
    seen: Map[str, int] = Map()
    """Task -> the newest change that it has seen when it ended last without a failure."""
    timed_at: datetime | None = None
    """When the project set its own times of tasks last, or took that back; none: it never did."""
    looked: Map[str, SeenTree] = Map()
    """Task -> what it has looked at last, where it looks again only at what has changed."""
    asked_about: Map[str, frozenset[str]] = Map()
    """Task -> what a model was asked about, as the task names it."""

    @property
    def request(self) -> DreamRequested | None:
        """The request of the open run."""
        return self.jobs.open.request if self.jobs.open else None

    @property
    def run_name(self) -> str:
        """The name of the open run; empty: none is open."""
        return self.request.run if self.request else ""

    @property
    def last_asked(self) -> datetime | None:
        """When a run was requested last."""
        return max((at for task, at in self.asked.items() if task not in AFTER_NOTES), default=None)

    def change_for(self, task: str) -> datetime | None:
        """When something first changed that a task has not seen; none: nothing did."""
        is_known = task in self.asked or task in AFTER_NOTES
        return self.changed.get(task) if is_known else self.first_change

    def questions_of(self, task: str) -> tuple[TaskAsked, ...]:
        """The questions that a task has asked models in the open run."""
        return tuple(one for one in self.run.questions if one.task == task)

    def counted(self, run: str, task: str) -> tuple[int, int]:
        """The number of a task's commands that have changed something, and of those that wait for a person."""
        found = [one for name, one in self.run.commands.items() if name.startswith(command_prefix(run, task))]
        return found.count(False), found.count(True)


def command_prefix(run: str, task: str) -> str:
    """The beginning of the names of a task's commands."""
    return f"{SENDER}/{run}/{task}/"


def transition(event: Event) -> Transition[DreamRequested] | None:
    """The transition of its run that an event makes; none: it is about something else."""
    match event:
        case DreamRequested(run=run):
            return Requested(run, event)
        case DreamStarted(run=run):
            return Attempted(run)
        case TaskAnswered(run=run) | TaskAsked(run=run) | TaskFinished(run=run):
            return Advanced(run)
        case DreamFinished(run=run):
            return JobDone(run)
        case _:
            return None


def evolve(state: Dreams, event: Event, envelope: Envelope) -> Dreams:
    state = _changed(_known(state, event, envelope), event, envelope)
    if isinstance(event, PolicyChanged):  # what was only marked may be worded anew now
        state = replace(state, looked=Map())
    if isinstance(event, DreamOrdered):
        orders = (*state.orders, Order(envelope.seq, tuple(event.tasks)))
        return replace(state, orders=orders, roots=_with_root(state.roots, event.directory))
    if isinstance(event, ProjectIdentified):
        return replace(state, roots=_with_root(state.roots, event.root or event.directory))
    made = transition(event)
    if made is None:
        return state
    if not isinstance(event, DreamRequested) and (state.request is None or state.request.run != made.name):
        return state
    state = replace(state, jobs=jobs.evolve(state.jobs, made))
    match event:
        case DreamRequested(tasks=tasks):
            asked = _with(state.asked, tasks, envelope.at)
            orders = tuple(one for one in state.orders if one.seq > event.answers)
            return replace(state, asked=asked, orders=orders, run=NewestRun())
        case DreamStarted():
            return _started(state)
        case TaskAnswered():
            return replace(state, run=replace(state.run, answered=event))
        case TaskAsked(task=task, items=items):
            about = state.asked_about.insert(task, state.asked_about.get(task, frozenset()).union(items))
            run = replace(state.run, questions=(*state.run.questions, event), answered=None)
            return replace(state, asked_about=about, run=run)
        case TaskFinished():
            return _task_finished(state, event, envelope)
        case _:
            return state


def _with_root(roots: tuple[str, ...], root: str) -> tuple[str, ...]:
    """The places with this one as the newest; empty: it is not known."""
    return (*(one for one in roots if one != root), root) if root else roots


def _known(state: Dreams, event: Event, envelope: Envelope) -> Dreams:
    """The state after this fact, as far as tasks look at it."""
    own = project_settings.evolve(state.own, event, envelope)
    return replace(
        state,
        book=books.evolve(state.book, event, envelope),
        own=own,
        timed_at=state.timed_at if _times_of(own) == _times_of(state.own) else envelope.at,
        docs=proposals.evolve(state.docs, event, envelope),
    )


def _times_of(own: ProjectSettings) -> tuple[object, object]:
    """The project's own settings about when tasks are due."""
    return own.newest.settings.get("dream.slots"), own.newest.settings.get("dream.zone")


def _waits(event: Event) -> bool:
    """Whether the fact of a command is about something that waits for a person."""
    return isinstance(event, MemoryProposed | DocsProposed) or (
        isinstance(event, KeyFileProposed) and not event.is_applied
    )


def _started(state: Dreams) -> Dreams:
    changed = state.changed
    for task in state.request.tasks if state.request else ():
        changed = changed.discard(task)
    return replace(state, changed=changed, run=replace(state.run, is_started=True))


def _task_finished(state: Dreams, event: TaskFinished, envelope: Envelope) -> Dreams:
    state = replace(state, run=replace(state.run, finished=(*state.run.finished, event), answered=None))
    if event.outcome in AGAIN or event.code in TRIED_AGAIN or event.unasked or _is_cut_off(event):
        if event.task in state.changed:
            return state
        is_failed = event.outcome in AGAIN or event.code in TRIED_AGAIN
        again = envelope.at + LATER if is_failed and event.task in AFTER_NOTES else envelope.at
        return replace(state, changed=state.changed.insert(event.task, again))
    return replace(_looked(state, event, envelope), seen=state.seen.insert(event.task, state.newest_change))


def _looked(state: Dreams, event: TaskFinished, envelope: Envelope) -> Dreams:
    """With the tree that a task has looked at. One that names none has changed nothing of that."""
    if not event.commit:
        return state
    before = state.looked.get(event.task)
    point = TreePoint(event.commit, tuple(event.uncommitted), is_whole=not event.is_of_mirror)
    whole_at = before.whole_at if before is not None and event.is_partial else envelope.at
    seen = SeenTree(point, event.position, whole_at)
    return replace(state, looked=state.looked.insert(event.task, seen))


def _is_cut_off(event: TaskFinished) -> bool:
    """Whether a task has sent as much as it may, and not in vain: what is left is no refusal."""
    done = event.applied + event.waiting
    return bool(event.backlog_after and done) and done + event.refused >= MOST_CHANGES


def _changed(state: Dreams, event: Event, envelope: Envelope) -> Dreams:
    """The state with the changes that tasks look at. The dreamer's own commands are counted, and are none."""
    if envelope.actor.kind == "room" and envelope.actor.id == SENDER:
        request, noun = state.request, envelope.type.partition(".")[0]
        if request is None or noun in ("dream", "task") or not envelope.cause.startswith(f"{SENDER}/{request.run}/"):
            return state
        if isinstance(event, MemoryJudged):  # of a candidate that was refused there is nothing else
            return state
        is_proposal = _waits(event) or state.run.commands.get(envelope.cause, False)
        commands = state.run.commands.insert(envelope.cause, is_proposal)
        return replace(state, run=replace(state.run, commands=commands))
    if not isinstance(event, CHANGES):
        return state
    fresh = [task for task in state.asked if task not in state.changed and task not in AFTER_NOTES]
    if isinstance(event, NoteWritten | NoteUpdated) and event.condition and not event.waits_for:
        fresh += [task for task in AFTER_NOTES if task not in state.changed or envelope.at < state.changed[task]]
    return replace(
        state,
        first_change=state.first_change or envelope.at,
        changed=_with(state.changed, fresh, envelope.at),
        newest_change=max(state.newest_change, envelope.seq),
    )


def _with(moments: Map[str, datetime], tasks: Iterable[str], at: datetime) -> Map[str, datetime]:
    for task in tasks:
        moments = moments.insert(task, at)
    return moments
