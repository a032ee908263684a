"""What was remembered or noted lately: a search that comes behind the confirmation of it waits until it is indexed."""

import asyncio

from schemas.subjects import parse_log
from services.kit.bus import LogReader


class ConfirmedWrites:
    """Where the newest of such facts is in the log, project by project.

    A room hears of a fact as it is published, which is before whoever wrote it has the confirmation, and so before
    that one can ask for it: the broker hands one connection its messages in this order.
    """

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._newest: dict[str, int] = {}
        self._unplaced: dict[str, set[str]] = {}
        """Subjects on which something was published whose position was not looked up yet."""
        self._looking = asyncio.Lock()

    def heard(self, subject: str) -> None:
        """A fact was published on this subject."""
        self._unplaced.setdefault(parse_log(subject)[0].project, set()).add(subject)

    async def position(self, project: str) -> int:
        """Where the newest of them is; 0: none was written since this began. Raises `Unreachable`."""
        async with self._looking:
            subjects = self._unplaced.pop(project, set())
            try:
                for subject in subjects:
                    fact = await self._reader.last(subject)
                    self._newest[project] = max(self._newest.get(project, 0), fact.seq if fact else 0)
            except BaseException:
                self._unplaced.setdefault(project, set()).update(subjects)
                raise
        return self._newest.get(project, 0)
