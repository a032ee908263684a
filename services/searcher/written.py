"""Recent memories and notes: a search that follows their confirmation waits until they are indexed."""

import asyncio
import time
from collections.abc import Callable

from schemas.subjects import parse_log
from services.kit.bus import LogReader

UNSTORED = 10.0
"""Seconds for which a fact may be heard of and not be stored yet: as long as who appends it waits for the broker."""
MOST = 1_000
"""Projects of which is known one by one where their newest is."""


class ConfirmedWrites:
    """The positions in the log of the newest of such facts, project by project.

    A room hears of a fact as it is published, which is before whoever wrote it has the confirmation, and so before
    that one can ask for it: the broker hands one connection its messages in this order. It is stored a moment later:
    whoever searches meanwhile does not find it in the log, and it is looked for again by those who search next.
    """

    def __init__(self, reader: LogReader, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds, of any origin."""
        self._reader = reader
        self._clock = clock
        self._newest: dict[str, int] = {}
        self._heard: dict[str, dict[str, float]] = {}
        """Project -> the subjects on which something was published lately, and when that was heard of."""
        self._at_least = 0
        """The newest position that is possible in a project that is not known by itself: all that was heard of them is
        before."""
        self._looking = asyncio.Lock()

    def heard(self, subject: str) -> None:
        """A fact was published on this subject."""
        self._heard.setdefault(parse_log(subject)[0].project, {})[subject] = self._clock()

    async def position(self, project: str) -> int:
        """The position of the newest of them, or one behind it; 0: none was written since this began.

        Raises `Unreachable`.
        """
        async with self._looking:
            if len(self._heard.keys() | self._newest.keys()) > MOST:
                await self._forget()
            for subject, at in tuple(self._heard.get(project, {}).items()):
                now = self._clock()
                fact = await self._reader.last(subject)
                self._newest[project] = max(self._newest.get(project, self._at_least), fact.seq if fact else 0)
                if now - at > UNSTORED and self._heard[project][subject] == at:
                    del self._heard[project][subject]
            if not self._heard.get(project, True):
                del self._heard[project]
        return self._newest.get(project, self._at_least)

    async def _forget(self) -> None:
        """Know no more of any project by itself than what may be not stored yet: the end of the log is behind the rest.

        A search of one that was forgotten waits until the index has read to there. That is soon, and nothing is missed.
        """
        before = self._clock() - UNSTORED
        self._at_least = max(self._at_least, await self._reader.head())
        self._newest.clear()
        for project, subjects in tuple(self._heard.items()):
            self._heard[project] = {subject: at for subject, at in subjects.items() if at > before}
            if not self._heard[project]:
                del self._heard[project]
