"""A broker without room confirms nothing that it has not stored, it is named, and goes on when there is room."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from schemas.streams import BODIES, IN
from services.edges.connect import probe
from services.edges.connect.installation import judge
from services.edges.launcher import broker as launcher
from services.edges.launcher import status, supervisor
from services.edges.launcher.broker import ENOUGH, FULL, NO_SPACE, STORE, Broker, bytes_below
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Appender, Bodies, Bus, Unreachable
from services.settings import Settings
from tests.helpers.broker_world import HARBOUR, facts, stored, titles, wrapped
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

MIB = 1024 * 1024
LETTER = b"x" * 500_000


class Disk:
    """The room on a disk of this size, of which the broker's store takes a part."""

    def __init__(self, data: Path, size: int) -> None:
        self._store = data / STORE
        self.size = size

    def __call__(self, _: Path) -> int:
        return max(0, self.size - bytes_below(self._store))


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    monkeypatch.setattr(supervisor, "DISK_LOOK", 0.05)
    disk = Disk(tmp_path, 40 * MIB)
    monkeypatch.setattr(launcher, "free_bytes", disk)
    return disk


@asynccontextmanager
async def installation(data: Path) -> AsyncIterator[tuple[Installation, Bus, Broker]]:
    """A broker that is looked after, without rooms."""
    async with Installation(Settings(data=data), ()).running() as running:
        endpoint = running.endpoint
        bus = await Bus.connect(endpoint.url, "test", user=endpoint.user, password=endpoint.password)
        assert running.broker is not None
        yield running, bus, running.broker
        await bus.close()


async def filled(bus: Bus) -> int:
    """Publish until it is refused; how many messages were confirmed."""
    for confirmed in range(1000):
        try:
            await bus.publish(HARBOUR.inbound("pi"), LETTER, f"letter {confirmed}")
        except Unreachable as error:
            refusal = str(error)
            break
    assert "the broker has no room for more" in refusal
    return confirmed


async def test_what_has_no_room_is_refused_at_once_and_named_and_is_taken_as_soon_as_there_is_room(
    tmp_path: Path, disk: Disk
) -> None:
    async with installation(tmp_path) as (_, bus, broker):
        confirmed = await filled(bus)
        assert confirmed == len(await stored(bus, IN.name))
        appender = Appender(bus)
        with pytest.raises(Unreachable, match="no room for more: make room on its disk"):
            await appender.append(wrapped(titles(1)), {})
        with pytest.raises(Unreachable, match="no room for more: make room on its disk"):
            await Bodies(bus, BODIES).put("a body")
        assert "no room for more" in appender.failure
        overview = await status.look(Settings(data=tmp_path))
        assert "no room for more: make room on its disk" in overview.refused
        assert not status.is_well(overview)
        published = [one for one in judge(await probe.look(Settings(data=tmp_path))) if one.what == "published"]
        assert [("FAIL", True)] == [(one.level, "make room" in one.remedy) for one in published]
        assert broker.process is not None
        pid = broker.process.pid
        disk.size = 900 * MIB

        async def is_taken() -> bool:
            try:
                return bool(await appender.append(wrapped(titles(1)), {}))
            except Unreachable:
                return False

        await until(is_taken)
        assert (pid, titles(1)) == (broker.process.pid, await facts(bus))
        before = len(await stored(bus, IN.name))
        assert "" == (await status.look(Settings(data=tmp_path))).refused
        assert before == len(await stored(bus, IN.name)), "who only asks stores nothing"


@pytest.mark.parametrize("sign", ["free", "log"])
async def test_a_broker_whose_disk_took_nothing_is_started_anew_when_there_is_room(
    tmp_path: Path, disk: Disk, sign: str
) -> None:
    """Such a broker stores nothing more in that stream, and does not answer, whatever room there is."""
    disk.size = 900 * MIB
    async with installation(tmp_path) as (_, bus, broker):
        await bus.publish(HARBOUR.inbound("pi"), LETTER, "first")
        first = broker.process
        assert first is not None
        if sign == "log":
            disk.size = ENOUGH - 1
            with (tmp_path / "nats.log").open("ab") as log:
                log.write(b"JetStream failed to store a msg: " + NO_SPACE)
        else:
            disk.size = FULL - 1
        await broker.use_room()
        assert first is broker.process
        disk.size = 2 * ENOUGH
        await until(lambda: broker.process is not first and bus.connected)
        assert 2 == await bus.publish(HARBOUR.inbound("pi"), LETTER, "second")
        assert 2 == len(await stored(bus, IN.name))
        second = broker.process
        await broker.use_room()
        assert second is broker.process
