"""Changes of documents are proposed over a real broker, also by a dreamer that is killed; none writes a file."""

import signal
from pathlib import Path

import pytest

from schemas.commands import DreamOrder
from schemas.events import DocsProposed, DreamFinished, Event, TaskFinished
from schemas.subjects import Address
from services.desk.worker import Desk
from services.dreamer.worker import Dreamer
from services.kit.bus import Bus
from services.settings import Settings
from tests.desk.test_books import send
from tests.helpers.broker_world import facts, impatient_settings, opened, quick_settings
from tests.helpers.proposed_docs import ARCHITECTURE
from tests.helpers.repositories import Checkout, Made
from tests.helpers.room_process import room
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

TASK = "maintain_docs"
CRANES = "def turn() -> None: ...\n" * 20
BEFORE = "# Cranes\n\nCranes turn in `crane.py`.\n"


class Shop:
    """A repository whose document names a file by a path that it had before."""

    def __init__(self, bus: Bus, folder: Path) -> None:
        made = Checkout(folder)
        first = Made(1, "Begin", {"crane.py": CRANES, ARCHITECTURE: BEFORE})
        second = Made(2, "Move cranes to the services", {"services/crane.py": CRANES}, (1,))
        made.add(first, second)
        made.git("reset", "--quiet", "--hard", "main")
        made.git("rm", "--quiet", "crane.py")
        made.git(
            "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--amend", "-m", "Move"
        )
        self.bus, self.checkout = bus, made
        self.document = folder / ARCHITECTURE
        self.project = Address(f"git-{made.sha(1)}")

    async def ordered(self, name: str) -> None:
        answer = await send(self.bus, DreamOrder(TASK, str(self.checkout.folder)), name, address=self.project)
        assert answer.ok, answer.text

    async def facts(self, kind: type[Event]) -> list[Event]:
        return [one for one in await facts(self.bus, self.project) if isinstance(one, kind)]

    async def finished(self, count: int = 1) -> bool:
        return count == len(await self.facts(DreamFinished))

    async def dreams(self, name: str, count: int, settings: Settings) -> TaskFinished:
        """The task is ordered and run; how it ended."""
        await self.ordered(name)
        async with opened(dreamer := Dreamer(), self.bus, settings):
            await until(lambda: self.finished(count))
            await until(dreamer.idle)
        *_, ended = await self.facts(TaskFinished)
        assert isinstance(ended, TaskFinished)
        return ended

    async def proposed(self) -> list[list[str]]:
        return [one.new for one in await self.facts(DocsProposed) if isinstance(one, DocsProposed)]


async def test_a_renamed_file_is_proposed_once_and_no_file_is_written(bus: Bus, tmp_path: Path) -> None:
    shop = Shop(bus, tmp_path / "shop")
    before = shop.checkout.git("status", "--porcelain")
    async with opened(Desk(), bus, quick_settings()):
        first = await shop.dreams("o1", 1, quick_settings())
        assert ("completed", 1, 0, 0, 1) == (
            first.outcome, first.backlog, first.backlog_after, first.applied, first.held
        )  # fmt: skip
        assert [["Cranes turn in `services/crane.py`.\n"]] == await shop.proposed()
        again = await shop.dreams("o2", 2, quick_settings())
        assert ("skipped", 0) == (again.outcome, again.backlog)
    assert 1 == len(await shop.proposed())
    assert (BEFORE, before) == (shop.document.read_text(), shop.checkout.git("status", "--porcelain"))


@pytest.mark.own_broker
async def test_what_a_killed_dreamer_has_proposed_is_counted_and_not_proposed_again(bus: Bus, tmp_path: Path) -> None:
    shop = Shop(bus, tmp_path / "shop")
    async with opened(Desk(), bus, quick_settings()):
        await shop.ordered("o1")
        more = {"ANNALS_LOOP__ACK_WAIT": "1"}
        async with room("dreamer", tmp_path, module="tests.helpers.falling_dreamer", **more) as process:
            assert -signal.SIGKILL == await process.ends()
        assert 1 == len(await shop.proposed())
        async with opened(dreamer := Dreamer(), bus, impatient_settings()):
            await until(shop.finished)
            await until(dreamer.idle)
    (ended,) = await shop.facts(TaskFinished)
    assert isinstance(ended, TaskFinished)
    assert ("completed", 1, 0, 1) == (ended.outcome, ended.backlog, ended.applied, ended.held)
    assert 1 == len(await shop.proposed())
    assert BEFORE == shop.document.read_text()
