"""A broker that hangs: it is named with what to do, rooms notice it, and nothing that it has confirmed is lost."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from schemas.events import Event
from schemas.streams import IN
from services.edges.connect import probe
from services.edges.connect.installation import judge
from services.edges.launcher import status
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus, Unreachable, connection
from services.kit.health import HealthReport, Watchdog
from services.kit.room import Kit
from services.settings import Nats, Settings
from tests.helpers.broker_world import HARBOUR, connected, facts, kit_of, quick_settings, stored, titles, wrapped
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]


class IdleRoom:
    """A room without work."""

    NAME: ClassVar[str] = "idle"
    READS: ClassVar[tuple[type[Event], ...]] = ()
    WRITES: ClassVar[tuple[type[Event], ...]] = ()

    async def open(self, kit: Kit) -> None:
        """Do nothing."""

    async def idle(self) -> bool:
        return True

    def health(self) -> dict[str, object]:
        return {"ok": True}


@contextmanager
def stopped(broker: Broker) -> Iterator[int]:
    """The broker's process, which does nothing meanwhile."""
    assert broker.process is not None
    pid = broker.process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_status_and_doctor_say_that_it_is_stopped_and_how_it_goes_on(broker: Broker, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, nats=Nats(wait=0.5))
    with stopped(broker) as pid:
        with pytest.raises(Unreachable, match=f"is stopped and answers nobody; let it go on with `kill -CONT {pid}`"):
            await status.look(settings)
        (finding,) = judge(await probe.look(settings))
    assert ("FAIL", "broker") == (finding.level, finding.what)
    assert f"kill -CONT {pid}" in finding.remedy


async def test_rooms_notice_it_and_go_on_when_it_does(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PING", 0.05)
    bus = await connected(broker)
    async with kit_of("notary", bus, quick_settings(tmp_path)) as kit:
        report = HealthReport(kit, IdleRoom(), Watchdog(0), lambda: "")
        assert report.page()["ok"]
        with stopped(broker):
            await until(lambda: not bus.connected)
            page = report.page()
            assert (False, False) == (page["ok"], page["connected"])
        await until(lambda: report.page()["ok"])
    await bus.close()


async def test_what_it_has_confirmed_is_there_afterwards_once_and_what_it_has_not_can_be_sent_again(
    broker: Broker, bus: Bus
) -> None:
    facts_before, more = wrapped(titles(3)), wrapped(titles(2, 3))
    await Appender(bus).append(facts_before, {})
    confirmed = [await bus.publish(HARBOUR.inbound("pi"), b"{}", str(number)) for number in range(3)]
    with stopped(broker):
        waiting = asyncio.create_task(Appender(bus).append(more, {}))
        reports = [asyncio.create_task(bus.publish(HARBOUR.inbound("pi"), b"{}", str(number))) for number in (3, 4)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in (waiting, *reports))
    await asyncio.wait_for(waiting, PATIENCE)
    assert [4, 5] == sorted(await asyncio.gather(*reports))
    again = [await bus.publish(HARBOUR.inbound("pi"), b"{}", str(number)) for number in range(5)]
    assert (confirmed, 5) == (again[:3], len({*again}))
    assert 5 == len(await stored(bus, IN.name))
    assert titles(5) == await facts(bus)
