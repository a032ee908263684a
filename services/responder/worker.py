"""The responder's wiring: the log in, views and states in memory from it, answers out."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

from schemas.ask import Ask
from schemas.envelope import Envelope
from schemas.events import EVENTS, ErasureOrdered, Event
from services.domain import language
from services.domain.learned_limits import GLOBAL
from services.domain.registry import events_made_in, registered
from services.kit.asks import AskHandler
from services.kit.background import begin
from services.kit.projector import CommitPace, Projector
from services.kit.room import Kit
from services.kit.turns import Queue
from services.plan import planner
from services.plan.lanes import hint_decisions
from services.responder import answers
from services.responder.answers.base import PLANS, Context, Question
from services.responder.hinting import Hinting
from services.responder.new_sessions import NewForks, NewSessions
from services.responder.projections.folds import LEARNED_LIMITS, PROFILES, SESSION
from services.responder.session_cache import SessionCache, SessionOwners, Steps
from services.responder.views.copy import Copier
from services.responder.views.files import Files

QUESTIONS: tuple[Question[Any, Any], ...] = registered(answers, Question)

SWITCH = 0.0005
"""Seconds that the writing thread may keep the interpreter while an answer waits (5 ms by default)."""
LEAST_PAUSE = 0.02
"""Seconds that a commit of the views leaves to the answer that its events are for."""
CHECKPOINT = 256
"""Commits after which the views are written to their file although more comes, which takes about 30 ms of the writing
thread. What is not there is done again when a responder that was killed begins: nearly 1 ms for each commit."""
A = TypeVar("A", bound=Ask)
R = TypeVar("R")


class Responder:
    """Projects the log into tables and views, and answers every question about it."""

    NAME: ClassVar[str] = "responder"
    READS: ClassVar[tuple[type[Event], ...]] = EVENTS
    WRITES: ClassVar[tuple[type[Event], ...]] = events_made_in(planner, hint_decisions)

    async def open(self, kit: Kit) -> None:
        """Open the views, follow the log, and serve every registered question."""
        sys.setswitchinterval(SWITCH)
        self._kit = kit
        settings = kit.settings
        limits = settings.plan
        if limits.caveman:
            await asyncio.to_thread(language.load)  # it takes most of a second: no question shall wait for it
        erasure = await kit.reader.last(GLOBAL.log(ErasureOrdered.TYPE))
        self._files = await Files.open(
            settings.data / "views",
            memory_limit=settings.views.memory_limit,
            log=kit.reader,
            erased_at=None if erasure is None else erasure.at,
        )
        kit.stack.push_async_callback(self._files.close)
        head = await kit.reader.head()
        self._cache = SessionCache(kit.reader, settings.loop.sessions)
        self._steps = Steps()
        self._forks = NewForks(self._cache, live_from=head)
        kit.stack.callback(self._forks.close)
        self._new_sessions = NewSessions(kit, self._cache, live_from=head)
        kit.stack.callback(self._new_sessions.close)
        self.hinting = Hinting(kit, self._cache, live_from=head)
        kit.stack.callback(self.hinting.close)
        self._owners = SessionOwners(self._cache)
        views = settings.views
        pace = CommitPace(views.batch, views.linger, views.checkpoint_idle, CHECKPOINT, LEAST_PAUSE)
        self._projector = Projector(kit, self._files, kit.room, pace, self._follow)
        copier = Copier(self._files, settings.data, every=views.copy_every, memory_limit=views.memory_limit)
        self.plans = Queue(PLANS)
        context = Context(
            kit,
            limits,
            self._cache,
            self._steps,
            self._files,
            copier,
            self._projector,
            self.plans,
            self._new_sessions,
            self.hinting,
            self._owners,
        )
        handlers = [handler_of(question, context) for question in QUESTIONS]
        await self._cache.entry(LEARNED_LIMITS, GLOBAL)  # no question shall wait for it ...
        await self._cache.entry(PROFILES, GLOBAL)  # ... nor for this
        await self._projector.open()
        begin(kit, self._files.swap_at(head))
        begin(kit, self._files.mend(self._projector.begin_anew))
        for handler in handlers:
            await handler.open()

    async def idle(self) -> bool:
        """Whether the views hold all that the log holds."""
        return self._files.committed >= await self._kit.reader.head()

    def health(self) -> dict[str, object]:
        """Positions in the log, what is in memory, and why the views are not written, if they are not."""
        failure = self._projector.failure
        return {
            "ok": not failure,
            "failures": [f"the views cannot be written: {failure}"] if failure else [],
            "views_failure": self._projector.failure,
            "read_through": self._projector.read_through,
            "committed_through": self._files.committed,
            "building": self._files.is_building,
            "hot_sessions": len(self._cache.states(SESSION)),
            "plans": self.plans.health,
        }

    def _follow(self, envelope: Envelope, event: Event | None) -> None:
        """Enter an event as it is read. Those who wait for it find it in the states."""
        self._cache.feed(envelope, event)
        self._steps.feed(envelope, event)
        self._forks.feed(envelope, event)
        self._new_sessions.feed(envelope, event)
        self.hinting.feed(envelope, event)
        self._owners.feed(event)


def handler_of(question: Question[A, R], context: Context) -> AskHandler[A, R]:
    """One question as a responder answers it."""
    answer = question.open(context)
    if question.turns is not None:
        answer = _in_turn(answer, Queue(question.turns))
    return AskHandler(context.kit, question.ask, answer, question.failed)


def _in_turn(answer: Callable[[A], Awaitable[R]], queue: Queue) -> Callable[[A], Awaitable[R]]:
    async def answered(ask: A) -> R:
        async with queue.turn(ask.NAME):
            return await answer(ask)

    return answered
