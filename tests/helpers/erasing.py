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
import os, signal, sys
import msgspec
from services.edges import cli
from services.edges.erase import command
from services.edges.erase.erasure import Erasure
from services.kit.bus import erasure_lock, rewriting

stages, writes, *words = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
erasure_lock.SECONDS = float(os.environ.get("LOCKED_FOR", erasure_lock.SECONDS))
all_stages, write, left, locks = Erasure.stages.fget, rewriting._Writer.write, [writes], []

class Lock(erasure_lock.ErasureLock):
    async def take(self):
        locks.append(self)
        return await super().take()

async def fall():
    for lock in locks:  # as of a moment ago
        lock._owner = msgspec.structs.replace(lock._owner, seconds=erasure_lock.SECONDS)
        await lock._write(lock._seq)
    os.kill(os.getpid(), signal.Signals[os.environ.get("FALLS_BY", "SIGKILL")])

async def counted(self, *message):
    await write(self, *message)
    left[0] -= 1
    if not left[0]:
        await fall()

def falling(stage):
    async def fall_in_it():
        if not writes:
            await fall()
        rewriting._Writer.write = counted
        await stage()
    return fall_in_it

def watched(erasure):
    found = enumerate(all_stages(erasure))
    return [(done, falling(stage) if number == stages else stage) for number, (done, stage) in found]

Erasure.stages = property(watched)
command.ErasureLock = Lock
sys.exit(cli.main(["erase", *words, "--yes"]))
"""
"""`annals erase` itself, in a process that falls as its stage of this number begins, or after so many of its writes."""
SENTENCES = [done for done, _ in Erasure(None, Path(), ErasureScope(), NOON).stages]  # type: ignore[arg-type] # not run
"""What it prints behind each stage."""
STAGES = len(SENTENCES)


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
    printed, errors = fallen.communicate()
    assert -signal.SIGKILL == fallen.returncode, errors
    assert SENTENCES[:stages] == [one for one in printed.splitlines() if one in SENTENCES]


def begun(
    data: Path, what: tuple[str, str], stages: int, writes: int = 0, **surroundings: str
) -> "subprocess.Popen[str]":
    """Begin `annals erase --yes`, which is killed, or stopped, after so many stages, or facts that the next one writes.

    `what`: `secret`, `session` or `project`, and which one. `FALLS_BY`: the signal; `LOCKED_FOR`: seconds that the lock
    on a team's broker is its own from that moment.
    """
    kind, name = what
    words, secret = ([kind], name) if kind == "secret" else ([kind, name], "")
    state = {"ANNALS_DATA": str(data), "XDG_STATE_HOME": str(data.parent / "state"), "SECRET": secret}
    return subprocess.Popen(
        [sys.executable, "-u", "-c", CHILD, str(stages), str(writes), *words],
        env={**os.environ, **state, **surroundings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def files_with(folder: Path, text: str) -> list[Path]:
    """The files that hold a text in their bytes."""
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
