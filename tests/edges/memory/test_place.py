"""Which project a person means: what the log knows of the folder that they stand in."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from schemas.events import Event, ProjectIdentified, SessionOpened
from schemas.subjects import Address
from services.edges.launcher.broker import Broker
from services.edges.memory.place import NoProject, project_at
from services.kit.bus import Appender, Bus
from services.responder.worker import Responder
from tests.helpers.broker_world import connected, opened, quick_settings, wrapped
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

HOME = Path("/home/ada")


@pytest.fixture
async def person(broker: Broker, bus: Bus, tmp_path: Path) -> AsyncIterator[Bus]:
    """A person's connection, beside a responder that answers."""
    interval = sys.getswitchinterval()
    async with opened(responder := Responder(), bus, quick_settings(tmp_path / "data")):
        await until(responder.idle)
        connection = await connected(broker, "person")
        yield connection
        await connection.close()
    sys.setswitchinterval(interval)


async def seen(bus: Bus, project: str, *events: Event) -> None:
    await Appender(bus).append(wrapped(events, address=Address(project)), {})


def at(directory: Path | str, root: Path | str = "") -> ProjectIdentified:
    return ProjectIdentified(directory=str(directory), harness="pi", root=str(root))


async def test_the_nearest_folder_that_a_harness_has_worked_in_is_the_project(bus: Bus, person: Bus) -> None:
    await seen(bus, "outer", at("/srv/o'brien"))
    await seen(bus, "inner", at("/srv/o'brien/inner/src", root="/srv/o'brien/inner"))
    for here, project in {
        "/srv/o'brien": "outer",
        "/srv/o'brien/docs": "outer",
        "/srv/o'brien/inner": "inner",
        "/srv/o'brien/inner/src/deep": "inner",
    }.items():
        assert project == await project_at(person, Path(here), HOME)


async def test_a_folder_that_has_become_a_repository_is_the_newer_project(bus: Bus, person: Bus) -> None:
    await seen(bus, "dir-1", at("/srv/x"))
    await seen(bus, "git-1", at("/srv/x"))
    assert "git-1" == await project_at(person, Path("/srv/x"), HOME)


async def test_a_home_directory_is_the_project_of_nothing_below_it(bus: Bus, person: Bus) -> None:
    await seen(bus, "dir-home", at(HOME))
    assert "dir-home" == await project_at(person, HOME, HOME)
    with pytest.raises(NoProject, match="no harness has worked in /home/ada/new yet"):
        await project_at(person, HOME / "new", HOME)


async def test_a_repository_is_known_by_its_first_commit_wherever_it_was_cloned(
    bus: Bus, person: Bus, tmp_path: Path
) -> None:
    here = tmp_path / "clone" / "src"
    here.mkdir(parents=True)
    nobody = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here.parent), "-c", "user.name=ada", "-c", "user.email=ada@localhost", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | nobody).stdout

    git("init", "--quiet")
    with pytest.raises(NoProject):
        await project_at(person, here, HOME)
    git("commit", "--allow-empty", "--quiet", "--message", "Begin")
    with pytest.raises(NoProject):
        await project_at(person, here, HOME)

    project = f"git-{git('rev-parse', 'HEAD').strip()}"
    opened_there = SessionOpened(harness="pi", mode="primary", directory="/elsewhere")
    await Appender(bus).append(wrapped([opened_there], address=Address(project, "s1")), {})
    assert project == await project_at(person, here, HOME)


async def test_a_folder_is_known_by_the_place_that_it_leads_to(bus: Bus, person: Bus, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    await seen(bus, "harbour", at(tmp_path / "there"))
    assert "harbour" == await project_at(person, tmp_path / "link", HOME)
