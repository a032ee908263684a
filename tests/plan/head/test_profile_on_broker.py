"""A profile at the head of prompts, over a real broker: in its person's sessions from their first call on."""

from pathlib import Path

import pytest

from schemas.commands import ProfileDisable, ProfileEnable
from schemas.inbox import SessionSeen
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from tests.helpers.memory_sessions import Harness, heads, rooms
from tests.helpers.stated_rules import ADDRESS, RULE, begins, decided, home_of, states
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker


@pytest.fixture(autouse=True)
def no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git has no settings of the person who runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


async def works(bus: Bus, session: str, folder: Path) -> Harness:
    """A session that begins in this directory, with its first message."""
    made = Harness(bus, "pi", session)
    await made.report(SessionSeen(directory=str(folder)))
    await made.says("hello")
    return made


async def test_the_person_s_sessions_show_it_from_the_first_call_on_and_nobody_else_s_do(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    mine, theirs = home_of(ADDRESS, tmp_path / "mine"), home_of("eve@example.org", tmp_path / "theirs")
    async with rooms(broker, tmp_path / "data") as serving:
        await decided(bus, ProfileEnable(str(mine.folder)))
        for session in ("one", "two"):
            await begins(bus, session, mine.folder)
        await states(bus, "one", 1, 2)
        await states(bus, "two", 1)
        for room in serving:
            await until(room.idle)
        ada = await works(bus, "ada", mine.folder)
        (head,) = heads(await ada.step(serving))
        assert f"<profile>\n- {RULE}\n</profile>" in head
        eve = await works(bus, "eve", theirs.folder)
        assert [] == heads(await eve.step(serving))
        await states(bus, "two", 5, 6, 7, text="Never push without asking me.")
        await ada.says("go on")
        assert [] == heads(await ada.step(serving))
    async with rooms(broker, tmp_path / "data") as serving:
        await ada.says("and on")
        assert [] == heads(await ada.step(serving))
        await decided(bus, ProfileDisable(str(mine.folder)))
        await ada.says("still")
        assert [] == heads(await ada.step(serving))
        assert [""] == heads(await ada.rebased(serving))
        late = await works(bus, "late", mine.folder)
        assert [] == heads(await late.step(serving))
