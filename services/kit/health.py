"""The health of a room: what `/healthz` shows, and what the room answers to `ask.health`."""

import asyncio
import faulthandler
import time
from collections.abc import Callable, Sequence

from schemas.codec import encode
from schemas.room_health import HealthAsk, RoomHealth, UnfoldedFact
from schemas.subjects import ask
from services.kit.cache import REPORTED, UNFOLDED
from services.kit.room import Kit, Room

BEAT = 1.0
"""Seconds between two signs of life."""


class Watchdog:
    """Knows how long a loop has been silent, and ends its process after `patience` seconds; 0: never."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._beat = time.monotonic()

    @property
    def silence(self) -> float:
        """Seconds since a sign of life was due."""
        return max(0.0, time.monotonic() - self._beat - BEAT)

    async def watch(self) -> None:
        """Give signs of life, for which a thread waits that needs no interpreter."""
        try:
            while True:
                self._beat = time.monotonic()
                if self._patience:
                    faulthandler.dump_traceback_later(self._patience, exit=True)
                await asyncio.sleep(BEAT)
        finally:
            faulthandler.cancel_dump_traceback_later()


SILENT = 5.0
"""Seconds without a sign of life after which a room is not well."""


class HealthReport:
    """A room's report on its own health. Over HTTP and over the broker it is the same."""

    def __init__(
        self,
        kit: Kit,
        room: Room,
        watchdog: Watchdog,
        append_failure: Callable[[], str],
        losses: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """`append_failure` says why the newest append to the log failed; empty: it did not.

        `losses`: what the streams have lost, where this room watches them.
        """
        self._kit = kit
        self._room = room
        self._watchdog = watchdog
        self._append_failure = append_failure
        self._losses = losses

    def page(self) -> dict[str, object]:
        """The page `/healthz`: what this room alone reports, and what every room does. Any thread may call it."""
        report, silence, appending = self._room.health(), self._watchdog.silence, self._append_failure()
        reported = report.get("failures", ())
        failures = [*reported] if isinstance(reported, list | tuple) else []
        failures += [f"facts cannot be appended to the log: {appending}"] if appending else []
        losses = self._losses()
        failures += losses
        is_connected = self._kit.bus.connected
        return {
            "room": self._kit.room,
            **report,
            "failures": failures,
            "connected": is_connected,
            "silent_seconds": round(silence, 1),
            "unfolded": UNFOLDED.health,
            "ok": is_connected and silence < SILENT and not appending and not losses and bool(report.get("ok", True)),
        }

    @property
    def reply(self) -> RoomHealth:
        """The reply to `ask.health`."""
        page = self.page()
        through, failures = page.get("committed_through"), page["failures"]
        return RoomHealth(
            room=self._kit.room,
            ok=bool(page["ok"]),
            failures=tuple(failures) if isinstance(failures, list) else (),
            committed_through=through if isinstance(through, int) else None,
            unfolded=len(UNFOLDED),
            newest_unfolded=tuple(UnfoldedFact(*one) for one in UNFOLDED.newest(REPORTED)),
        )

    async def serve(self) -> None:
        """Answer `ask.health` of this room from here on."""
        await self._kit.bus.serve(ask(HealthAsk.NAME, self._kit.room), self._kit.room, self._answer)

    async def _answer(self, _subject: str, _data: bytes) -> bytes:
        return encode(self.reply)
