"""Processes that are killed, and two that do the same work: nothing is missing, stale or recorded twice."""

import asyncio
import os
import random
import shutil
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

from schemas.events import CommitsAdvanced
from services.commit_indexer.worker import CommitIndexer
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, LogReader
from services.settings import environment
from tests.commit_indexer.test_worker import QUAY, at, counting, heads, identified, recorded_commits, settings
from tests.helpers.broker_world import connected, opened
from tests.helpers.repositories import Checkout, Made, line
from tests.helpers.surroundings import surroundings
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

MANY = 1200


async def running(broker: Broker, tmp_path: Path, *words: str) -> asyncio.subprocess.Process:
    """The room as a process of its own."""
    known = environment(settings(tmp_path, every=0.1))
    known |= {"ANNALS_NATS__URL": broker.endpoint.url, "ANNALS_NATS__PASSWORD": broker.endpoint.password}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.commit_indexer", *words, env=surroundings(tmp_path / "home") | known
    )


@pytest.mark.soak
@pytest.mark.own_broker
async def test_a_room_that_is_killed_again_and_again_records_everything_once(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    chance = random.Random(7)
    checkout = Checkout(tmp_path / "quay")
    checkout.add(*line(MANY))
    await identified(bus, at(checkout))
    for _ in range(4):
        process = await running(broker, tmp_path)
        known = await LogReader(bus).head() + chance.randrange(200)  # anywhere in its work
        await until(partial(_has_recorded_more, bus, known))
        process.send_signal(signal.SIGKILL)
        await process.wait()
    process = await running(broker, tmp_path, "--until-idle")
    assert 0 == await asyncio.wait_for(process.wait(), PATIENCE)
    assert {checkout.sha(mark) for mark in range(1, MANY + 1)} == await counting(bus)
    assert [checkout.sha(MANY)] == await heads(bus)


async def _has_recorded_more(bus: Bus, known: int) -> bool:
    log = LogReader(bus)
    return await log.head() > known or await log.last(QUAY.log(CommitsAdvanced.TYPE)) is not None


@pytest.mark.soak
@pytest.mark.own_broker
async def test_a_broker_that_is_killed_again_and_again_has_everything_once(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    chance = random.Random(3)
    checkout = Checkout(tmp_path / "quay")
    checkout.add(*line(MANY))
    await identified(bus, at(checkout))
    process = await running(broker, tmp_path)
    for _ in range(3):
        known = await LogReader(bus).head() + chance.randrange(200)  # anywhere in its work
        await until(partial(_has_recorded_more, bus, known))
        assert broker.process is not None
        broker.process.kill()
        broker.process.wait()
        await broker.start()
        await until(lambda: bus.connected)
    await until(lambda: _is_head(bus, checkout.sha(MANY)))
    process.terminate()
    await process.wait()
    assert {checkout.sha(mark) for mark in range(1, MANY + 1)} == await counting(bus)


DYING = """#!/bin/sh
read left next < {left}
if [ $left -gt 0 ]; then
  echo $((left - 1)) $next > {left}
  exec {git} "$@"
fi
echo $next $((next % 20 + 1)) > {left}
echo "$*" >> {died}
[ $((next % 2)) = 0 ] || {git} "$@" | head -c 1000
kill -9 $$
"""
"""A git that dies at its first call, then at the second behind it, the third behind that, and so on up to the
twentieth, which is more than a look takes; every other time with a part of its answer recorded."""


async def test_a_git_that_is_killed_again_and_again_hides_nothing(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    left, died = tmp_path / "left", tmp_path / "died"
    left.write_text("0 1\n")
    (folder / "git").write_text(DYING.format(git=shutil.which("git"), left=left, died=died))
    (folder / "git").chmod(0o755)
    checkout = Checkout(tmp_path / "quay")
    checkout.add(*line(400))
    await identified(bus, at(checkout))
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    async with opened(CommitIndexer(), bus, settings(tmp_path)):
        await until(lambda: _is_head(bus, checkout.sha(400)))
        checkout.add(Made(500, "Reworded", {"z": "1"}, (399,)))
        await until(lambda: _is_head(bus, checkout.sha(500)))
    assert {checkout.sha(mark) for mark in (*range(1, 400), 500)} == await counting(bus)
    assert all(one.files and not one.partial for one in await recorded_commits(bus))
    deaths = died.read_text().splitlines()
    assert 5 <= len(deaths)
    assert 4 <= len({*deaths}), "it died at several steps of a look"


async def _is_head(bus: Bus, sha: str) -> bool:
    return sha in await heads(bus)


async def test_of_two_rooms_none_records_what_the_other_has_recorded(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "quay")
    checkout.add(*line(900))
    await identified(bus, at(checkout))
    second = await connected(broker)
    rooms = [CommitIndexer(), CommitIndexer()]
    async with opened(rooms[0], bus, settings(tmp_path)), opened(rooms[1], second, settings(tmp_path)):
        await until(rooms[0].idle)
        await until(rooms[1].idle)
        checkout.add(*line(30, start=901))
        await until(lambda: _is_head(bus, checkout.sha(930)))
    await second.close()
    shas = [one.sha for one in await recorded_commits(bus)]
    assert [checkout.sha(mark) for mark in range(1, 931)] == sorted(shas, key=[*map(checkout.sha, range(1, 931))].index)
    assert len(set(shas)) == len(shas)
