"""Key files are proposed from what the log has of sessions: over a real broker, also by a dreamer that is killed."""

import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.commands import DreamOrder, KeyFileDismiss
from schemas.events import (
    DreamFinished,
    Event,
    FileTouched,
    KeyFileProposed,
    ProjectIdentified,
    SessionOpened,
    SettingsApplied,
    TaskFinished,
)
from schemas.subjects import Address
from services.desk.worker import Desk
from services.dreamer.worker import Dreamer
from services.kit.bus import Appender, Bus
from services.kit.project_name import directory_name
from services.settings import Dream, Settings
from tests.desk.test_books import send
from tests.helpers.broker_world import facts, impatient_settings, opened, quick_settings, wrapped
from tests.helpers.room_process import room
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

TASK = "key_files"


class Shop:
    """A folder that is a project, with sessions that have read its files."""

    def __init__(self, bus: Bus, folder: Path) -> None:
        folder.mkdir()
        for name in ("core.py", "door.py", "seldom.py"):
            (folder / name).write_text(f"# {name}\n")
        (folder / "out.py").symlink_to("/etc/hostname")
        self.bus, self.folder, self.project = bus, folder, Address(directory_name(folder))

    async def begins(self) -> None:
        """A harness reports where the project is."""
        seen = ProjectIdentified(directory=str(self.folder), harness="pi")
        await Appender(self.bus).append(wrapped([seen], address=self.project), {})

    async def works(self, session: str, **reads: int) -> None:
        """A session reads files so often, `core` for `core.py`."""
        address = Address(self.project.project, session)
        touched = [
            FileTouched(path=f"{name}.py", action="read", message="m", part="p", tool="read")
            for name, times in reads.items()
            for _ in range(times)
        ]
        begun = SessionOpened(harness="pi", mode="primary", directory=str(self.folder))
        await Appender(self.bus).append(wrapped([begun, *touched], address=address), {})

    async def ordered(self, name: str) -> None:
        answer = await send(self.bus, DreamOrder(TASK), name, address=self.project)
        assert answer.ok, answer.text

    async def facts(self) -> Sequence[Event]:
        return await facts(self.bus, self.project)

    async def proposed(self) -> list[str]:
        return [one.path for one in await self.facts() if isinstance(one, KeyFileProposed)]

    async def finished(self, count: int = 1) -> bool:
        return count == sum(isinstance(one, DreamFinished) for one in await self.facts())

    async def dreams(self, name: str, count: int, settings: Settings) -> TaskFinished:
        """The task is ordered and run; how it ended."""
        await self.ordered(name)
        async with opened(dreamer := Dreamer(), self.bus, settings):
            await until(lambda: self.finished(count))
            await until(dreamer.idle)
        return [one for one in await self.facts() if isinstance(one, TaskFinished)][-1]


async def test_what_sessions_read_is_proposed_once_and_again_when_it_is_used_much_more(
    bus: Bus, tmp_path: Path
) -> None:
    shop = Shop(bus, tmp_path / "shop")
    async with opened(Desk(), bus, quick_settings()):
        await shop.begins()
        await shop.works("one", core=3, door=1, seldom=3, out=9)
        await shop.works("two", core=2, door=3)
        first = await shop.dreams("o1", 1, quick_settings())
        assert ("completed", 2, 0, 0, 2) == (
            first.outcome, first.backlog, first.backlog_after, first.applied, first.waiting
        )  # fmt: skip
        assert ["core.py", "door.py"] == await shop.proposed()
        assert "nothing_changed" == (await shop.dreams("o2", 2, quick_settings())).code
        assert (await send(bus, KeyFileDismiss(["core.py"]), "p1", address=shop.project)).ok
        await shop.works("three", core=4)
        await shop.dreams("o3", 3, quick_settings())
        assert ["core.py", "door.py"] == await shop.proposed()
        await shop.works("four", core=1)
        await shop.dreams("o4", 4, quick_settings())
        assert ["core.py", "door.py", "core.py"] == await shop.proposed()
        assert not any(isinstance(one, SettingsApplied) for one in await shop.facts())


async def test_where_the_installation_says_so_it_applies_at_once(bus: Bus, tmp_path: Path) -> None:
    shop, applies = Shop(bus, tmp_path / "shop"), replace(quick_settings(), dream=Dream(key_files="applied"))
    async with opened(Desk(), bus, applies):
        await shop.begins()
        await shop.works("one", core=5, door=4)
        ended = await shop.dreams("o1", 1, applies)
    assert ("completed", 2, 0) == (ended.outcome, ended.applied, ended.waiting)
    applied = [one for one in await shop.facts() if isinstance(one, SettingsApplied)]
    assert [["core.py"], ["core.py", "door.py"]] == [one.key_files for one in applied]


@pytest.mark.own_broker
async def test_what_a_killed_dreamer_has_proposed_is_counted_and_not_proposed_again(bus: Bus, tmp_path: Path) -> None:
    shop = Shop(bus, tmp_path / "shop")
    async with opened(Desk(), bus, quick_settings()):
        await shop.begins()
        await shop.works("one", core=5, door=4)
        await shop.ordered("o1")
        more = {"ANNALS_LOOP__ACK_WAIT": "1"}
        async with room("dreamer", tmp_path, module="tests.helpers.falling_dreamer", **more) as process:
            assert -signal.SIGKILL == await process.ends()
        assert ["core.py", "door.py"] == await shop.proposed()
        async with opened(dreamer := Dreamer(), bus, impatient_settings()):
            await until(shop.finished)
            await until(dreamer.idle)
    (ended,) = [one for one in await shop.facts() if isinstance(one, TaskFinished)]
    assert ("completed", 2, 0, 2) == (ended.outcome, ended.backlog, ended.applied, ended.waiting)
    assert ["core.py", "door.py"] == await shop.proposed()
