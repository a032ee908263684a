"""The desk's schedule: once in every slot the book of each project is brought up to date.

Each desk asks. The command's id is over the project and the slot, so that it is one command however many desks ask, and
what is due is decided on the book: a second one finds nothing left.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from schemas.commands import MemoryExpire
from schemas.events import MemoryWritten
from schemas.subjects import parse_log
from services.desk.books import Books
from services.kit.background import begin
from services.kit.bus import Unreachable
from services.kit.room import Kit

SLOT = timedelta(hours=1)


class Schedule:
    """Brings the books of all projects up to time, slot by slot."""

    def __init__(self, kit: Kit, books: Books, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._kit = kit
        self._books = books
        self._now = now

    async def open(self) -> None:
        if self._books.is_enabled:
            begin(self._kit, self._run())

    async def _run(self) -> None:
        await self._guarded(self._books.adoption.all_known())
        while True:
            now = self._now()
            slot = slot_of(now)
            await self._guarded(self.ask(slot))
            await asyncio.sleep((slot + SLOT - self._now()).total_seconds())

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Unreachable as error:
            self._kit.log.warning("the memory was not brought up to time", reason=str(error))
        except Exception:  # the next slot comes, whatever broke in this one
            self._kit.log.exception("the memory was not brought up to time")

    async def ask(self, slot: datetime) -> None:
        """Bring every book up to the beginning of a slot. One that breaks keeps no other from it."""
        for subject in await self._kit.reader.subjects(f"log.*.*._.{MemoryWritten.TYPE}"):
            try:
                project = parse_log(subject)[0].project
                await self._books.bring_up_to_time(project, MemoryExpire(slot), f"expire/{project}/{slot.isoformat()}")
            except Unreachable:
                raise
            except Exception:  # it concerns this project only
                self._kit.log.exception("a book was not brought up to time", subject=subject)


def slot_of(moment: datetime) -> datetime:
    """The beginning of the slot that a moment lies in."""
    return moment - (moment - datetime.min.replace(tzinfo=UTC)) % SLOT
