"""The states of sessions in memory, whose they are, and the steps that are being answered."""

import asyncio
from collections import defaultdict
from typing import Any, TypeVar

from schemas.envelope import Envelope
from schemas.events import Event, ProfileBound, StepOpened
from schemas.subjects import Address
from services.domain.aliases import GLOBAL
from services.domain.registry import registered
from services.kit.bus import LogReader
from services.kit.cache import Entry, Sessions
from services.kit.nouns import NounReader
from services.plan.lanes.head import MODES
from services.plan.session.state import Session
from services.responder import projections
from services.responder.projections.base import Projection, Scope, scope_of
from services.responder.projections.folds import PROFILES

S = TypeVar("S")

PROJECTIONS: tuple[Projection[Any], ...] = registered(projections, Projection)


class SessionCache:
    """The states of all registered projections. A state that nobody has asked for is not loaded."""

    def __init__(self, reader: LogReader, capacity: int) -> None:
        """`capacity`: the most states of one projection."""
        self._sessions: dict[Projection[Any], Sessions[Any]] = {
            projection: Sessions(_reader_for(projection, reader), projection.evolve, projection.initial, capacity)
            for projection in PROJECTIONS
        }
        self._of_scope: dict[Scope, list[tuple[Projection[Any], Sessions[Any]]]] = {
            scope: [(one, sessions) for one, sessions in self._sessions.items() if one.scope == scope]
            for scope in ("session", "project", "global")
        }

    def feed(self, envelope: Envelope, event: Event | None) -> None:
        """Enter an event as it is read, in every state of its scope that is loaded."""
        address = Address(envelope.project, envelope.session)
        noun = envelope.type.partition(".")[0]
        for projection, states in self._of_scope[scope_of(address)]:
            entry = states.peek(address)
            if entry is not None and (not projection.nouns or noun in projection.nouns):
                entry.feed(projection.evolve, envelope, event)

    async def entry(self, projection: Projection[S], address: Address) -> Entry[S]:
        """The entry of a projection at an address; it is loaded if it is not yet."""
        found: Entry[S] = await self._sessions[projection].get(address)
        return found

    async def state(self, projection: Projection[S], address: Address) -> S:
        """The state of a projection at an address; it is loaded if it is not yet."""
        return (await self.entry(projection, address)).state

    def peek(self, projection: Projection[S], address: Address) -> Entry[S] | None:
        """The entry of a projection at an address, if it is loaded."""
        return self._sessions[projection].peek(address)

    def states(self, projection: Projection[S]) -> Sessions[S]:
        """All entries of a projection."""
        return self._sessions[projection]


def _reader_for(projection: Projection[Any], reader: LogReader) -> LogReader | NounReader:
    """The reader that a projection's states are loaded with."""
    return NounReader(reader, projection.nouns) if projection.nouns else reader


WAIT = 0.5
"""Seconds that the first plan of a session waits at most."""


class SessionOwners:
    """The sessions of which the owner is waited for."""

    def __init__(self, cache: SessionCache) -> None:
        self._cache = cache
        self._waiting: dict[Address, set[asyncio.Event]] = defaultdict(set)

    def feed(self, event: Event | None) -> None:
        """Wake who waits for this session. The profiles must have been fed before."""
        if isinstance(event, ProfileBound):
            for arrived in self._waiting.get(Address(event.origin_project, event.origin), ()):
                arrived.set()

    async def ready(self, address: Address, state: Session, seconds: float) -> None:
        """Wait until it is recorded whose session it is, for `WAIT` and half of these seconds at most.

        It returns at once where no profile is on, for a session that has made a call before, and for one that has
        no head.
        """
        if state.step is None or state.calls.before is not None or state.step.mode not in MODES:
            return
        profiles = await self._cache.state(PROFILES, GLOBAL)
        if not profiles.are_any_on or address in profiles.owners:
            return
        arrived = asyncio.Event()
        self._waiting[address].add(arrived)
        try:
            async with asyncio.timeout(max(0.0, min(WAIT, seconds / 2))):
                await arrived.wait()
        except TimeoutError:
            return  # a session without an owner has no profile
        finally:
            self._waiting[address].discard(arrived)
            if not self._waiting[address]:
                del self._waiting[address]


class Steps:
    """The steps that are waited for."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Address, str], list[asyncio.Event]] = defaultdict(list)

    def feed(self, envelope: Envelope, event: Event | None) -> None:
        """Wake who waits for this step. Its session's state must have been fed before."""
        if isinstance(event, StepOpened):
            for arrived in self._waiting.get((Address(envelope.project, envelope.session), event.step), ()):
                arrived.set()

    async def read(self, entry: Entry[Session], step: str, timeout: float) -> bool:  # noqa: ASYNC109 - a missed deadline is an answer
        """Wait until this step was read; whether it was."""
        if _knows(entry, step):
            return True
        arrived = asyncio.Event()
        key = (entry.address, step)
        self._waiting[key].append(arrived)
        try:
            async with asyncio.timeout(timeout):
                await arrived.wait()
        except TimeoutError:
            return False
        finally:
            self._waiting[key].remove(arrived)
            if not self._waiting[key]:
                del self._waiting[key]
        return True


def _knows(entry: Entry[Session], step: str) -> bool:
    state = entry.state
    return step in {known.step for known in (state.step, state.calls.before) if known is not None}
