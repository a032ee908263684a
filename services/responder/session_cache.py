"""The session cache: the states that answers are made from, in memory, and fed as events are read."""

from typing import Any, TypeVar

from schemas.envelope import Envelope
from schemas.events import Event
from schemas.subjects import Address
from services.domain.registry import registered
from services.kit.bus import LogReader
from services.kit.cache import Entry, Sessions
from services.kit.nouns import NounReader
from services.responder import projections
from services.responder.projections.base import Projection, Scope, scope_of

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
