"""When which project is looked at: each has one moment at most, and nothing is asked of the log until one has come."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from schemas.events import Event, MemoryWritten, NoteTranslated, NoteWritten, SettingsApplied, StepOpened
from schemas.subjects import BadSubject, parse_log
from services.dreamer.core.state import CHANGES
from services.kit.background import begin
from services.kit.bus import Unreachable
from services.kit.room import Kit

LONGEST_WAIT = timedelta(minutes=1)
"""A moment is noticed so late where a clock was set or the machine slept meanwhile."""
SOON = timedelta(minutes=1)
"""After a change a project is looked at so much later: what changes meanwhile costs nothing."""
AFTER_FAULT = timedelta(hours=1)
"""After a look that has failed the project is looked at again so much later."""

Look = Callable[[str], Awaitable[None]]
"""Looks at a project, requests what is due, and sets with `at` when it is to be looked at again."""


def _now() -> datetime:
    return datetime.now(UTC)


class Watch:
    """Looks at each project when a run of it may be due. All of it is read from the log again when a process starts."""

    def __init__(self, kit: Kit, look: Look, quiet: timedelta, *, now: Callable[[], datetime] = _now) -> None:
        """`quiet`: how long after the start nothing is looked at."""
        self._kit = kit
        self._look = look
        self._now = now
        self._opened = now()
        self._quiet_until = self._opened + quiet
        self._due: dict[str, datetime] = {}
        self._worked: dict[str, datetime] = {}
        self._earlier = asyncio.Event()
        """Set when a project is to be looked at earlier than was known."""

    def __len__(self) -> int:
        """The number of projects with a moment."""
        return len(self._due)

    async def open(self) -> None:
        await self._kit.bus.follow(f"log.*.*.*.{StepOpened.TYPE}", self._stepped)
        heard: tuple[type[Event], ...] = (*CHANGES, NoteTranslated, SettingsApplied)
        for event in heard:
            await self._kit.bus.follow(f"log.*.*._.{event.TYPE}", self._heard_of_change)
        begin(self._kit, self._run())

    def worked(self, project: str) -> datetime | None:
        """When somebody last worked on a project, as far as this process has seen; none: it is not to be looked at."""
        return None if self._now() < self._quiet_until else self._worked.get(project, self._opened)

    def last_worked(self, project: str) -> datetime:
        """The same, at any time."""
        return self._worked.get(project, self._opened)

    def at(self, project: str, moment: datetime | None) -> None:
        """Look at a project at this moment; none: when something happens to it."""
        if moment is None:
            self._due.pop(project, None)
        else:
            self._due[project] = max(moment, self._quiet_until)
            self._earlier.set()

    def _stepped(self, subject: str) -> None:
        if project := _project_of(subject):
            self._worked[project] = self._now()

    def _heard_of_change(self, subject: str) -> None:
        if project := _project_of(subject):
            soon = self._now() + SOON
            self.at(project, min(soon, self._due.get(project, soon)))

    async def _run(self) -> None:
        await asyncio.sleep((self._quiet_until - self._now()).total_seconds())
        for event in (MemoryWritten, NoteWritten):
            for subject in await self._kit.reader.subjects(f"log.*.*._.{event.TYPE}"):
                if project := _project_of(subject):
                    self._due.setdefault(project, self._now())
        while True:
            self._earlier.clear()
            for project in [one for one, moment in self._due.items() if moment <= self._now()]:
                del self._due[project]
                await self._guarded(project)
            await self._until_next()

    async def _until_next(self) -> None:
        """Wait for the next moment, for an earlier one, or until a clock may have been set; without any, for one."""
        wait = None
        if self._due:
            wait = max(0.0, min(min(self._due.values()) - self._now(), LONGEST_WAIT).total_seconds())
        try:
            async with asyncio.timeout(wait):
                await self._earlier.wait()
        except TimeoutError:
            return

    async def _guarded(self, project: str) -> None:
        try:
            await self._look(project)
        except Unreachable as error:
            self._kit.log.warning("a project was not looked at", project=project, reason=str(error))
            self.at(project, self._now() + SOON)
        except Exception:  # others must be looked at, whatever broke with this one
            self._kit.log.exception("a project was not looked at", project=project)
            self.at(project, self._now() + AFTER_FAULT)


def _project_of(subject: str) -> str:
    """The project of a fact; empty: somebody published there who should not."""
    try:
        return parse_log(subject)[0].project
    except BadSubject:
        return ""
