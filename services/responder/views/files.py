"""Chooses the views' file that answers: the current one, or an older one while the new one is being built.

A file that is damaged, or that is not what the log says, is put aside and built anew from the log.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from schemas.status_asks import LogBreak
from services.kit.bus import BrokerError
from services.kit.duck import Duck, DuckError, is_fatal
from services.kit.files import write_whole
from services.kit.logs import logger
from services.kit.projector import Fact
from services.kit.same_log import NOTHING, ComparedLog, Difference, Mark
from services.responder.views.store import PREFIX, Store, Torn, file_name

POLL = 0.2
RETRY_PAUSE = 1.0
"""Seconds until a file that could not be opened is tried again."""
ASIDE = ".aside"
BREAKS = "log-breaks.json"
MOST_BREAKS = 10
"""The last times that the log was another one, which are remembered."""


class Files:
    """The store that is written, and the one that answers. The projector fills it like a single one."""

    def __init__(self, building: Store, serving: Store, memory_limit: str, log: ComparedLog) -> None:
        self.building = building
        self.serving = serving
        self._memory_limit = memory_limit
        self._log = log

    @classmethod
    async def open(
        cls, folder: Path, *, memory_limit: str, log: ComparedLog, erased_at: datetime | None = None
    ) -> "Files":
        """Open today's file; while it has to be built, the newest older one goes on answering.

        `erased_at`: when something was last erased from the log. What no room reads any more of before is removed.
        """
        name = file_name()
        current = folder / name
        before = _written_before(erased_at, folder) if erased_at is not None else []
        for path in before:
            if path not in _with_log(current):
                _discard(path)
        building = await _whole(current, memory_limit, log, is_from_before=current in before)
        serving = await _open_older(_older(folder, name), building.committed, memory_limit, log) or building
        return cls(building, serving, memory_limit, log)

    @property
    def is_building(self) -> bool:
        return self.serving is not self.building

    @property
    def committed(self) -> int:
        """The position up to which the log is in the file that is written."""
        return self.building.committed

    async def commit(self, facts: Sequence[Fact], through: int, mark: Mark = NOTHING) -> None:
        """Add facts to the file that is written."""
        await self.building.commit(facts, through, mark)

    async def idle(self) -> None:
        """Move what was written lately into the file itself."""
        await self.building.idle()

    async def mend(self, rebuilt: Callable[[], None]) -> None:
        """Whenever the file breaks, open it again or, where it is damaged, one that is empty; then call `rebuilt`."""
        while True:
            broken = self.building
            await broken.duck.broken.wait()
            logger().error("the views are broken, they are opened again", file=broken.duck.path.name)
            await broken.close()
            is_serving = broken is self.serving
            self.building = await self._again(broken.duck)
            if is_serving:
                self.serving = self.building
            rebuilt()

    async def _again(self, broken: Duck) -> Store:
        """Open a file that broke, as soon as disk and broker let it be opened."""
        while True:
            try:
                if broken.corrupt:
                    _put_aside(broken.path, "it is damaged")
                return await _whole(broken.path, self._memory_limit, self._log)
            except (DuckError, OSError, BrokerError) as error:
                reason = str(error) or type(error).__name__
                logger().error("the views cannot be opened, it is tried again", file=broken.path.name, reason=reason)
            await asyncio.sleep(RETRY_PAUSE)

    async def swap_at(self, head: int) -> None:
        """Let the new file answer as soon as it has all that the log had when it was begun; remove older ones."""
        while self.building.committed < head:  # noqa: ASYNC110 - once in a file's life
            await asyncio.sleep(POLL)
        old, self.serving = self.serving, self.building
        if old is not self.building:
            await old.close()
            logger().info("the rebuilt views answer now", file=self.building.duck.path.name)
        for path in _older(self.building.duck.path.parent, self.building.duck.path.name):
            _remove(path)

    async def close(self) -> None:
        if self.is_building:
            await self.serving.close()
        await self.building.close()


async def _whole(path: Path, memory_limit: str, log: ComparedLog, *, is_from_before: bool = False) -> Store:
    """Open a file to write it. One that is damaged or doubtful is put aside, and an empty one opened.

    `is_from_before`: it was written before an erasure, so that it is removed, and that the log differs is no loss.
    """
    try:
        store = await Store.open(path, memory_limit=memory_limit)
    except DuckError as error:
        if not is_fatal(error):
            raise
        reason = str(error)
    else:
        reason, found = await _doubt(store, log)
        if not reason:
            return store
        if found is not None and not is_from_before:
            _write_down(path.parent, found)
    if is_from_before:
        for one in _with_log(path):
            _discard(one)
    else:
        _put_aside(path, reason)
    return await Store.open(path, memory_limit=memory_limit)


async def _doubt(store: Store, log: ComparedLog) -> tuple[str, Difference | None]:
    """The reason why a file is not used, which is closed then; empty: it is. With how the log differs, if it does."""
    reason, found = "it could not be compared with the log", None
    try:
        found = await store.compare(log)
        reason = found.reason if found is not None else ""
    except Torn as error:
        reason = str(error)
    except DuckError as error:
        if not is_fatal(error):
            raise
        reason = str(error)
    finally:
        if reason:
            await store.close()
    return reason, found


def _older(folder: Path, name: str) -> list[Path]:
    """Other files of views, the newest first."""
    files = [path for path in folder.glob(f"{PREFIX}*.duckdb") if path.name != name]
    return sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)


async def _open_older(paths: list[Path], built: int, memory_limit: str, log: ComparedLog) -> Store | None:
    """The newest older file that can be opened, if it knows more than what is built by now."""
    for path in paths:
        try:
            store = await Store.open_as_is(path, memory_limit=memory_limit)
        except DuckError as error:
            logger().warning("an older file of views cannot be opened", file=path.name, reason=str(error))
            continue
        reason, _ = await _doubt(store, log)
        if reason:
            logger().warning("an older file of views is not used", file=path.name, reason=reason)
        elif store.committed > built:
            return store
        else:
            await store.close()
    return None


def _with_log(path: Path) -> tuple[Path, Path]:
    """A file, and what was written to it last."""
    return path, path.with_name(f"{path.name}.wal")


def _put_aside(path: Path, reason: str) -> None:
    """Keep a file for whoever wants to see what happened to it: the newest one, under a name that nobody reads."""
    logger().error("a file of views is put aside and built anew", file=path.name, reason=reason)
    for one in _with_log(path):
        if one.exists():
            one.replace(one.with_name(one.name + ASIDE))


def log_breaks(folder: Path) -> tuple[LogBreak, ...]:
    """When the log was found to be another one than before, the newest first."""
    try:
        return msgspec.json.decode((folder / BREAKS).read_bytes(), type=tuple[LogBreak, ...])
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.DecodeError) as error:
        logger().warning("what is known of earlier logs cannot be read", file=BREAKS, reason=str(error))
        return ()


def _write_down(folder: Path, found: Difference) -> None:
    """Record for people why the views could not be used: they are made anew, and the new ones do not show it."""
    known = (LogBreak(datetime.now(UTC), found.known, found.agreed, found.head), *log_breaks(folder))
    try:
        write_whole(folder / BREAKS, msgspec.json.encode(known[:MOST_BREAKS]))
    except OSError as error:
        logger().warning("that the log is another one cannot be written down", file=BREAKS, reason=str(error))


def _written_before(moment: datetime, folder: Path) -> list[Path]:
    """Files of views that were last written before an erasure: they have what was erased.

    These are the views themselves, what was put aside, copies for queries, and files of earlier releases.
    """
    return [path for path in sorted(folder.glob("*.duckdb*")) if path.stat().st_mtime < moment.timestamp()]


def _discard(path: Path) -> None:
    """Remove a file from before an erasure, and log that."""
    path.unlink(missing_ok=True)
    logger().info("a file of views from before an erasure is removed", file=path.name)


def _remove(path: Path) -> None:
    for one in _with_log(path):
        one.unlink(missing_ok=True)
