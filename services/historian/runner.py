"""A run: read a chunk, have it summarised, publish; until the range is done. It can be cut off anywhere."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime

from schemas.events import Event, HistoryAdvanced, HistoryAttempted, HistoryRequested
from schemas.subjects import Address
from services.historian.pen import append
from services.historian.publish import failed, fingerprint, published
from services.historian.state import Session
from services.historian.writers import Reading, Unwritten, Writer
from services.kit.cache import Entry, Sessions
from services.kit.history.contents import Contents, page
from services.kit.history.reader import Chunk, read
from services.kit.room import Kit

ATTEMPTS = 8
CONTEXT = 6
"""Compartments in front of a chunk that a writer is shown."""
SMALLER = 2
"""A chunk that was too much for a writer is read anew with this part of the budget ..."""
MIN_BUDGET = 2_000
"""... but not below this one."""
TOO_MUCH = frozenset({"overflow", "window_too_small", "invalid_output"})


class Runner:
    """Makes the runs of all sessions. What it publishes is decided on the newest state, or not at all."""

    def __init__(self, kit: Kit, sessions: Sessions[Session], writer: Writer) -> None:
        self._kit = kit
        self._sessions = sessions
        self._writer = writer
        self._contents = Contents(kit.bus, kit.reader)

    async def run(self, address: Address, name: str) -> None:
        """Go on with a run where it stands, to its end. Does nothing where it has ended."""
        budget = self._writer.budget
        while (entry := await self._opened(address, name)) is not None:
            request = _open(entry.state)
            try:
                await self._advance(entry, request, budget)
            except Unwritten as error:
                budget //= SMALLER
                if error.code not in TOO_MUCH or budget < MIN_BUDGET:
                    await self.fail(address, name, error.code, error.detail, error.attempts)

    async def _opened(self, address: Address, name: str) -> Entry[Session] | None:
        """The session with this run open, at the head of the log."""
        entry = await self._sessions.get(address)
        await self._sessions.catch_up(entry)
        return entry if entry.state.run is not None and entry.state.run.run == name else None

    async def _advance(self, entry: Entry[Session], request: HistoryRequested, budget: int) -> None:
        state = entry.state
        chunk = await self._chunk(entry, request, budget)
        if not chunk.messages:
            raise Unwritten("no_eligible", "there is nothing in this range that could be compressed")
        known = fingerprint(state.talk, chunk.first, chunk.last)
        before = [one for one in state.history.sealed if one.last < chunk.first]
        reading = Reading(entry.address, request, chunk, tuple(before[-CONTEXT:]), state.directory)
        output = await self._writer.write(reading)
        for _ in range(ATTEMPTS):
            async with entry.deciding:
                await self._sessions.catch_up(entry)
                now = entry.state
                if now.run != request or now.reached != state.reached:
                    return
                if fingerprint(now.talk, chunk.first, chunk.last) != known:
                    raise Unwritten("stale_fingerprint", "messages of the range were changed meanwhile")
                events = [*output.attempts, *published(now, request, entry.address, chunk, output.written)]
                if await append(self._kit, entry, events, request.run):
                    self._tell(entry.address, events)
                    return

    async def _chunk(self, entry: Entry[Session], request: HistoryRequested, budget: int) -> Chunk:
        """The next part of the range."""
        talk = entry.state.talk
        waiting = [one for one in talk.after(entry.state.reached) if request.first <= one.ordinal <= request.last]
        held = page(waiting, talk)
        return read(await self._contents.said(entry.address, talk, held), budget)

    async def fail(
        self, address: Address, name: str, code: str, detail: str, attempts: Sequence[HistoryAttempted] = ()
    ) -> None:
        """End a run that did not succeed."""
        for _ in range(ATTEMPTS):
            entry = await self._opened(address, name)
            if entry is None:
                return
            jitter = random.uniform(0.8, 1.2)  # noqa: S311 - it spreads retries, and hides nothing
            ended = failed(entry.state, _open(entry.state), code, detail, now=datetime.now(UTC), jitter=jitter)
            async with entry.deciding:
                if await append(self._kit, entry, [*attempts, *ended], name):
                    self._kit.log.warning("no history", session=address.session, run=name, code=code, detail=detail)
                    return

    def _tell(self, address: Address, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, HistoryAdvanced):
                self._kit.log.info(
                    "compressed",
                    session=address.session,
                    run=event.run,
                    messages=f"{event.first}-{event.last}",
                    tokens=f"{event.tokens_in} -> {event.tokens_out}",
                    left=event.left,
                    ended=event.ended,
                )


def _open(session: Session) -> HistoryRequested:
    if session.run is None:
        raise ValueError("no run is open")
    return session.run
