"""An installation in one process that is stopped, erased from by the command, and started again."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from schemas.plan import AnyEdit
from schemas.streams import LOG
from services.domain.erasure.scope import ErasureScope
from services.edges.erase.erasure import Erasure
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.room import Room
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.annals_command import annals
from tests.helpers.broker_world import NOON, Stored, connected, stored
from tests.helpers.memory_sessions import Harness, rooms

CHILD = """
import asyncio, os, signal, sys
from datetime import UTC, datetime
import msgspec
from schemas.streams import LOG
from services.domain.erasure.scope import ErasureScope
from services.domain.erasure.secret import spellings
from services.domain.erasure.survey import Survey
from services.edges.erase.command import stopped_store
from services.edges.erase.erasure import Erasure
from services.kit.bus import erasure_lock, rewriting
from services.settings import load

erasure_lock.SECONDS = float(os.environ.get("LOCKED_FOR", erasure_lock.SECONDS))

async def fall(lock):
    if lock is not None:  # as of a moment ago
        lock._owner = msgspec.structs.replace(lock._owner, seconds=erasure_lock.SECONDS)
        await lock._write(lock._seq)
    os.kill(os.getpid(), signal.Signals[os.environ.get("FALLS_BY", "SIGKILL")])

async def main(what, name, stages, writes):
    settings = load().settings
    async with stopped_store(settings, is_changed=True) as store:
        write, left = rewriting._Writer.write, [writes]
        async def counted(self, *message):
            await write(self, *message)
            left[0] -= 1
            if not left[0]:
                await fall(store.lock)
        await rewriting.end_what_was_begun(store.bus)
        survey = Survey()
        async for one in rewriting.stored_messages(store.bus, LOG.name):
            survey.add(one.subject, one.data)
        known = {"session": survey.of_session, "project": survey.of_project}
        scope = known[what](name) if what in known else ErasureScope(masks=spellings(name))
        erasure = Erasure(store.bus, settings.data, scope, datetime.now(UTC))
        for number, (_, stage) in enumerate(erasure.stages):
            if number == stages:
                if not writes:
                    await fall(store.lock)
                rewriting._Writer.write = counted
            await stage()

asyncio.run(main(*sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4])))
"""
STAGES = len(Erasure(None, Path(), ErasureScope(), NOON).stages)  # type: ignore[arg-type] # which are only counted


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
        session.bus, revision = self.bus, session.revision
        session.revision = 0
        plan = await session.asks_again(60_000)
        session.revision = revision
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


def cut_off(data: Path, what: tuple[str, str], stages: int, writes: int = 0) -> None:
    """Begin an erasure, and kill it after so many stages, or after so many facts that the next one writes."""
    fallen = begun(data, what, stages, writes)
    _, errors = fallen.communicate()
    assert -signal.SIGKILL == fallen.returncode, errors


def begun(
    data: Path, what: tuple[str, str], stages: int, writes: int = 0, **surroundings: str
) -> "subprocess.Popen[str]":
    """Begin an erasure that is killed, or stopped, after so many stages, or facts that the next one writes.

    `what`: `secret`, `session` or `project`, and which one. `FALLS_BY`: the signal; `LOCKED_FOR`: seconds that the lock
    on a team's broker is its own from that moment.
    """
    state = {"ANNALS_DATA": str(data), "XDG_STATE_HOME": str(data.parent / "state")}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *what, str(stages), str(writes)],
        env={**os.environ, **state, **surroundings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def files_with(folder: Path, text: str) -> list[Path]:
    """The files that hold a text in their bytes."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
