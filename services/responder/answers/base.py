"""The interface of a question: its message, the function that answers it, and how many are answered at once."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, Protocol, TypeVar

import msgspec

from schemas.ask import Ask
from schemas.subjects import Address
from services.domain.aliases import GLOBAL
from services.domain.limits import Limits
from services.domain.project_settings import ProjectSettings
from services.kit.asks import Declined
from services.kit.projector import Projector
from services.kit.room import Kit
from services.kit.turns import Queue, Turns
from services.memory.remembered import Remembered
from services.plan.session.state import Session
from services.responder.hinting import Hinting
from services.responder.new_sessions import NewSessions
from services.responder.projections.folds import ALIASES, BOOK, SESSION, SETTINGS
from services.responder.session_cache import SessionCache, SessionOwners, Steps
from services.responder.views.copy import Copier
from services.responder.views.files import Files

A = TypeVar("A", bound=Ask)
R = TypeVar("R")


class Context(msgspec.Struct, frozen=True):
    """The context of an answer: everything that it is made from."""

    kit: Kit
    limits: Limits
    cache: SessionCache
    steps: Steps
    files: Files
    copier: Copier
    projector: Projector
    plans: Queue
    """The model calls whose step was read, and that wait for their plan."""
    new_sessions: NewSessions
    hinting: Hinting
    owners: SessionOwners


PLANS = Turns(at_once=8, waiting=1024)
"""Plans that are made at once: so many sessions are appended together, and the loop reads new questions in between."""
LONG = Turns(at_once=1, waiting=16)
"""For questions that may read a whole session."""


class Question(Generic[A, R]):
    """One kind of question. A module of this package registers one by defining it."""

    def __init__(
        self,
        ask: type[A],
        open: Callable[[Context], Callable[[A], Awaitable[R]]],  # noqa: A002 - it opens what answers
        failed: Callable[[str], R],
        turns: Turns | None = None,
    ) -> None:
        """`open` makes what answers, once for each responder. `failed` makes the reply that says why there is none.

        `turns`: None where all are answered as they come.
        """
        self.ask = ask
        self.open = open
        self.failed = failed
        self.turns = turns


class AboutSession(Protocol):
    """A question about one session."""

    @property
    def project(self) -> str: ...
    @property
    def session(self) -> str: ...


class UnknownSession(Declined):
    """The log has no event of the session that was asked about. The message is for who asked."""

    status = "error"


async def session_of(cache: SessionCache, ask: AboutSession) -> Session:
    """The state of the session that is asked about. Raises `UnknownSession`."""
    session = await cache.state(SESSION, Address(ask.project, ask.session))
    if not session.seq:
        raise UnknownSession(
            f"there is no session {ask.session} in the project {ask.project}: ask when it has made its first call"
        )
    return session


async def remembered_of(cache: SessionCache, project: str) -> Remembered:
    """The memory of a project, under whichever name it goes by now."""
    remembered = await cache.state(BOOK, Address(project))
    return await remembered_of(cache, remembered.book.moved_to) if remembered.book.moved_to else remembered


async def settings_of(cache: SessionCache, project: str) -> ProjectSettings:
    """A project's own settings, under whichever name it goes by now."""
    aliases = await cache.state(ALIASES, GLOBAL)
    return await cache.state(SETTINGS, Address(aliases.project(project)))


def in_force(own: ProjectSettings, session: Session) -> Mapping[str, object]:
    """The version of own settings that applies to a session: that of its first call, or of its last rebase."""
    return own.at(max(session.calls.first_seq, session.revisions.settings))
