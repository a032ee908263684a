"""Open runs: they are found at the head of the log, published to there, and ended."""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from schemas.events import Event, HistoryAdvanced, HistoryAttempted, HistoryFailed, HistoryRequested
from schemas.subjects import Address
from services.historian.pen import append
from services.historian.publish import failed
from services.historian.state import Session
from services.kit import metrics
from services.kit.cache import Entry, Sessions
from services.kit.room import Kit

ATTEMPTS = 8
"""Decisions while others write to the same log."""


class Runs:
    """The runs of all sessions. What is published is decided on the newest state, or not at all."""

    def __init__(self, kit: Kit, sessions: Sessions[Session]) -> None:
        self._kit = kit
        self._sessions = sessions

    async def opened(self, address: Address, name: str) -> tuple[Entry[Session], HistoryRequested] | None:
        """The session at the head of the log with this run; none: the run has ended, or is given up."""
        entry = await self._sessions.get(address)
        await self._sessions.catch_up(entry)
        run = entry.state.run
        if run is None or run.run != name or entry.state.is_given_up:
            return None
        return entry, run

    async def publish(
        self, entry: Entry[Session], request: HistoryRequested, decide: Callable[[Session], Sequence[Event]]
    ) -> Sequence[Event]:
        """What was decided at the head of the log and is written now; nothing: the run has ended, or gone on."""
        for _ in range(ATTEMPTS):
            async with entry.deciding:
                await self._sessions.catch_up(entry)
                now = entry.state
                events = decide(now) if now.run == request and not now.is_given_up else ()
                if not events or await append(self._kit, entry, events, request.run):
                    _count(self._kit.room, events)
                    return events
        return ()

    async def fail(
        self, address: Address, name: str, code: str, detail: str, attempts: Sequence[HistoryAttempted] = ()
    ) -> None:
        """End a run that did not succeed."""
        opened = await self.opened(address, name)
        if opened is None:
            return
        entry, request = opened
        jitter = random.uniform(0.8, 1.2)  # noqa: S311 - it spreads retries, and hides nothing

        def ended(now: Session) -> Sequence[Event]:
            return [*attempts, *failed(now, request, code, detail, now=datetime.now(UTC), jitter=jitter)]

        if await self.publish(entry, request, ended):
            self._kit.log.warning("no history", session=address.session, run=name, code=code, detail=detail)


def _count(room: str, events: Sequence[Event]) -> None:
    for event in events:
        match event:
            case HistoryAdvanced():
                metrics.HISTORY.labels("compressed").inc()
            case HistoryFailed(code=code):
                metrics.HISTORY.labels(code).inc()
            case HistoryAttempted(model=model, outcome=outcome):
                metrics.MODEL_TOKENS.labels(room, model, "in").inc(event.tokens_in)
                metrics.MODEL_TOKENS.labels(room, model, "out").inc(event.tokens_out)
                metrics.MODEL_USD.labels(room, model).inc(event.usd)
                metrics.MODEL_SECONDS.labels(room, model, outcome).observe(event.seconds)
