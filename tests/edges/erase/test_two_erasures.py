"""Two erasures of one team's broker do not meet: the second is refused, and one that was cut off is taken up again."""

import asyncio
import platform
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from schemas.events import ErasureOrdered, SessionRenamed
from schemas.streams import LOG
from services.edges.erase.files import only_one
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, erasure_lock
from services.kit.bus.erasure_lock import ErasureLock, Lease, NotOwned, Owner, lease_of
from tests.helpers import erasing
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import NOON, connected, stored, wrapped
from tests.helpers.room_process import room
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

FIRST, SECOND = "kestrel-seven", "pelican-eight"
TITLES = [f"{FIRST} 1", "between", f"{SECOND} 2", f"{FIRST} and {SECOND}", "last"]
COPYING, REFILLING = 5, 7
"""Stages of an erasure that write facts."""


class Team(NamedTuple):
    """A broker of a team, as the command reaches it."""

    bus: Bus
    address: Mapping[str, str]

    async def titles(self) -> list[str]:
        log = [one for one in await stored(self.bus, LOG.name) if not one.subject.endswith(ErasureOrdered.TYPE)]
        return [one.data.decode().partition('"title":"')[2].partition('"')[0] for one in log]

    async def erase(self, data: Path, secret: str) -> "subprocess.CompletedProcess[str]":
        return await asyncio.to_thread(erasing.erase, data, "secret", "--yes", word=secret, **self.address)


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Team]:
    server = Broker(tmp_path / "store", port=0, max_payload=MAX_PAYLOAD, is_alone=True)
    await server.start()
    bus = await connected(server)
    await bus.ensure()
    await Appender(bus).append(wrapped([SessionRenamed(title=title) for title in TITLES]), {})
    endpoint = server.endpoint
    address = {
        "ANNALS_NATS__URL": endpoint.url,
        "ANNALS_NATS__USER": endpoint.user,
        "ANNALS_NATS__PASSWORD": endpoint.password,
    }
    try:
        yield Team(bus, address)
    finally:
        await bus.close()
        server.stop()


@asynccontextmanager
async def fallen(
    team: Team, data: Path, stage: int, signal_name: str, seconds: float, writes: int = 0
) -> AsyncIterator["subprocess.Popen[str]"]:
    """An erasure of the first secret that was killed or stopped in this stage, with its lock for so many seconds."""
    child = erasing.begun(
        data, ("secret", FIRST), stage, writes, FALLS_BY=signal_name, LOCKED_FOR=str(seconds), **team.address
    )
    process = psutil.Process(child.pid)
    states = (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
    try:
        await until(lambda: process.status() in states)
        if signal_name == "SIGKILL":
            assert -signal.SIGKILL == child.wait(), child.stderr and child.stderr.read()
        yield child
    finally:
        child.kill()
        child.communicate()


async def test_a_second_erasure_is_refused_with_who_works_there_and_what_to_do(team: Team, tmp_path: Path) -> None:
    before = await team.titles()
    async with fallen(team, tmp_path / "one", COPYING, "SIGSTOP", 3600, writes=2):
        refused = await team.erase(tmp_path / "two", SECOND)
        assert 1 == refused.returncode, refused.stdout
        assert platform.node() in refused.stderr
        assert "wait until it has ended" in refused.stderr
        assert "where it was cut off, run it again" in refused.stderr
        assert 1 == len(refused.stderr.strip().splitlines())
        shown = await asyncio.to_thread(erasing.erase, tmp_path / "two", "secret", word=SECOND, **team.address)
        assert (0, True) == (shown.returncode, "would be refused for now" in shown.stderr), shown.stderr
        assert before == await team.titles()


@pytest.mark.parametrize(
    ("is_in_container", "who", "remedy"),
    [
        (False, "began on 3f2a", "run it again on that machine, or wait for 50 s"),
        (True, "began in the container 3f2a", "run it again with the same volume at its ANNALS_DATA, or wait for 50 s"),
    ],
)
def test_who_reads_of_another_erasure_knows_where_it_is(who: str, remedy: str, *, is_in_container: bool) -> None:
    owner = Owner("id", "3f2a", 7, NOON, is_in_container=is_in_container)
    sentence = Lease(1, owner, 10.0).sentence
    assert (True, True) == (who in sentence, remedy in sentence), sentence
    assert is_in_container == ("`docker ps`" in sentence)


async def test_of_two_on_one_machine_the_second_is_refused_too(team: Team, tmp_path: Path) -> None:
    async with fallen(team, tmp_path / "one", COPYING, "SIGSTOP", 3600, writes=2):
        refused = await team.erase(tmp_path / "one", SECOND)
        assert (1, True) == (refused.returncode, "wait until it has ended" in refused.stderr), refused.stderr


@pytest.mark.parametrize(("stage", "writes"), [(3, 0), (COPYING, 2), (REFILLING, 0), (REFILLING, 2)])
async def test_one_that_was_killed_is_taken_up_by_its_own_machine_at_once(
    team: Team, tmp_path: Path, stage: int, writes: int
) -> None:
    async with fallen(team, tmp_path / "one", stage, "SIGKILL", 3600, writes):
        elsewhere = await team.erase(tmp_path / "two", FIRST)
        assert (1, True) == (elsewhere.returncode, "where it was cut off, run it again" in elsewhere.stderr)
        done = await team.erase(tmp_path / "one", FIRST)
        assert 0 == done.returncode, done.stdout + done.stderr
        assert "Cut off was the erasure that began " in done.stderr
    assert [title.replace(FIRST, "[masked:erased]") for title in TITLES] == await team.titles()
    assert None is await lease_of(team.bus)


@pytest.mark.parametrize(("stage", "writes"), [(COPYING, 2), (REFILLING, 0), (REFILLING, 2)])
async def test_one_that_was_killed_is_ended_by_another_machine_after_a_while(
    team: Team, tmp_path: Path, stage: int, writes: int
) -> None:
    async with fallen(team, tmp_path / "one", stage, "SIGKILL", 0.01, writes):
        done = await team.erase(tmp_path / "two", SECOND)
        assert 0 == done.returncode, done.stdout + done.stderr
        assert "run that again, too" in done.stderr
        again = await team.erase(tmp_path / "one", FIRST)
        assert 0 == again.returncode, again.stdout + again.stderr
    assert not any(FIRST in title or SECOND in title for title in await team.titles())
    assert len(TITLES) == len(await team.titles())


@pytest.mark.parametrize(("stage", "writes"), [(COPYING, 2), (6, 0), (REFILLING, 2), (8, 0)])
async def test_one_that_slept_while_another_worked_changes_nothing_any_more(
    team: Team, tmp_path: Path, stage: int, writes: int
) -> None:
    async with fallen(team, tmp_path / "one", stage, "SIGSTOP", 0.01, writes) as sleeper:
        done = await team.erase(tmp_path / "two", SECOND)
        assert 0 == done.returncode, done.stdout + done.stderr
        after = await stored(team.bus, LOG.name)
        sleeper.send_signal(signal.SIGCONT)
        _, errors = await asyncio.to_thread(sleeper.communicate)
        assert (1, True) == (sleeper.returncode, "could not renew its lock in time" in errors), errors
        assert after == await stored(team.bus, LOG.name)
        again = await team.erase(tmp_path / "one", FIRST)
        assert 0 == again.returncode, again.stdout + again.stderr
    assert not any(FIRST in title or SECOND in title for title in await team.titles())


async def test_no_room_works_meanwhile(team: Team, tmp_path: Path) -> None:
    lock = ErasureLock(team.bus, owner("one"))
    await lock.take()
    async with room("tagger", tmp_path / "data", **team.address) as process:
        assert 1 == await process.ends()
        (error,) = [str(line["event"]) for line in process.lines if line["level"] == "error"]
    assert "no room works while the erasure that began on machine of one" in error
    await lock.release()
    async with room("tagger", tmp_path / "data", **team.address) as process:
        await process.logs("open")


def owner(name: str, seconds: float = 3600) -> Owner:
    return Owner(name, f"machine of {name}", 1, NOON, seconds)


async def taken(bus: Bus, name: str) -> Lease | NotOwned | None:
    try:
        return await ErasureLock(bus, owner(name)).take()
    except NotOwned as error:
        return error


async def test_of_many_at_once_one_has_the_lock_and_the_others_name_it(team: Team) -> None:
    url, user, password = team.address.values()
    buses = [await Bus.connect(url, "erase", user=user, password=password) for _ in range(6)]
    found = await asyncio.gather(*(taken(bus, str(number)) for number, bus in enumerate(buses)))
    (winner,) = [number for number, one in enumerate(found) if one is None]
    refusals = [str(one) for number, one in enumerate(found) if number != winner]
    assert all(f"machine of {winner}" in one for one in refusals), refusals
    for bus in buses:
        await bus.close()


async def test_a_lock_is_renewed_as_long_as_its_owner_works(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure_lock, "RENEWALS", 360_000)
    lock = ErasureLock(team.bus, owner("one"))
    await lock.take()
    first = await lease_of(team.bus)
    assert first is not None

    async def is_renewed() -> bool:
        now = await lease_of(team.bus)
        return now is not None and now.seq > first.seq + 3

    await until(is_renewed)
    await lock.release()
    assert None is await lease_of(team.bus)


def test_the_id_of_a_data_directory_is_one_process_s(tmp_path: Path) -> None:
    with only_one(tmp_path / "data") as first, only_one(tmp_path / "data") as second:
        assert first != second
    with only_one(tmp_path / "data") as again:
        assert first == again
    (tmp_path / "file").write_text("no folder")
    with only_one(tmp_path / "file") as one, only_one(tmp_path / "file") as other:
        assert one != other
