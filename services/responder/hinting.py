"""Searches for what bears on a person's message, from when the message is read, next to all else.

The plan of the call that sends the message waits for its search, for a moment that is bounded: the call comes right
behind the message, and what is found after that is never added.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, get_args

import msgspec

from schemas.codec import encode
from schemas.envelope import Actor, Envelope
from schemas.events import Event, HintDecided, MessageRecorded, PartRecorded
from schemas.search_asks import Hits, SearchAsk
from schemas.subjects import Address, ask
from schemas.tools import Source
from services.domain.conversation import is_written
from services.domain.draft import Draft
from services.domain.newest import NewestMap
from services.kit.aggregate import Aggregate
from services.kit.bus import TooLarge, Unreachable
from services.kit.room import Kit
from services.plan.lanes import search_hint
from services.plan.lanes.hint_decisions import decided, is_augmented, is_late, skipped, too_short
from services.plan.lanes.hints import query_of
from services.plan.session.state import Session
from services.responder.projections.folds import SESSION
from services.responder.session_cache import SessionCache

TIMEOUT = 3.0
FRESH = 60.0
"""Seconds after which a message is history: it was recorded elsewhere and is only reported now."""
LIMIT = 10
HINTED = tuple(source for source in get_args(Source) if source != "output")
"""The sources that are searched: that some output has a name bears on no message by itself."""
PROMPTLY = 150
"""Milliseconds within which a search must begin to find: the call that sends a message does not wait longer."""
WAIT = 0.15
"""Seconds that a plan waits at most for the search for the message that its call sends."""
MOST_MESSAGES = 4096
"""Messages of people whose texts are waited for, the newest: a text follows its message at once."""

_replies = msgspec.json.Decoder(Hits)


class Hinting:
    """Searches once for each message of a person, and records what came of it. The lane says it, or is too late."""

    def __init__(self, kit: Kit, cache: SessionCache, live_from: int) -> None:
        """`live_from`: the end of the log when this began; of what is before it nothing is looked for."""
        self._kit = kit
        self._cache = cache
        self._live_from = live_from
        self._settings = kit.settings.search
        self._hints = Aggregate.fed(kit, cache.states(SESSION), guard="hint")
        self._looking: set[asyncio.Task[None]] = set()
        self._awaited: defaultdict[Address, set[asyncio.Task[None]]] = defaultdict(set)
        """Session -> the searches that its next plan waits for."""
        self.waiting = 0
        """Plans that wait for a search now."""
        self._by_people = NewestMap[tuple[Address, str], None](MOST_MESSAGES)

    def close(self) -> None:
        """Give up what is being looked for."""
        for task in self._looking:
            task.cancel()

    def feed(self, envelope: Envelope, event: Event | None) -> None:
        """Begin to look, if this is what a person has just written.

        Who wrote a message is known from its record, which comes before its texts: a session is not loaded for the
        texts of an agent, of which an import brings thousands.
        """
        if not self._settings.hints or envelope.seq <= self._live_from:
            return
        if not envelope.session or abs((datetime.now(UTC) - envelope.at).total_seconds()) > FRESH:
            return
        address = Address(envelope.project, envelope.session)
        if isinstance(event, MessageRecorded) and event.role == "user" and not event.synthetic:
            self._by_people[address, event.message] = None
        elif isinstance(event, PartRecorded) and is_written(event) and (address, event.message) in self._by_people:
            self._await(address, self._begin(self._look(address, event, envelope)))

    async def ready(self, address: Address, seconds: float) -> None:
        """Wait until what a person has just written was searched for: at most `WAIT`, and two thirds of these seconds.

        It returns at once where no search is under way, and where an earlier plan has waited for it: that one has been
        sent without what it finds.
        """
        searches = self._awaited.pop(address, None)
        if not searches:
            return
        self.waiting += 1
        try:
            await asyncio.wait(searches, timeout=max(0.0, min(WAIT, seconds * 2 / 3)))
        finally:
            self.waiting -= 1

    def _await(self, address: Address, search: asyncio.Task[None]) -> None:
        """Have the next plan of a session wait for a search, unless it is done before."""
        self._awaited[address].add(search)

        def forget(done: asyncio.Task[None]) -> None:
            self._awaited[address].discard(done)
            if not self._awaited[address]:
                del self._awaited[address]

        search.add_done_callback(forget)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
        return task

    async def _look(self, address: Address, event: PartRecorded, envelope: Envelope) -> None:
        try:
            session = await self._cache.state(SESSION, address)
            if _is_wanted(session, event.message):
                await self._record(address, await self._found(address, event), envelope)
        except Unreachable as error:
            self._kit.log.warning("no hint was decided", session=address.session, reason=str(error))
        except Exception:
            self._kit.log.exception("no hint was decided", session=address.session)

    async def _found(self, address: Address, event: PartRecorded) -> HintDecided:
        threshold = self._settings.hint_score
        if too_short(event.text, self._settings.hint_characters):
            return skipped(event.message, "too_short", threshold)
        words, asker = query_of(event.text), address.session
        question = SearchAsk(address.project, words, session=asker, sources=HINTED, limit=LIMIT, deadline_ms=PROMPTLY)
        began = time.monotonic()
        try:
            async with asyncio.timeout(TIMEOUT):
                reply = await self._kit.bus.request(ask(SearchAsk.NAME, address.project), encode(question), TIMEOUT)
            found = _replies.decode(reply)
        except TimeoutError:
            return skipped(event.message, "timeout", threshold)
        except (Unreachable, TooLarge, msgspec.DecodeError, msgspec.ValidationError):
            return skipped(event.message, "error", threshold)
        if found.error and time.monotonic() - began >= PROMPTLY / 1000:  # others' searches came first
            return skipped(event.message, "timeout", threshold)
        return decided(event.message, found, threshold, datetime.now(UTC))

    async def _record(self, address: Address, hint: HintDecided, envelope: Envelope) -> None:
        async def decide(draft: Draft[Session]) -> None:
            if not _is_wanted(draft.state, hint.message):
                return
            reason = _reason_to_skip(draft.state, hint.message)
            draft.record(skipped(hint.message, reason, hint.threshold, hint.score) if reason else hint)

        actor = Actor("room", self._kit.room)
        await self._hints.handle(address, decide, cause=envelope.id, at=envelope.at, actor=actor, patience=TIMEOUT)


def _reason_to_skip(session: Session, message: str) -> str:
    """The reason why nothing that was found is added to a message; empty: nothing speaks against it."""
    if is_augmented(session, message):
        return "stacked"
    return "late" if is_late(session, message) else ""


def _is_wanted(session: Session, message: str) -> bool:
    """Whether a person wrote it, in a session that gets hints, and nothing was decided of it."""
    known = session.conversation.messages.get(message)
    if known is None or known.recorded.role != "user" or known.recorded.synthetic:
        return False
    if session.step is not None and session.step.mode not in search_hint.MODES:
        return False
    return session.hint is None or session.hint.message != message
