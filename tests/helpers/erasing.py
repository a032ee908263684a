"""An installation in one process that is stopped, erased from by the command, and started again."""

import os
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from schemas.plan import AnyEdit
from schemas.streams import LOG
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.room import Room
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.annals_command import annals
from tests.helpers.broker_world import Stored, connected, stored
from tests.helpers.memory_sessions import Harness, rooms


class Running(NamedTuple):
    """What runs."""

    bus: Bus
    rooms: Sequence[Room]

    async def log(self) -> Sequence[Stored]:
        return await stored(self.bus, LOG.name)

    async def goes_on(self, session: Harness, words: str) -> tuple[AnyEdit, ...]:
        """A session of before goes on with these words: what its next call adds to its plan."""
        session.bus = self.bus
        await session.says(words)
        return await session.step(self.rooms)

    async def plan(self, session: Harness) -> list[tuple[tuple[str, ...], tuple[AnyEdit, ...]]]:
        """All revisions of a session's plan, as a harness gets them that has none: the causes and edits of each."""
        session.bus, held = self.bus, session.revision
        session.revision = 0
        plan = await session.asks_again(60_000)
        session.revision = held
        return [(one.causes, one.edits) for one in plan.revisions]


@asynccontextmanager
async def running(data: Path) -> AsyncIterator[Running]:
    """A broker with its store in this directory, and the rooms that make prompts."""
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        async with rooms(server, data) as serving:
            yield Running(bus, serving)
        await bus.close()
    finally:
        server.stop()


def erase(data: Path, *arguments: str, word: str = "", **surroundings: str) -> "subprocess.CompletedProcess[str]":
    """Run `annals erase` on a stopped installation; `word`: the secret, where it is one."""
    environment = {
        **os.environ,
        "ANNALS_DATA": str(data),
        "XDG_STATE_HOME": str(data.parent / "state"),
        "SECRET": word,
        **surroundings,
    }
    return annals("erase", *arguments, environment=environment)


def files_with(folder: Path, text: str) -> list[Path]:
    """The files that hold a text in their bytes."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
