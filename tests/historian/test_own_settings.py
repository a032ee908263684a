"""Whether history is compressed is what a project says for itself, where it says something: of its sessions alone."""

import json

import pytest

from schemas.events import CompartmentSealed, HistoryRequested, SettingsApplied
from schemas.subjects import Address
from services.historian.worker import Historian
from services.kit.bus import Appender, Bus
from tests.helpers.broker_world import HARBOUR, opened, wrapped
from tests.helpers.compressed_sessions import ended, of, reported_session, settings
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


async def sets(bus: Bus, project: str, **values: object) -> None:
    event = SettingsApplied(settings=json.dumps({name.replace("__", "."): value for name, value in values.items()}))
    await Appender(bus).append(wrapped([event], address=Address(project)), {})


async def test_a_project_switches_it_off_for_itself(bus: Bus) -> None:
    await sets(bus, HARBOUR.project, history__enabled=False)
    async with reported_session(bus) as session:
        await session.turns(11)
        await session.step(45_000)
        async with opened(historian := Historian(), bus, settings()):
            await until(historian.idle)
    assert [] == await of(bus, HistoryRequested, CompartmentSealed)


@pytest.mark.parametrize("other", [{"history__enabled": False, "plan__context": "full"}, {}])
async def test_what_another_project_says_changes_nothing(bus: Bus, other: dict[str, object]) -> None:
    await sets(bus, "quarry", **other)
    async with reported_session(bus) as session:
        await session.turns(11)
        await session.step(45_000)
        async with opened(Historian(), bus, settings()):
            await until(lambda: ended(bus))
    assert 1 == len(await of(bus, HistoryRequested))


async def test_a_project_switches_it_on_where_the_installation_has_it_off(bus: Bus) -> None:
    await sets(bus, HARBOUR.project, history__enabled=True)
    async with reported_session(bus) as session:
        await session.turns(11)
        await session.step(45_000)
        async with opened(Historian(), bus, settings(enabled=False)):
            await until(lambda: ended(bus))
    assert 1 == len(await of(bus, HistoryRequested))
