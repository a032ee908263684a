"""What the historian knows of a session: what was said, what is compressed, how full the prompt is, and its runs."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from datetime import datetime

import msgspec

from schemas.envelope import Envelope
from schemas.events import (
    CompartmentSealed,
    DropRequested,
    Event,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryFailed,
    HistoryOrdered,
    HistoryReplaced,
    HistoryRequested,
    SessionOpened,
    StepOpened,
    TodoCaptured,
    ToolRan,
    UsageSampled,
)
from services.kit import conversation, window
from services.kit.conversation import Conversation, precedes
from services.kit.fold import Map
from services.kit.history import book
from services.kit.history.book import History
from services.kit.window import Learned, prompt_tokens

replace = msgspec.structs.replace

COMMIT = "git commit"
SHRUNK = 0.95
"""Of the prompt before: a smaller one has lost something."""
REBUILD, RESCORE, ABANDON = "rebuild", "rescore", "abandon"
"""Orders. The runs of the first two have them as their reasons."""
OPEN = frozenset({"pending", "in_progress"})
"""Of a line in a list of what there is to do."""


class Session(msgspec.Struct, frozen=True):
    """A session at one position of the log."""

    talk: Conversation = Conversation()
    history: History = History()
    step: StepOpened | None = None
    learned: Learned = Learned()
    usage: UsageSampled | None = None
    directory: str = ""
    """Where the work is done."""
    parent: str = ""
    """The session whose agent started this one."""
    queued: Map[int, None] = Map()
    """Tags that were asked to go since the prompt became smaller for the last time."""
    folded: int = 0
    """The ordinal up to which history was compressed when it did so."""
    commits: Map[str, None] = Map()
    """Messages with a command that made a commit."""
    closed: str = ""
    """The message before which the last list of what there is to do was finished."""
    newest: str = ""
    """The message that was recorded last."""
    run: HistoryRequested | None = None
    """The open one."""
    failures: int = 0
    """Runs that failed in a row."""
    retry_at: datetime | None = None
    order: HistoryOrdered | None = None
    """What a person wants and no run was opened for yet."""
    given_up: bool = False
    """Whether the last order to rebuild was taken back."""
    judged: frozenset[str] = frozenset()
    """Compartments that the newest run has judged."""
    runs: int = 0
    """How many there were."""
    generations: int = 0
    """The highest generation that was ever begun."""

    @property
    def used(self) -> int:
        """Tokens of the newest prompt, as the provider counted them; 0: not known."""
        return prompt_tokens(self.usage) if self.usage else 0

    @property
    def is_given_up(self) -> bool:
        """Whether the open run is a rebuild that nobody wants any more."""
        if self.run is None or self.run.reason != REBUILD:
            return False
        return self.given_up and self.run.generation != self.history.generation

    @property
    def reached(self) -> int:
        """The ordinal up to which the open run is done."""
        if self.run is None or self.run.generation == self.history.generation:
            return self.history.last
        staged = self.history.staged.get(self.run.generation, ())
        return staged[-1].last if staged else self.run.first - 1


def evolve(session: Session, event: Event, envelope: Envelope) -> Session:
    session = replace(
        session,
        talk=conversation.evolve(session.talk, event, envelope),
        history=book.evolve(session.history, event, envelope.seq),
        learned=window.evolve(session.learned, event),
    )
    match event:
        case SessionOpened(parent=parent, directory=directory):
            return replace(session, parent=parent, directory=directory)
        case StepOpened():
            return replace(session, step=event)
        case UsageSampled():
            return _usage_sampled(session, event)
        case ToolRan():
            return _tool_ran(session, event)
        case TodoCaptured(statuses=statuses):
            is_open = not statuses or any(status in OPEN for status in statuses)
            return session if is_open else replace(session, closed=session.newest)
        case DropRequested(tags=tags):
            queued = session.queued
            for number in tags:
                queued = queued.insert(number, None)
            return replace(session, queued=queued)
        case _:
            return _run_evolved(session, event)


def _run_evolved(session: Session, event: Event) -> Session:
    match event:
        case HistoryOrdered():
            return _ordered(session, event)
        case HistoryRequested():
            return _requested(session, event)
        case CompartmentSealed():
            return replace(session, generations=max(session.generations, event.generation))
        case HistoryAdvanced(done=True) if (
            _is_of(session, event.run) and event.generation == session.history.generation
        ):
            if session.run is not None and session.run.reason == RESCORE:  # it says nothing of runs that compress
                return replace(session, run=None)
            return replace(session, run=None, failures=0, retry_at=None)
        case HistoryAdvanced(judged=judged) if _is_of(session, event.run):
            return replace(session, judged=session.judged.union(judged))
        case HistoryReplaced() | HistoryAbandoned() if _is_of(session, event.run):
            return replace(session, run=None, failures=0, retry_at=None)
        case HistoryFailed() if _is_of(session, event.run):
            return replace(session, run=None, failures=event.failures, retry_at=event.retry_at)
        case _:
            return session


def _ordered(session: Session, event: HistoryOrdered) -> Session:
    """An order takes the place of one that waits; only to give a rebuild up leaves others waiting."""
    if event.order != ABANDON:
        return replace(session, order=event, given_up=session.given_up and event.order != REBUILD)
    waits = session.order is not None and session.order.order != REBUILD
    return replace(session, order=session.order if waits else None, given_up=True)


def _requested(session: Session, event: HistoryRequested) -> Session:
    """Of an order that came while a run was opened for another reason, the run is not the answer."""
    is_answered = session.order is not None and session.order.order == event.reason
    return replace(
        session,
        run=event,
        order=None if is_answered else session.order,
        runs=session.runs + 1,
        generations=max(session.generations, event.generation),
        judged=frozenset(),
    )


def _is_of(session: Session, run: str) -> bool:
    return session.run is not None and session.run.run == run


def _usage_sampled(session: Session, event: UsageSampled) -> Session:
    """A late sample of an older answer never replaces that of a newer one.

    A prompt that became smaller was rebased: all that waited for that is gone from it.
    """
    if session.usage is not None and precedes(session.talk, event.message, session.usage.message):
        return session
    if prompt_tokens(event) < SHRUNK * session.used:
        session = replace(session, queued=Map(), folded=session.history.last)
    return replace(session, usage=event)


def _tool_ran(session: Session, event: ToolRan) -> Session:
    session = replace(session, newest=event.message)
    if event.status != "completed" or event.exit_code or COMMIT not in event.target:
        return session
    return replace(session, commits=session.commits.insert(event.message, None))
