"""Which file answers: the one of today's shapes, or an older one for as long as the new one is being built."""

import asyncio
from pathlib import Path

from services.kit.duck import DuckError
from services.kit.logs import logger
from services.responder.store import PREFIX, Store, file_name

POLL = 0.2


class Files:
    """The store that is written, and the one that answers."""

    def __init__(self, building: Store, serving: Store) -> None:
        self.building = building
        self.serving = serving

    @classmethod
    async def open(cls, folder: Path, *, memory_limit: str) -> "Files":
        """Open today's file; while it has to be built, the newest older one goes on answering."""
        name = file_name()
        older = _older(folder, name)
        building = await Store.open(folder / name, memory_limit=memory_limit)
        return cls(building, await _open_older(older, building.committed, memory_limit) or building)

    @property
    def is_building(self) -> bool:
        return self.serving is not self.building

    async def swap_at(self, head: int) -> None:
        """Let the new file answer as soon as it holds what the log held when it was begun; remove older ones."""
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


def _older(folder: Path, name: str) -> list[Path]:
    """Other files of views, the newest first."""
    files = [path for path in folder.glob(f"{PREFIX}*.duckdb") if path.name != name]
    return sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)


async def _open_older(paths: list[Path], built: int, memory_limit: str) -> Store | None:
    """The newest older file that can be opened, if it knows more than what is built by now."""
    for path in paths:
        try:
            store = await Store.open_as_is(path, memory_limit=memory_limit)
        except DuckError as error:
            logger().warning("an older file of views cannot be opened", file=path.name, reason=str(error))
            continue
        if store.committed > built:
            return store
        await store.close()
    return None


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
