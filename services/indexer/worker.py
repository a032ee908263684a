"""The indexer's wiring: the log in, rows of the index out, by one writer at a time."""

import asyncio
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from schemas.events import (
    CommitsAdvanced,
    CommitSeen,
    CompartmentSealed,
    Event,
    HistoryAbandoned,
    HistoryReplaced,
    MemoryArchived,
    MemoryDivided,
    MemoryExpired,
    MemoryMerged,
    MemoryMoved,
    MemoryProposed,
    MemoryQuarantined,
    MemoryReinforced,
    MemoryReleased,
    MemoryRestored,
    MemoryRevised,
    MemoryWritten,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    NoteDismissed,
    NoteUpdated,
    NoteWritten,
    PartRecorded,
    PartRemoved,
    SessionClosed,
    SessionForked,
    SessionOpened,
)
from schemas.search_asks import IndexPosition, IndexPositionAsk
from services.domain.texts.bounds import beginning
from services.indexer.index import Misfit
from services.indexer.work import PROMPT, IndexWork
from services.kit.asks import AskHandler, Declined
from services.kit.background import begin
from services.kit.bus import Unreachable
from services.kit.bus.holes import LOST, REMEDY, given_up, spoken, unreadable
from services.kit.files import open_own
from services.kit.index_place import folder_of
from services.kit.room import Kit
from services.kit.surroundings import reason_of

AGAIN = 0.5
"""Seconds until the lock is asked for again."""
MOST_REPORTED = 200
"""Characters of an error that are reported."""
LOCK = "writer.lock"


class Indexer:
    """Writes the index of search from the log."""

    NAME: ClassVar[str] = "indexer"
    GIVES_WAY: ClassVar[bool] = True
    READS: ClassVar[tuple[type[Event], ...]] = (
        SessionOpened,
        SessionForked,
        SessionClosed,
        MessageRecorded,
        MessageListed,
        MessageRemoved,
        PartRecorded,
        PartRemoved,
        CompartmentSealed,
        HistoryReplaced,
        HistoryAbandoned,
        MemoryProposed,
        MemoryWritten,
        MemoryRevised,
        MemoryMerged,
        MemoryDivided,
        MemoryReinforced,
        MemoryArchived,
        MemoryRestored,
        MemoryExpired,
        MemoryQuarantined,
        MemoryReleased,
        MemoryMoved,
        NoteWritten,
        NoteUpdated,
        NoteDismissed,
        CommitSeen,
        CommitsAdvanced,
    )
    WRITES: ClassVar[tuple[type[Event], ...]] = ()

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        self.work: IndexWork | None = None
        self._failure = ""
        self._rows_made_anew = 0
        self._holes: tuple[str, ...] = ()
        self._lock = WriterLock(kit.settings.data)
        kit.stack.callback(self._lock.close)
        self._handler = AskHandler(kit, IndexPositionAsk, self._position, lambda reason: IndexPosition(error=reason))
        begin(kit, self._for_ever())
        begin(kit, self._read_log())

    async def idle(self) -> bool:
        """Whether all of the log is in the index, with the vectors that can be had."""
        work = self.work
        if work is None:
            return False
        return work.filler.is_done and work.index.committed >= await self._kit.reader.head()

    def health(self) -> dict[str, object]:
        """The state of the index: its position, what it lacks, and the reason."""
        work = self.work
        if work is None:
            failure = self._failure
            failures = _failures(failure, self._holes)
            return {"ok": not failures, "waiting": True, "failure": failure, "failures": failures}
        failure = work.projector.failure or work.upkeep.failure
        failures = _failures(failure, self._holes)
        return {
            "ok": not failures,
            "failure": failure,
            "failures": failures,
            "set": work.index.current.set,
            "read_through": work.projector.read_through,
            "committed_through": work.index.committed,
            "without_vectors": len(work.index.unfilled),
            "vectors_failure": work.filler.failure,
            "states": len(work.states),
            "rows_made_anew": self._rows_made_anew,
        }

    async def _position(self, ask: IndexPositionAsk) -> IndexPosition:
        work = self.work
        if work is None and self._failure:
            return IndexPosition(failure=_first_line(self._failure))
        if work is None:
            raise Declined("the index is being opened; ask again in a moment")
        if not work.projector.failure:  # what cannot be written is not waited for
            await work.projector.committed(ask.seq, ask.deadline_ms / 1000)
        return IndexPosition(work.index.committed, failure=_first_line(work.projector.failure))

    async def _read_log(self) -> None:
        """Read all of the log once, next to everything else: what cannot be read, or is lost, is reported."""
        try:
            found, gone = await unreadable(self._kit.bus), await given_up(self._kit.bus)
        except Unreachable as error:
            self._kit.log.warning("the log was not read through", reason=str(error))
            return
        if found:
            self._holes += (f"the log has a hole, {spoken(found)} cannot be read; {REMEDY}",)
            self._kit.log.error("the log has a hole", positions=spoken(found), remedy=REMEDY)
        if gone:
            self._holes += (f"facts of the log are lost, {spoken(gone)}; {LOST}",)
            self._kit.log.error("facts of the log are lost", positions=spoken(gone), remedy=LOST)

    async def _for_ever(self) -> None:
        """Work, once nobody else does; and on another index, when there is another model."""
        while not self._lock.taken():  # noqa: ASYNC110 - the system has no notification of a lock that is free
            await asyncio.sleep(AGAIN)
        await self._handler.open()  # an indexer that only waits for the lock could not answer
        patience = PROMPT
        repairs: Sequence[Misfit] = ()
        while True:
            work = IndexWork(self._kit, self.READS, repairs)
            try:
                await work.open(patience)
                self.work, self._failure = work, ""
                self._rows_made_anew += len(repairs)
                repairs = ()
                await work.is_over.wait()
                repairs = work.misfits
            except Exception as error:
                self._failure = reason_of(error)
                self._kit.log.exception("the index cannot be opened, it is tried again")
                await asyncio.sleep(AGAIN)
            finally:
                self.work = None
                await work.close()
            patience = 2.0


def _failures(failure: str, holes: Sequence[str]) -> list[str]:
    unwritten = [f"the index cannot be written: {_first_line(failure)}"] if failure else []
    return [*unwritten, *holes]


def _first_line(failure: str) -> str:
    """The beginning of an error, in one line."""
    return beginning(" ".join(failure.split()), MOST_REPORTED)


class WriterLock:
    """The lock of the one writer: two would write rows twice. The system releases it however its holder ends."""

    def __init__(self, data: Path) -> None:
        folder_of(data).mkdir(parents=True, exist_ok=True)
        self._file = open_own(folder_of(data) / LOCK, os.O_RDWR)

    def taken(self) -> bool:
        """Take it, if nobody has it; whether it is ours now."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        os.close(self._file)
