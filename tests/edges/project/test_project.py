"""What a person sees of projects and says of their names, by the command: on a real broker, as their user."""

import json
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from schemas.commands import MemoryWrite
from schemas.events import AliasProposed, Event, ProjectIdentified, SessionOpened
from schemas.subjects import Address
from services.desk.worker import Desk
from services.domain.aliases import GLOBAL
from services.edges.arguments import parser
from services.edges.docs.command import docs
from services.edges.keyfiles.command import keyfiles
from services.edges.launcher.broker import Broker
from services.edges.memory.command import memory
from services.edges.profile.command import profile
from services.edges.project.command import project
from services.kit.bus import Appender, Bus
from services.responder.worker import Responder
from services.settings import Nats, Settings
from tests.desk.test_books import send
from tests.helpers.broker_world import opened, quick_settings, wrapped
from tests.helpers.repositories import Checkout, Made, line
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

ROOT, REMOTE = f"git-{'a' * 40}", f"git-{'b' * 40}"
RULE = "Berths are numbered from the sea, always."


class Ran:
    """What a command has printed, and how it ended."""

    def __init__(self, settings: Settings, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._settings, self._here, self._capsys = settings, here, capsys
        self.status = 0
        self.out = self.error = ""

    def at(self, here: Path) -> "Ran":
        """The same, run in another folder."""
        return Ran(self._settings, here, self._capsys)

    async def __call__(self, *arguments: str) -> "Ran":
        options = parser().parse_args(arguments)
        known = {"project": project, "profile": profile, "memory": memory, "keyfiles": keyfiles, "docs": docs}
        run = known[options.command]
        self.status = await run(options, self._settings, self._here)
        self.out, self.error = self._capsys.readouterr()
        return self

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        assert (0, "") == (self.status, self.error)
        return json.loads(self.out)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path / "shop")
    made.add(*line(1))
    return made


@pytest.fixture
async def run(
    broker: Broker, bus: Bus, tmp_path: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[Ran]:
    interval = sys.getswitchinterval()
    settings = quick_settings(tmp_path / "data")
    endpoint = broker.endpoint_of("person")
    scheme, _, place = endpoint.url.partition("//")
    person = Settings(data=tmp_path, nats=Nats(url=f"{scheme}//{endpoint.user}:{endpoint.password}@{place}"))
    async with opened(Desk(), bus, settings), opened(responder := Responder(), bus, settings):
        await until(responder.idle)
        yield Ran(person, checkout.folder, capsys)
    sys.setswitchinterval(interval)


async def append(bus: Bus, address: Address, *events: Event) -> None:
    await Appender(bus).append(wrapped(events, address=address), {})


async def worked_in(bus: Bus, name: str, folder: str) -> None:
    opened_there = SessionOpened(harness="pi", mode="primary", directory=folder)
    await append(bus, Address(name), ProjectIdentified(directory=folder, harness="pi"))
    await append(bus, Address(name, f"s-{name}"), opened_there)


async def test_a_person_finds_what_is_proposed_confirms_it_and_takes_it_back(bus: Bus, run: Ran) -> None:
    await worked_in(bus, ROOT, "/srv/shop")
    await worked_in(bus, REMOTE, "/srv/fork")
    written = await send(bus, MemoryWrite(text=RULE), address=Address(REMOTE))
    assert written.ok, written.text
    claim = AliasProposed(alias=REMOTE, leads_to=ROOT, directory="/srv/shop", reason="it lies on another machine")
    await append(bus, GLOBAL, claim)
    listed = (await run("project", "list")).out
    assert f"{REMOTE} may be {ROOT}" in listed
    assert f"annals project merge {REMOTE} --project {ROOT}" in listed
    assert {ROOT: 1, REMOTE: 1} == {
        one["name"]: one["sessions"] for one in (await run("project", "list", "--json")).json["projects"]
    }

    assert "is git-" in (await run("project", "merge", REMOTE[:10], "--project", ROOT)).out
    shown = (await run("project", "show", "--project", REMOTE, "--json")).json
    assert [] == shown["proposed"]
    assert [(ROOT, 2, ["/srv/fork", "/srv/shop"], {REMOTE: "confirmed"})] == [
        (one["name"], one["sessions"], one["directories"], one["aliases"]) for one in shown["projects"]
    ]
    await until(lambda: remembers(run, ROOT))
    assert await remembers(run, REMOTE)

    assert "no longer" in (await run("project", "undo", "--project", ROOT)).out
    await until(lambda: forgets(run, ROOT))
    assert await remembers(run, REMOTE)


async def test_a_name_from_elsewhere_poses_as_no_line_and_no_command(bus: Bus, run: Ran) -> None:
    """What is printed to be typed is one command, and names what it is about, whatever a harness calls that."""
    name = "shop'; touch sprung; echo '$(id)\n  If it is: annals project merge victim --project thief"
    await worked_in(bus, ROOT, "/srv/shop\nalso victim: a person confirmed it")
    claim = AliasProposed(alias=name, leads_to=ROOT, directory="/srv/a\nb", reason="it lies\nelsewhere")
    await append(bus, GLOBAL, claim)
    for words in (("project", "list"), ("project", "show", "--project", ROOT)):
        lines = (await run(*words)).out.splitlines()
        (command,) = [line for line in lines if line.startswith("  If it is: ")]
        escaped = name.replace("\n", "\\n")
        assert ["annals", "project", "merge", escaped, "--project", ROOT] == shlex.split(command)[3:]
        assert not [line for line in lines if line.startswith(("also", "b:", "elsewhere"))]


async def remembers(run: Ran, name: str) -> bool:
    return RULE in (await run("memory", "list", "--status", "active", "--project", name)).out


async def forgets(run: Ran, name: str) -> bool:
    return not await remembers(run, name)


async def test_a_project_is_called_by_the_name_that_a_person_gave_it(bus: Bus, run: Ran) -> None:
    await worked_in(bus, ROOT, "/srv/shop")
    assert 0 == (await run("project", "rename", "shop", "--project", ROOT)).status
    assert f"{ROOT}, called shop" in (await run("project", "show", "--project", "shop")).out
    assert 0 == (await run("memory", "write", RULE, "--project", "shop")).status
    assert await remembers(run, ROOT)
    await worked_in(bus, REMOTE, "/srv/fork")
    taken = await run("project", "rename", ROOT, "--project", REMOTE)
    assert (1, True) == (taken.status, "no name for a project" in taken.error)


async def test_in_a_repository_memory_works_before_any_harness_has_been_there(run: Ran, checkout: Checkout) -> None:
    name = f"git-{checkout.sha(1)}"
    assert "0 sessions" in (await run("project", "show")).out
    assert 0 == (await run("memory", "list")).status
    assert 0 == (await run("memory", "write", RULE)).status
    assert RULE in (await run("memory", "list")).out
    assert await remembers(run, name)
    assert [name] == [one["name"] for one in (await run("project", "list", "--json")).json["projects"]]


ODD = ("raw\udcff", "new\nline", 'q"uote', "it's", "back\\slash", "日本", " ends with a blank ", "-x", "$HOME")


async def test_in_a_repository_in_a_folder_of_any_name_memory_works(run: Ran, tmp_path: Path) -> None:
    for name in ODD:
        made = Checkout(tmp_path / name / "shop")
        made.add(Made(1, f"Begin in {name!r}"))
        inside = made.folder / name
        inside.mkdir()
        written = await run.at(inside)("memory", "write", RULE)
        assert (0, "") == (written.status, written.error), name
        assert made.sha(1) in (await run.at(made.folder)("project", "show")).out
        assert RULE in (await run.at(made.folder)("memory", "list")).out, name


async def test_a_folder_that_no_program_can_be_started_in_names_no_project(run: Ran, tmp_path: Path) -> None:
    """Its path is longer than the system takes: who got there went folder by folder."""
    deep = tmp_path / "/".join(["deep" * 50] * 25)
    for command in (("memory", "list"), ("project", "show"), ("memory", "write", RULE)):
        found = await run.at(deep)(*command)
        assert (1, "") == (found.status, found.out)
        assert "name it with --project" in found.error


async def test_a_refusal_names_a_remedy(run: Ran) -> None:
    nothing = await run("project", "undo")
    assert (1, True) == (nothing.status, "there is nothing to undo" in nothing.error)
    unknown = await run("project", "merge", "nope")
    assert (1, True) == (unknown.status, "annals project list" in unknown.error)
    missing = await run("project", "show", "--project", "nope")
    assert (1, True) == (missing.status, "there is no project nope" in missing.error)
    for name in ("\udcff", "x" * 300):
        assert 1 == (await run("project", "merge", name)).status


async def test_nothing_that_a_harness_names_moves_the_cursor(bus: Bus, run: Ran) -> None:
    await worked_in(bus, "dir-1", "/srv/\x1b[2J\u202eevil")
    shown = (await run("project", "show", "--project", "dir-1")).out
    assert "in /srv/\\x1b[2J\\u202eevil" in shown
