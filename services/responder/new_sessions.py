"""Sessions that have just begun: for each, the session before it is found next to all else, and loaded."""

import asyncio
from collections import OrderedDict, deque
from datetime import UTC, datetime

import msgspec

from schemas.codec import decode_event
from schemas.envelope import Actor, Envelope
from schemas.events import Event, SessionClosed, SessionForked, SessionOpened, StepOpened
from schemas.subjects import Address, of_sessions
from services.kit.bus import Unreachable
from services.kit.logs import logger
from services.kit.room import Kit
from services.plan.lanes.head import MODES
from services.plan.session.state import Session
from services.responder.projections.folds import SESSION
from services.responder.session_cache import SessionCache

WAIT = 0.5
"""Seconds that the first plan of a session waits at most for the session before it."""
FRESH = 60.0
"""Seconds after which a session that is reported is not one that has just begun: it was recorded elsewhere."""
MOST_CANDIDATES = 8
"""Sessions of one place that are looked at, those that were opened last."""
MOST_PLACES = 256
"""Places that are remembered of a project, those in which a session was opened last."""
MOST_PROJECTS = 64
"""Projects of which the opened sessions are remembered, those that were asked for last."""
MOST_SEARCHES = 256
"""Searches whose outcome is remembered, the newest."""
DELETED = "deleted"
"""The reason of a closed session that a person has deleted."""

Place = tuple[str, Actor]
"""The directory of a session, and who reported it."""


class OpenedSessions(msgspec.Struct):
    """The sessions of a project that a person began, by their places, the newest last."""

    seq: int = 0
    """The position of the log up to which they are known."""
    places: OrderedDict[Place, deque[str]] = msgspec.field(default_factory=OrderedDict)

    def enter(self, envelope: Envelope, event: Event | None) -> None:
        """Take in a fact of the log; all but the opening of a session that a person began changes nothing."""
        self.seq = envelope.seq
        if not isinstance(event, SessionOpened) or not is_root(event):
            return
        place = event.directory, envelope.actor
        sessions = self.places.setdefault(place, deque(maxlen=MOST_CANDIDATES + 1))
        sessions.append(envelope.session)
        self.places.move_to_end(place)
        if len(self.places) > MOST_PLACES:
            self.places.popitem(last=False)


def is_root(opened: SessionOpened) -> bool:
    """Whether a person began it, and it is known in which directory."""
    return bool(opened.directory) and not opened.parent and opened.mode in MODES


class NewSessions:
    """Finds the session before a new one: of the same project, directory and sender, and with the newest call."""

    def __init__(self, kit: Kit, cache: SessionCache, live_from: int = 0) -> None:
        """`live_from`: the end of the log when this began; a session from before that is looked at when it asks."""
        self._kit = kit
        self._cache = cache
        self._live_from = live_from
        self._searches: OrderedDict[Address, asyncio.Task[str]] = OrderedDict()
        self._opened: OrderedDict[str, OpenedSessions] = OrderedDict()
        self._reading = asyncio.Lock()

    @property
    def searches(self) -> int:
        """The number of sessions that are looked for, or were and are remembered."""
        return len(self._searches)

    def close(self) -> None:
        """Give up what is being looked for."""
        for task in self._searches.values():
            task.cancel()

    def feed(self, envelope: Envelope, event: Event | None) -> None:
        """Begin to look, if this is a session that has just begun."""
        if not isinstance(event, SessionOpened) or not is_root(event) or envelope.seq <= self._live_from:
            return
        if abs((datetime.now(UTC) - envelope.at).total_seconds()) <= FRESH:
            self._begin(Address(envelope.project, envelope.session))

    async def ready(self, address: Address, state: Session, seconds: float) -> None:
        """Wait until the session before this one is known and loaded, for `WAIT` and half of these seconds at most.

        It returns at once for a session that has a plan, is a copy, or has no head.
        """
        if state.step is None or state.revision or state.heritage.copied or state.step.mode not in MODES:
            return
        search = self._begin(address)
        if search is not None and not search.done():
            await asyncio.wait([search], timeout=max(0.0, min(WAIT, seconds / 2)))

    def before(self, address: Address) -> tuple[str, Session] | None:
        """The id and the state of the session before this one; none: there is none, or it is not loaded yet."""
        search = self._searches.get(address)
        if search is None or not search.done() or search.cancelled() or not search.result():
            return None
        entry = self._cache.peek(SESSION, Address(address.project, search.result()))
        return (search.result(), entry.state) if entry is not None and not entry.loading else None

    def _begin(self, address: Address) -> asyncio.Task[str] | None:
        """The search for this session, begun once; none where settings do not want it."""
        memory = self._kit.settings.memory
        if not memory.enabled or not memory.last_session:
            return None
        if address not in self._searches:
            self._searches[address] = asyncio.create_task(self._search(address))
            if len(self._searches) > MOST_SEARCHES:
                self._searches.popitem(last=False)[1].cancel()
        return self._searches[address]

    async def _search(self, address: Address) -> str:
        """The session before this one, which is loaded; empty: there is none."""
        try:
            found = await self._newest(address)
            if found:
                await self._cache.entry(SESSION, Address(address.project, found))
        except Unreachable as error:
            self._kit.log.warning("the session before is not known", session=address.session, reason=str(error))
            self._searches.pop(address, None)  # it is looked for again when the session asks
            return ""
        except Exception:
            self._kit.log.exception("the session before is not known", session=address.session)
            return ""
        return found

    async def _newest(self, address: Address) -> str:
        """The session of its place with the newest call, unless a person has deleted that."""
        project = address.project
        opened, envelope = await self._last(address, SessionOpened)
        if envelope is None or not isinstance(opened, SessionOpened) or not is_root(opened):
            return ""
        known = await self._opened_in(project)
        sessions = [one for one in known.places.get((opened.directory, envelope.actor), ()) if one != address.session]
        calls = await asyncio.gather(*(self._last(Address(project, one), StepOpened) for one in sessions))
        made = [(call.at, call.seq, one) for one, (_, call) in zip(sessions, calls, strict=True) if call is not None]
        newest = max(made)[-1] if made else ""
        closed, _ = await self._last(Address(project, newest), SessionClosed) if newest else (None, None)
        is_deleted = isinstance(closed, SessionClosed) and closed.reason == DELETED
        return "" if is_deleted else newest

    async def _opened_in(self, project: str) -> OpenedSessions:
        """The opened sessions of a project: what is known of them is read on, and not again."""
        known = self._opened.setdefault(project, OpenedSessions())
        self._opened.move_to_end(project)
        if len(self._opened) > MOST_PROJECTS:
            self._opened.popitem(last=False)
        async with self._reading:
            async for record in self._kit.reader.after(known.seq, of_sessions(project, SessionOpened.TYPE)):
                known.enter(record.envelope, record.event)
        return known

    async def _last(self, address: Address, kind: type[Event]) -> tuple[Event | None, Envelope | None]:
        envelope = await self._kit.reader.last(address.log(kind.TYPE))
        return (decode_event(envelope) if envelope else None), envelope


class NewForks:
    """Loads a fork and its origin as soon as the fork is read: its first call needs all of both at once."""

    def __init__(self, cache: SessionCache, live_from: int) -> None:
        """`live_from`: the end of the log when this began; a fork from before that is nothing new."""
        self._cache = cache
        self._live_from = live_from
        self._loading: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Give up what is being loaded."""
        for task in self._loading:
            task.cancel()

    def feed(self, envelope: Envelope, event: Event | None) -> None:
        """Begin to load, if this is a new fork that is not loaded yet."""
        if not isinstance(event, SessionForked) or envelope.seq <= self._live_from:
            return
        address = Address(envelope.project, envelope.session)
        if self._cache.peek(SESSION, address) is not None:
            return
        for one in (address, Address(address.project, event.origin)):
            task = asyncio.create_task(self._load(one))
            self._loading.add(task)
            task.add_done_callback(self._loading.discard)

    async def _load(self, address: Address) -> None:
        try:
            await self._cache.entry(SESSION, address)
        except Unreachable as error:  # it is loaded when it is asked for
            logger().warning("a fork is not loaded yet", session=address.session, reason=str(error))
