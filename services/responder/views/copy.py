"""The copy of the views for other processes, since only one process can have a DuckDB file that is written."""

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from services.kit.data_directory import COPY_TABLE, views_copy
from services.kit.duck import Connection, DuckError, change_alone, write_ahead_log
from services.responder.views.files import Files
from services.responder.views.store import position


class CopiedViews(msgspec.Struct, frozen=True):
    """A copy that was made: of which file, what position of the log it shows, and when the views were last so."""

    source: Path
    as_of: int
    at: datetime
    made: float
    """The time at which the copy was made, in seconds of a clock that is never set."""
    took: float
    """The seconds that making the copy took."""


class NotCopied(RuntimeError):
    """There is no new copy; says why."""


class Copier:
    """Makes copies on demand, where something has changed, and at most every few seconds.

    Where one takes longer than a second the next one comes later by as much: writers wait while the file is copied.
    """

    def __init__(self, files: Files, data: Path, *, every: float, memory_limit: str) -> None:
        self._files = files
        self._path = views_copy(data)
        self._every = every
        self._memory_limit = memory_limit
        self._newest: CopiedViews | None = None

    @property
    def is_young(self) -> bool:
        """Whether it is too early for another one."""
        newest = self._newest
        return newest is not None and time.monotonic() - newest.made < self._every * max(1.0, newest.took)

    async def newest(self) -> CopiedViews:
        """The newest copy, after one was made if it is time. Raises `NotCopied`."""
        serving, now = self._files.serving, datetime.now(UTC)
        newest = self._newest
        if newest is not None and (newest.source, newest.as_of) == (serving.duck.path, serving.committed):
            newest = msgspec.structs.replace(newest, at=now)
        elif newest is None or not self.is_young:
            newest = await self._copy()
        self._newest = newest
        return newest

    async def _copy(self) -> CopiedViews:
        began = time.monotonic()
        store, draft = self._files.serving, self._path.with_name(f"{self._path.name}.draft")
        try:
            await store.duck.copy(draft)
            at = datetime.now(UTC)
            as_of = await asyncio.to_thread(
                change_alone, draft, lambda db: _stamp(db, at), memory_limit=self._memory_limit
            )
            draft.replace(self._path)
        except (DuckError, OSError, RuntimeError) as error:
            raise NotCopied(
                f"the views could not be copied ({error}); see that the disk has room and is well"
            ) from error
        finally:
            for leftover in (draft, write_ahead_log(draft)):
                leftover.unlink(missing_ok=True)
        made = time.monotonic()
        return CopiedViews(store.duck.path, as_of, at, made, took=made - began)


def _stamp(db: Connection, at: datetime) -> int:
    """Write into the copy what it is; the position that it shows."""
    as_of = position(db)
    table = f"create table {COPY_TABLE} as select ?::bigint as as_of, ?::timestamp as copied_at"
    db.execute(table, [as_of, at.replace(tzinfo=None)])
    return as_of
