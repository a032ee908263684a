"""Profiles over a real broker: bound at the beginning of sessions, collected once, and off for as long as they are."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from schemas.commands import ProfileDisable, ProfileEnable, ProfileObserve
from schemas.envelope import Actor
from schemas.events import Event, ProfileBound, ProfileObserved, SessionForked, SessionOpened
from schemas.streams import LOG
from schemas.subjects import Address
from services.desk.core.profiles import bound
from services.desk.worker import Desk
from services.domain.aliases import GLOBAL
from services.kit.bus import Appender, Bus, LogReader
from services.kit.person import person_at
from services.memory.profiles import head_traits
from tests.helpers.broker_world import HARBOUR, facts, opened, quick_settings, stored, wrapped
from tests.helpers.memory_sessions import done
from tests.helpers.stated_rules import ADDRESS, RULE, begins, decided, home_of, known, states
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


@pytest.fixture(autouse=True)
def no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git has no settings of the person who runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@asynccontextmanager
async def desk(bus: Bus, data: Path) -> AsyncIterator[Desk]:
    """A desk, which has worked all that there is when it ends."""
    room = Desk()
    async with opened(room, bus, quick_settings(data)):
        yield room
        await until(room.idle)


async def of_kind(bus: Bus, kind: type[Event]) -> list[Event]:
    return [one for one in await facts(bus, GLOBAL) if isinstance(one, kind)]


async def test_what_a_person_states_in_their_sessions_is_collected_once_and_nothing_else_is(
    bus: Bus, tmp_path: Path
) -> None:
    mine, theirs = home_of(ADDRESS, tmp_path / "mine"), home_of("eve@example.org", tmp_path / "theirs")
    nobody = home_of("", tmp_path / "nobody")
    async with desk(bus, tmp_path / "data") as room:
        before = SessionOpened(harness="pi", mode="primary", directory=str(mine.folder))
        await Appender(bus).append(wrapped([before], address=Address(HARBOUR.project, "before")), {})
        await until(room.idle)
        assert [] == await facts(bus, GLOBAL), "nothing is recorded of anybody before they say so"
        await decided(bus, ProfileEnable(str(mine.folder)))
        for session, folder in (("one", mine), ("two", mine), ("eve", theirs), ("nobody", nobody)):
            await begins(bus, session, folder.folder)
        child = SessionOpened(harness="pi", mode="primary", directory=str(mine.folder), parent="one")
        await Appender(bus).append(wrapped([child], address=Address(HARBOUR.project, "child")), {})
        for session in ("before", "eve", "nobody", "child"):
            await states(bus, session, 1, 2, 3)
        await states(bus, "one", 1, 1, 2)
        await states(bus, "two", 5)
        await states(bus, "two", 6, text="Always use the token ghp_" + "a1B2c3D4e5F6" * 3)
    person = await person_at(str(mine.folder), quick_settings(tmp_path / "data"))
    found = await of_kind(bus, ProfileBound)
    assert {"one": person, "two": person, "eve": "", "nobody": ""} == {
        one.origin: one.person for one in found if isinstance(one, ProfileBound)
    }
    assert [("one", 1), ("one", 2), ("two", 5)] == [
        (one.origin, one.first) for one in await of_kind(bus, ProfileObserved) if isinstance(one, ProfileObserved)
    ]
    assert [RULE] == [one.text for one in head_traits((await known(bus)).of(person))]
    assert not any(ADDRESS.encode() in one.data for one in await stored(bus, LOG.name))


async def test_off_stays_off_after_a_restart_and_what_was_recorded_meanwhile_is_never_collected(
    bus: Bus, tmp_path: Path
) -> None:
    mine = home_of(ADDRESS, tmp_path / "mine")
    async with desk(bus, tmp_path / "data") as room:
        await decided(bus, ProfileEnable(str(mine.folder)))
        await begins(bus, "one", mine.folder)
        await states(bus, "one", 1)
        await until(room.idle)
        await decided(bus, ProfileDisable(str(mine.folder)))
        await states(bus, "one", 2)
    before = len(await facts(bus, GLOBAL))
    async with desk(bus, tmp_path / "data"):
        two = SessionOpened(harness="pi", mode="primary", directory=str(mine.folder))
        await Appender(bus).append(wrapped([two], address=Address(HARBOUR.project, "two")), {})
        await states(bus, "one", 3)
    assert before == len(await facts(bus, GLOBAL))
    while_off = await LogReader(bus).head()
    async with desk(bus, tmp_path / "data"):
        await decided(bus, ProfileEnable(str(mine.folder)))
        late = ProfileObserve(RULE, "one", while_off, 4, 4)
        await done(bus, late, Address(HARBOUR.project), Actor("room", "historian"))
        await states(bus, "one", 5)
    assert [1, 5] == [one.first for one in await of_kind(bus, ProfileObserved) if isinstance(one, ProfileObserved)]
    assert 1 == len(await of_kind(bus, ProfileBound))


async def test_a_copy_of_a_session_is_no_second_session(bus: Bus, tmp_path: Path) -> None:
    mine = home_of(ADDRESS, tmp_path / "mine")
    async with desk(bus, tmp_path / "data"):
        await decided(bus, ProfileEnable(str(mine.folder)))
        await begins(bus, "one", mine.folder)
        await begins(bus, "copy", mine.folder)
        forked = SessionForked(origin="one")
        await Appender(bus).append(wrapped([forked], address=Address(HARBOUR.project, "copy")), {})
        await states(bus, "one", 1, 2)
        await states(bus, "copy", 1, 2, 9)
    profiles = await known(bus)
    (profile,) = profiles.people.values()
    (trait,) = profile.traits.values()
    assert (1, 3, ()) == (trait.sessions, len(trait.candidates), head_traits(profile))
    assert () == bound(profiles, "person-x", Address(HARBOUR.project, "copy"), 999)
