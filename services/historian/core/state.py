"""The historian's state of a session: its conversation, its compartments, how full the prompt is, and its jobs."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from datetime import datetime, timedelta

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    CompartmentSealed,
    DropRequested,
    Event,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryAttempted,
    HistoryFailed,
    HistoryInherited,
    HistoryOrdered,
    HistoryReplaced,
    HistoryRequested,
    SessionForked,
    SessionIdled,
    SessionOpened,
    StepOpened,
    TodoCaptured,
    ToolRan,
    UsageSampled,
)
from services.domain import compartments, conversation, jobs, window
from services.domain.compartments import AHEAD, CompartmentHistory
from services.domain.conversation import Conversation, precedes
from services.domain.fold import Map
from services.domain.jobs import (
    Abandoned,
    Advanced,
    Attempted,
    JobDone,
    JobFailed,
    Jobs,
    Requested,
    Transition,
    remaining,
)
from services.domain.senders import is_of_subagent
from services.domain.tools.todos import UNDONE
from services.domain.transcript.commits import is_commit
from services.domain.window import Learned, prompt_tokens

HistoryJobs = Jobs[HistoryRequested]
REMOVED = "removed"
"""The reason of jobs that make compartments anew whose messages were deleted."""
REBUILD, RESCORE, ABANDON = "rebuild", "rescore", "abandon"
"""Orders. The jobs of the first two have them as their reasons."""


def transition(event: Event, jobs: HistoryJobs, generation: int) -> Transition[HistoryRequested] | None:
    """The transition that an event makes; none: it is about something else. `generation`: the one in force.

    The last part of a new generation does not end its job yet: it ends when the generation is put in force or given up.
    """
    match event:
        case HistoryRequested(run=run):
            return Requested(run, event)
        case HistoryAttempted(run=run):
            return Attempted(run)
        case HistoryAdvanced(run=run, done=True) if event.generation == generation:
            return JobDone(run, clears=jobs.open is None or jobs.open.request.reason != RESCORE)
        case HistoryAdvanced(run=run):
            return Advanced(run)
        case HistoryReplaced(run=run):
            return JobDone(run)
        case HistoryAbandoned(run=run):
            return Abandoned(run)
        case HistoryFailed(run=run, failures=failures, retry_at=retry_at):
            return JobFailed(run, failures, retry_at)
        case _:
            return None


def pause(event: Event, now: datetime) -> timedelta | None:
    """The time that a session still waits after this event until it is looked at again; None: until its next event."""
    return remaining(event.retry_at, now) if isinstance(event, HistoryFailed) and event.retry_at else None


replace = msgspec.structs.replace

SHRUNK = 0.95
"""Of the prompt before: a smaller one has lost something."""


class HistorianSession(msgspec.Struct, frozen=True):
    """A session at one position of the log."""

    conversation: Conversation = Conversation()
    history: CompartmentHistory = CompartmentHistory()
    step: StepOpened | None = None
    learned: Learned = Learned()
    usage: UsageSampled | None = None
    directory: str = ""
    """The directory of the work."""
    parent: str = ""
    """The session whose agent started this one."""
    origin: str = ""
    """The session that this one was copied from."""
    copied: int = 0
    """The last place at which a copied message may stand."""
    has_own_history: bool = False
    """Whether the compartments that it has of its origin are recorded."""
    queued: Map[int, None] = Map()
    """Tags that were asked to go since the prompt became smaller for the last time."""
    folded: int = 0
    """The ordinal up to which history was compressed when it did so."""
    written: int = 0
    """The ordinal up to which history was compressed for another reason than to have it ready."""
    commits: Map[str, None] = Map()
    """Messages with a command that made a commit."""
    closed: str = ""
    """The message before which the last list of what there is to do was finished."""
    newest: str = ""
    """The message whose tool call has ended last."""
    is_idle: bool = False
    """Whether the agent has finished its turn, and no model call came after that."""
    jobs: HistoryJobs = Jobs()
    order: HistoryOrdered | None = None
    """The order of a person for which no job was opened yet."""
    given_up: bool = False
    """Whether the last order to rebuild was taken back."""
    judged: frozenset[str] = frozenset()
    """Compartments that the newest job has judged."""
    generations: int = 0
    """The highest generation that was ever begun."""

    @property
    def is_subagent(self) -> bool:
        """Whether another agent has started it, and wrote its messages of the role `user`."""
        return is_of_subagent(self.parent, self.step.mode if self.step is not None else "")

    @property
    def request(self) -> HistoryRequested | None:
        """The request of the open job."""
        return self.jobs.open.request if self.jobs.open else None

    @property
    def used(self) -> int:
        """Tokens of the newest prompt, as the provider counted them; 0: not known."""
        return prompt_tokens(self.usage) if self.usage else 0

    @property
    def is_given_up(self) -> bool:
        """Whether the open job is a rebuild that nobody wants any more."""
        if self.request is None or self.request.reason != REBUILD:
            return False
        return self.given_up and self.request.generation != self.history.generation

    @property
    def reached(self) -> int:
        """The ordinal up to which the open job is done."""
        request, history = self.request, self.history
        if request is None:
            return history.last
        if request.generation == history.generation:
            made = [one.last for one in history.sealed if one.run == request.run]
            return made[-1] if made else min(history.last, request.first - 1)
        staged = history.staged.get(request.generation, ())
        return staged[-1].last if staged else request.first - 1


def evolve(session: HistorianSession, event: Event, envelope: Envelope) -> HistorianSession:
    session = replace(
        session,
        conversation=conversation.evolve(session.conversation, event, envelope),
        history=compartments.evolve(session.history, event, envelope.seq, session.conversation),
        learned=window.evolve(session.learned, event),
    )
    match event:
        case SessionOpened(parent=parent, directory=directory):
            return replace(session, parent=parent, directory=directory)
        case SessionForked(origin=origin, places=places):
            return replace(session, origin=origin, copied=max([session.copied, *places[-1:]]))
        case HistoryInherited(last=last):
            return replace(session, has_own_history=True, folded=max(session.folded, last))
        case StepOpened():
            return replace(session, step=event, is_idle=False)
        case SessionIdled():
            return replace(session, is_idle=True)
        case UsageSampled():
            return _usage_sampled(session, event)
        case ToolRan():
            return _tool_ran(session, event)
        case TodoCaptured(statuses=statuses):
            is_open = not statuses or any(status in UNDONE for status in statuses)
            return session if is_open else replace(session, closed=session.newest)
        case DropRequested(tags=tags):
            queued = session.queued
            for number in tags:
                queued = queued.insert(number, None)
            return replace(session, queued=queued)
        case _:
            return _job_evolved(session, event)


def _job_evolved(session: HistorianSession, event: Event) -> HistorianSession:
    match event:
        case HistoryOrdered():
            return _ordered(session, event)
        case CompartmentSealed():
            return replace(session, generations=max(session.generations, event.generation))
        case _:
            return _transited(session, event)


def _transited(session: HistorianSession, event: Event) -> HistorianSession:
    """The session behind an event that may be a transition of its jobs."""
    made = transition(event, session.jobs, session.history.generation)
    if made is None:
        return session
    job, after = session.jobs.open, jobs.evolve(session.jobs, made)
    session = replace(session, jobs=after)
    if isinstance(made, Requested):
        return _requested(session, made.request)
    if job is None or job.name != made.name:
        return session
    if isinstance(event, HistoryAdvanced):
        session = replace(session, judged=session.judged.union(event.judged))
    has_written = isinstance(made, JobDone) and job.request.reason not in (AHEAD, RESCORE)
    return replace(session, written=max(session.written, job.request.last)) if has_written else session


def _ordered(session: HistorianSession, event: HistoryOrdered) -> HistorianSession:
    """An order takes the place of one that waits; only to give a rebuild up leaves others waiting."""
    if event.order != ABANDON:
        return replace(session, order=event, given_up=session.given_up and event.order != REBUILD)
    waits = session.order is not None and session.order.order != REBUILD
    return replace(session, order=session.order if waits else None, given_up=True)


def _requested(session: HistorianSession, event: HistoryRequested) -> HistorianSession:
    """Of an order that came while a job was opened for another reason, the job is not the answer."""
    is_answered = session.order is not None and session.order.order == event.reason
    return replace(
        session,
        order=None if is_answered else session.order,
        generations=max(session.generations, event.generation),
        judged=frozenset(),
    )


def _usage_sampled(session: HistorianSession, event: UsageSampled) -> HistorianSession:
    """A late sample of an older answer never replaces that of a newer one.

    A prompt that became smaller was rebased: all that waited for that is gone from it.
    """
    is_late = session.usage is not None and precedes(session.conversation, event.message, session.usage.message)
    if is_late or not prompt_tokens(event):
        return session
    if prompt_tokens(event) < SHRUNK * session.used:
        session = replace(session, queued=Map(), folded=session.history.last)
    return replace(session, usage=event)


def _tool_ran(session: HistorianSession, event: ToolRan) -> HistorianSession:
    session = replace(session, newest=event.message)
    if event.status != "completed" or event.exit_code or not is_commit(event.target):
        return session
    return replace(session, commits=session.commits.insert(event.message, None))
