"""A session or a project is erased: the traits that it alone led to go, from the log and from prompts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.commands import ProfileEnable
from schemas.inbox import SessionSeen
from services.edges.launcher.leftover import end_leftover
from services.plan.session.waits import ERASURE
from tests.helpers.erasing import Running, erase, files_with, running
from tests.helpers.memory_sessions import Harness, heads
from tests.helpers.repositories import Checkout
from tests.helpers.stated_rules import ADDRESS, begins, decided, home_of, known, states
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

GOES, STAYS = "Always feed the kestrels before the gulls.", "Never paint the old quay in spring."


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    place = tmp_path / "data"
    yield place
    end_leftover(place)


async def planted(now: Running, mine: Checkout) -> Harness:
    """Two sessions of another project in which a person stated two rules, and a session that shows both."""
    await decided(now.bus, ProfileEnable(str(mine.folder)))
    for session in ("leaky", "second"):
        await begins(now.bus, session, mine.folder, project="quarry")
    for session in ("third", "fourth"):
        await begins(now.bus, session, mine.folder)
    await states(now.bus, "leaky", 1, 2, text=GOES, project="quarry")
    await states(now.bus, "second", 1, text=GOES, project="quarry")
    await states(now.bus, "third", 1, 2, text=STAYS)
    await states(now.bus, "fourth", 1, text=STAYS)
    for room in now.rooms:
        await until(room.idle)
    shows = Harness(now.bus, "pi", "shows")
    await shows.report(SessionSeen(directory=str(mine.folder)))
    await shows.says("hello")
    (head,) = heads(await shows.step(now.rooms))
    assert (True, True) == (GOES in head, STAYS in head)
    return shows


async def test_a_project_goes_with_the_traits_that_were_stated_in_it_alone(data: Path) -> None:
    mine = home_of(ADDRESS, data.parent / "mine")
    async with running(data) as now:
        shows = await planted(now, mine)
    dry_run = erase(data, "project", "quarry")
    assert "prompts    1 of sessions that stay" in dry_run.stdout, dry_run.stdout + dry_run.stderr
    gone = erase(data, "project", "quarry", "--yes")
    assert 0 == gone.returncode, gone.stdout + gone.stderr
    assert "Nothing of it is left here." in gone.stdout
    assert [] == files_with(data, GOES)
    async with running(data) as now:
        (head,) = heads(await now.goes_on(shows, "one"))
        assert (False, True) == (GOES in head, STAYS in head)
        assert [(ERASURE,)] == [causes for causes, _ in await now.plan(shows) if causes]
        (profile,) = (await known(now.bus)).people.values()
        assert ([STAYS], 1) == ([one.text for one in profile.listed], len(profile.traits))


@pytest.mark.soak
async def test_with_one_session_a_trait_falls_below_what_is_needed_and_the_other_s_words_stay(data: Path) -> None:
    mine = home_of(ADDRESS, data.parent / "mine")
    async with running(data) as now:
        await planted(now, mine)
    gone = erase(data, "session", "leaky", "--yes")
    assert 0 == gone.returncode, gone.stdout + gone.stderr
    async with running(data) as now:
        (profile,) = (await known(now.bus)).people.values()
        assert [STAYS] == [one.text for one in profile.listed]
        assert {STAYS: 3, GOES: 1} == {one.text: len(one.candidates) for one in profile.traits.values()}
        late = Harness(now.bus, "pi", "late")
        await late.report(SessionSeen(directory=str(mine.folder)))
        await late.says("hello")
        (head,) = heads(await late.step(now.rooms))
        assert (False, True) == (GOES in head, STAYS in head)
