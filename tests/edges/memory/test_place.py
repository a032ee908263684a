"""Which project a person means: what the log knows of the folder that they stand in."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from schemas.events import AliasAdded, AliasRemoved, Event, ProjectIdentified, SessionOpened
from schemas.subjects import Address
from services.domain.aliases import GLOBAL
from services.edges.launcher.broker import Broker
from services.edges.memory.place import NoProject, project_at, project_meant
from services.kit.bus import Appender, Bus
from services.kit.project_name import directory_name, remote_name
from services.responder.worker import Responder
from tests.helpers.broker_world import connected, opened, quick_settings, wrapped
from tests.helpers.repositories import Checkout, Made, line
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

HOME = Path("/home/ada")


@pytest.fixture
async def person(broker: Broker, bus: Bus, tmp_path: Path) -> AsyncIterator[Bus]:
    """A person's connection, and a responder that answers."""
    interval = sys.getswitchinterval()
    async with opened(responder := Responder(), bus, quick_settings(tmp_path / "data")):
        await until(responder.idle)
        connection = await connected(broker, "person")
        yield connection
        await connection.close()
    sys.setswitchinterval(interval)


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    checkout = Checkout(tmp_path / "shop")
    checkout.add(*line(2))
    return checkout


def root_name(checkout: Checkout) -> str:
    return f"git-{checkout.sha(1)}"


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


async def test_a_repository_names_itself_before_any_harness_was_there(person: Bus, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "shop")
    here = checkout.folder / "src"
    here.mkdir()
    assert directory_name(checkout.folder) == await project_at(person, here, HOME)
    checkout.add(*line(2))
    assert root_name(checkout) == await project_at(person, here, HOME)


async def test_without_git_a_sentence_asks_to_install_it(
    person: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Checkout(tmp_path / "pier").add(*line(1))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoProject, match="the program git is not installed here, or not in PATH: install it") as refused:
        await project_at(person, tmp_path / "pier", HOME)
    assert "Errno" not in str(refused.value)


async def test_a_repository_is_known_wherever_it_was_cloned(bus: Bus, person: Bus, shop: Checkout) -> None:
    opened_there = SessionOpened(harness="pi", mode="primary", directory="/elsewhere")
    await Appender(bus).append(wrapped([opened_there], address=Address(root_name(shop), "s1")), {})
    assert root_name(shop) == await project_at(person, shop.folder, HOME)


async def test_what_another_repository_left_in_the_folder_does_not_name_it(
    bus: Bus, person: Bus, shop: Checkout
) -> None:
    await seen(bus, f"git-{'a' * 40}", at(shop.folder))
    assert root_name(shop) == await project_at(person, shop.folder, HOME)


async def test_an_orphan_branch_and_a_name_of_before_are_still_that_project(
    bus: Bus, person: Bus, shop: Checkout
) -> None:
    shop.git("remote", "add", "origin", "git@git.example.org:team/shop.git")
    harness = await remote_name(shop.folder)
    await seen(bus, harness, at(shop.folder))
    assert harness == await project_at(person, shop.folder, HOME)  # no adapter of today has been there yet
    await seen(bus, root_name(shop), at(shop.folder))
    shop.add(Made(100, "Begin elsewhere", {"index.html": "x"}, branch="pages"))
    shop.git("symbolic-ref", "HEAD", "refs/heads/pages")
    assert root_name(shop) == await project_at(person, shop.folder, HOME)


async def test_every_name_of_a_project_leads_to_it(bus: Bus, person: Bus, shop: Checkout) -> None:
    added = [AliasAdded(alias=root_name(shop), leads_to="git-1", how="confirmed")]
    added += [AliasAdded(alias="harbour", leads_to="git-1", how="given")]
    await Appender(bus).append(wrapped(added, address=GLOBAL), {})
    assert "git-1" == await project_meant(person, "", shop.folder)
    for name in (root_name(shop), "harbour", "git-1"):
        assert "git-1" == await project_meant(person, name, Path("/nowhere"))
    removed = AliasRemoved(alias=root_name(shop), leads_to="git-1")
    await Appender(bus).append(wrapped([removed], address=GLOBAL), {})
    assert root_name(shop) == await project_meant(person, "", shop.folder)


async def test_a_folder_is_known_by_the_place_that_it_leads_to(bus: Bus, person: Bus, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    await seen(bus, "harbour", at(tmp_path / "there"))
    assert "harbour" == await project_at(person, tmp_path / "link", HOME)
