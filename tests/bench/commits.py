"""A long history: how fast it is recorded, next to git's own reading of it, and with what memory; and an idle look."""

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
from msgspec.structs import replace

from schemas.events import CommitsAdvanced, ProjectIdentified
from schemas.subjects import Address
from services.kit.room import Kit
from services.settings import Commits, environment
from tests.bench.installations import kit
from tests.bench.measure import Measure, at_least, at_most
from tests.helpers.broker_world import wrapped
from tests.helpers.repositories import Checkout, Made

COMMITS, FILES = 5_000, 800
MEBIBYTE = 1024 * 1024
SAMPLE = 0.02


async def measure() -> list[Measure]:
    async with kit() as given:
        checkout = await asyncio.to_thread(_repository, given.settings.data / "repository")
        began = time.perf_counter()
        await asyncio.to_thread(checkout.git, "log", "--name-only", "--no-renames", "HEAD")
        bare = time.perf_counter() - began
        project = Address(f"git-{checkout.sha(1)}")
        identified = ProjectIdentified(
            directory=str(checkout.folder), harness="pi", root=str(checkout.folder), vcs="git"
        )
        await given.appender.append(wrapped([identified], {}, project), {})
        took, most = await _import(given, project)
        late = await _lateness(given, checkout)
    return [
        at_least(f"{COMMITS} commits recorded from a checkout", COMMITS / took, "commits/s", 100, COMMITS / bare),
        at_most("memory of the commit indexer meanwhile", most, "MiB", 200),
        at_most("seconds until a new commit is recorded", late, "s", 60),
    ]


def _repository(folder: Path) -> Checkout:
    checkout = Checkout(folder)
    checkout.add(*_history())
    return checkout


def _history() -> Iterator[Made]:
    body = "What was wrong, and how it is right now, in words as people write them. " * 8
    for mark in range(1, COMMITS + 1):
        changed = {f"src/part{at % 40}/file{at % FILES}.py": f"{mark}\n" for at in range(mark, mark + 3)}
        at = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) + 60 * mark
        yield Made(mark, f"Change number {mark} of many\n\n{body}", changed, (mark - 1,) if mark > 1 else (), at)


async def _room(given: Kit, *words: str) -> asyncio.subprocess.Process:
    settings = replace(given.settings, commits=Commits(since_days=0, max_commits=COMMITS))
    known = environment(settings) | {"ANNALS_LOGS__LEVEL": "error"}
    known |= {"ANNALS_NATS__URL": "", "ANNALS_DATA": str(given.settings.data)}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.commit_indexer", *words, env={**os.environ, **known}
    )


async def _import(given: Kit, project: Address) -> tuple[float, float]:
    """Seconds and mebibytes of telling all of it, the room's start included."""
    began = time.perf_counter()
    process = await _room(given, "--until-idle")
    watched, most = psutil.Process(process.pid), 0.0
    while process.returncode is None:
        try:
            most = max(most, watched.memory_info().rss / MEBIBYTE)
        except psutil.NoSuchProcess:
            break
        await asyncio.sleep(SAMPLE)
    await process.wait()
    took = time.perf_counter() - began
    newest = await given.reader.last(project.log(CommitsAdvanced.TYPE))
    assert newest is not None
    return took, most


async def _lateness(given: Kit, checkout: Checkout) -> float:
    """Seconds from a commit until it is recorded, by a room that looks as often as it does by default."""
    process = await _room(given)
    head = await given.reader.head()
    await asyncio.sleep(2)  # somewhere between two looks
    checkout.add(Made(COMMITS + 1, "One more", {"README.md": "more\n"}, (COMMITS,), int(time.time())))
    began = time.perf_counter()
    while await given.reader.head() == head:  # noqa: ASYNC110 - another process brings it about
        await asyncio.sleep(SAMPLE)
    late = time.perf_counter() - began
    process.terminate()
    await process.wait()
    return late
