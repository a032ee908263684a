"""Changes of documents are proposed over a real broker, also by a dreamer that is killed; none writes a file."""

import json
import shutil
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.commands import DreamOrder
from schemas.document_commands import DocsApply
from schemas.envelope import Actor
from schemas.events import DocsApplied, DocsProposed, DreamFinished, Event, TaskAsked, TaskFinished
from schemas.subjects import Address
from services.desk.worker import Desk
from services.domain.documents.edits import edited
from services.domain.documents.proposals import edits_in
from services.dreamer.worker import Dreamer
from services.edges.launcher.broker import STORE, Broker
from services.kit.bus import Bus
from services.settings import Settings
from tests.conftest import connect
from tests.desk.test_books import send
from tests.helpers.broker_world import facts, impatient_settings, opened, quick_settings
from tests.helpers.dreaming_models import model_server, of_model, saying
from tests.helpers.lying_models import Item
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
            first.outcome, first.backlog, first.backlog_after, first.applied, first.waiting
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
    assert ("completed", 1, 0, 1) == (ended.outcome, ended.backlog, ended.applied, ended.waiting)
    assert 1 == len(await shop.proposed())
    assert BEFORE == shop.document.read_text()


@pytest.mark.own_broker
async def test_where_an_older_log_was_put_back_nothing_is_proposed_that_the_document_has(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    shop = Shop(bus, tmp_path / "shop")
    async with opened(Desk(), bus, quick_settings()):
        await shop.dreams("o1", 1, quick_settings())
    broker.stop()
    shutil.copytree(tmp_path / STORE, tmp_path / "copy")
    await broker.start()
    shop.bus = await connect(broker)
    async with opened(Desk(), shop.bus, quick_settings()):
        (event,) = await shop.facts(DocsProposed)
        assert isinstance(event, DocsProposed)
        command = DocsApply(ARCHITECTURE, event.proposal)
        assert (await send(shop.bus, command, "a1", Actor("person", "ada"), address=shop.project)).ok
        shop.document.write_text(edited(BEFORE, edits_in(event.old, event.new)))
    await shop.bus.close()
    broker.stop()
    shutil.rmtree(tmp_path / STORE)
    shutil.copytree(tmp_path / "copy", tmp_path / STORE)
    await broker.start()
    shop.bus = await connect(broker)
    async with opened(Desk(), shop.bus, quick_settings()):
        assert [] == await shop.facts(DocsApplied)
        again = await shop.dreams("o2", 2, quick_settings())
        assert ("skipped", 0, 0) == (again.outcome, again.backlog, again.waiting)
        shop.document.write_text(f"{shop.document.read_text()}\nThey are oiled in [it](crane.py).\n")
        more = await shop.dreams("o3", 3, quick_settings())
        assert ("completed", 1) == (more.outcome, more.waiting)
    assert ["They are oiled in [it](services/crane.py).\n"] == (await shop.proposed())[-1]
    assert 2 == len(await shop.proposed())
    await shop.bus.close()


class Harbour(Shop):
    """A repository in which a file has changed since its document was written."""

    def __init__(self, bus: Bus, folder: Path) -> None:
        super().__init__(bus, folder)
        self.document.write_text(WRITTEN)
        self.commit("Describe tides")
        (folder / "services" / "tide.py").write_text("def read_gauge() -> None: ...\n")
        self.commit("Read tides by gauge")

    def commit(self, subject: str) -> None:
        self.checkout.git("add", ".")
        names = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        self.checkout.git(*names, "commit", "--quiet", "-m", subject)


WRITTEN = "# Tides\n\nTides are read in `services/tide.py` for all charts.\n"
WORDED = WRITTEN.replace("are read in", "are read with `read_gauge` in")


def wording(handle: str, item: Item) -> list[Item]:
    return [{"handle": handle, "text": item["text"].replace("are read in", "are read with `read_gauge` in")}]


def wording_otherwise(handle: str, item: Item) -> list[Item]:
    return [{"handle": handle, "text": item["text"].replace("are read in", "are read by `read_gauge` in")}]


async def test_a_section_that_a_model_has_worded_is_proposed_and_asked_about_once(bus: Bus, tmp_path: Path) -> None:
    shop = Harbour(bus, tmp_path / "shop")
    async with model_server(default=saying("sections", wording)) as server:
        chosen = of_model(server.url)
        async with opened(Desk(), bus, chosen):
            ended = await shop.dreams("o1", 1, chosen)
            assert ("completed", 0, 1) == (ended.outcome, ended.applied, ended.waiting)
            await shop.dreams("o2", 2, chosen)
        assert 1 == len(server.requests)
        asked = server.requests[0].texts[-1]
    assert "Read tides by gauge" in asked
    assert "def read_gauge()" in asked
    (event,) = await shop.facts(DocsProposed)
    assert isinstance(event, DocsProposed)
    assert WORDED == edited(WRITTEN, edits_in(event.old, event.new))
    assert WRITTEN == shop.document.read_text()


@pytest.mark.own_broker
async def test_a_dreamer_that_is_killed_behind_a_models_answer_proposes_it_once(bus: Bus, tmp_path: Path) -> None:
    shop = Harbour(bus, tmp_path / "shop")
    answers = (saying("sections", wording), saying("sections", wording_otherwise))
    async with model_server(answers[0], default=answers[1]) as server:
        chosen = of_model(server.url)
        async with opened(Desk(), bus, chosen):
            await shop.ordered("o1")
            environment = {
                "ANNALS_LOOP__ACK_WAIT": "1",
                "ANNALS_MODEL__CHAIN": json.dumps(["own/clerk"]),
                "ANNALS_MODEL__PROVIDERS": json.dumps({"own": {"url": f"{server.url}/v1", "key": "k"}}),
                "FALLS_AT": TaskAsked.TYPE,
            }
            async with room("dreamer", tmp_path, module="tests.helpers.falling_dreamer", **environment) as process:
                assert -signal.SIGKILL == await process.ends()
            assert 1 == len(await shop.proposed())
            async with opened(dreamer := Dreamer(), bus, replace(impatient_settings(), model=chosen.model)):
                await until(shop.finished)
                await until(dreamer.idle)
    (event,) = await shop.facts(DocsProposed)
    assert isinstance(event, DocsProposed)
    assert WORDED == edited(WRITTEN, edits_in(event.old, event.new))
    (ended,) = await shop.facts(TaskFinished)
    assert isinstance(ended, TaskFinished)
    assert ("completed", 0, 1) == (ended.outcome, ended.applied, ended.waiting)
