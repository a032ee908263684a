"""Projects in a team: clones on several machines, the broker of the team, and rooms that see nobody's directories."""

import argparse
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import SecretStr

from schemas.events import AliasAdded, AliasProposed, Event
from schemas.inbox import SessionSeen
from services.desk.worker import Desk
from services.domain.aliases import GLOBAL
from services.edges.arguments import parser
from services.edges.memory.command import memory
from services.edges.project.command import project
from services.kit.bus import Bus
from services.kit.project_name import beginning, name_of, remote_name
from services.responder.worker import Responder
from services.settings import Nats, Settings
from services.tagger.worker import Tagger
from tests.helpers.broker_world import facts, opened, quick_settings
from tests.helpers.memory_sessions import Harness
from tests.helpers.repositories import Checkout, line
from tests.helpers.team_broker import PASSWORDS, TeamBroker, passwords
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

RULE = "Berths are numbered from the sea, always."
OLD, NEW = "git@git.example.org:team/shop.git", "git@elsewhere.example.org:shop.git"


class Team(NamedTuple):
    """Rooms at the broker of a team, and a harness's connection to it."""

    rooms: Bus
    harness: Bus
    settings: Settings
    """Those of a person."""
    capsys: pytest.CaptureFixture[str]

    async def run(self, here: Path, *words: str) -> str:
        """What a command of a person prints, in their clone."""
        options: argparse.Namespace = parser().parse_args(words)
        run = {"project": project, "memory": memory}[options.command]
        status = await run(options, self.settings, here)
        out, error = self.capsys.readouterr()
        assert 0 == status, error
        return out

    async def works(self, person: str, clone: Checkout, name: str = "", former: tuple[str, ...] = ()) -> str:
        """A harness of this person reports a session in a clone, on a machine of theirs; the project's name."""
        found = name or name_of(await beginning(clone.folder), clone.folder)
        folder = f"/home/{person}/{clone.folder.name}"
        seen = SessionSeen(mode="primary", directory=folder, root=folder, vcs="git", former=former)
        await Harness(self.harness, "opencode", f"s-{person}-{clone.folder.name}", project=found).report(seen)
        await until(lambda: self._is_listed(clone.folder, found))
        return found

    async def _is_listed(self, here: Path, name: str) -> bool:
        listed = json.loads(await self.run(here, "project", "list", "--json"))
        return any(name in (one["name"], *one["aliases"]) for one in listed["projects"])

    async def remembers(self, clone: Checkout) -> bool:
        listed = json.loads(await self.run(clone.folder, "memory", "list", "--json"))
        return RULE in [one["text"] for one in listed["memories"]]

    async def aliases(self) -> list[Event]:
        return [one for one in await facts(self.rooms, GLOBAL) if isinstance(one, AliasAdded | AliasProposed)]


@pytest.fixture
async def team(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> AsyncIterator[Team]:
    (store := tmp_path / "broker").mkdir()
    broker = TeamBroker(store, **passwords())
    try:
        async with AsyncExitStack() as stack:
            rooms, harness = [await broker.connect(user) for user in ("room", "harness")]
            for bus in (rooms, harness):
                stack.push_async_callback(bus.close)
            await rooms.ensure()
            given = quick_settings(tmp_path / "rooms")
            for room in (Tagger(), Desk(), Responder()):
                await stack.enter_async_context(opened(room, rooms, given))
            person = Nats(url=await broker.url(), user="person", password=SecretStr(PASSWORDS["person"]))
            yield Team(rooms, harness, Settings(data=tmp_path / "person", nats=person), capsys)
    finally:
        broker.stop()


@pytest.fixture
def template(tmp_path: Path) -> Checkout:
    made = Checkout(tmp_path / "template")
    made.add(*line(2))
    return made


def cloned(origin: Checkout, name: str) -> Checkout:
    """A clone on somebody's machine, with a commit of its own."""
    folder = origin.folder.parent / name
    origin.git("clone", "--quiet", str(origin.folder), str(folder))
    clone = Checkout(folder)
    commit(clone, f"Begin {name}")
    return clone


def commit(checkout: Checkout, words: str) -> None:
    """Commit on the branch that is checked out."""
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    checkout.git(*author, "commit", "--quiet", "--allow-empty", "--message", words)


async def test_what_two_of_a_team_begin_by_cloning_one_template_is_one_project(team: Team, template: Checkout) -> None:
    shop, ferry = cloned(template, "shop"), cloned(template, "ferry")
    names = {await team.works("ada", shop), await team.works("bob", ferry)}
    assert {f"git-{template.sha(1)}"} == names
    await team.run(shop.folder, "memory", "write", RULE)
    await until(lambda: team.remembers(ferry))
    assert [] == await team.aliases()


async def test_what_is_begun_with_a_commit_of_its_own_is_another_project_than_its_template(
    team: Team, template: Checkout
) -> None:
    shop, ferry = cloned(template, "shop"), cloned(template, "ferry")
    ferry.git("checkout", "--quiet", "--orphan", "own")
    commit(ferry, "Begin anew")
    for branch in ("heads/main", "remotes/origin/main"):
        ferry.git("update-ref", "-d", f"refs/{branch}")
    of_shop, of_ferry = await team.works("ada", shop), await team.works("bob", ferry)
    assert f"git-{template.sha(1)}" == of_shop != of_ferry
    await team.run(shop.folder, "memory", "write", RULE)
    await until(lambda: team.remembers(shop))
    assert not await team.remembers(ferry)


async def test_a_fork_of_one_of_a_team_is_the_project_of_its_parent(team: Team, template: Checkout) -> None:
    fork = cloned(template, "fork")
    fork.git("remote", "set-url", "origin", "git@git.example.org:bob/shop.git")
    fork.git("remote", "add", "upstream", OLD)
    commit(template, "Go on upstream")
    assert await team.works("ada", template) == await team.works("bob", fork)
    await team.run(fork.folder, "memory", "write", RULE)
    await until(lambda: team.remembers(template))
    assert [] == await team.aliases()


async def test_a_remote_that_moves_for_one_of_a_team_changes_nothing(team: Team, template: Checkout) -> None:
    ada, bob = cloned(template, "ada"), cloned(template, "bob")
    for clone in (ada, bob):
        clone.git("remote", "set-url", "origin", OLD)
    before = await team.works("ada", ada)
    await team.run(ada.folder, "memory", "write", RULE)
    former = await remote_name(ada.folder)
    ada.git("remote", "set-url", "origin", NEW)
    assert former != await remote_name(ada.folder)
    assert before == await team.works("ada", ada, former=(former,))  # an adapter of before has named it by its remote
    assert before == await team.works("bob", bob)
    await until(lambda: team.remembers(bob))
    assert [] == await team.aliases()


async def test_a_name_by_a_moved_remote_is_proposed_in_a_team_and_a_person_confirms_it(
    team: Team, template: Checkout
) -> None:
    """The service cannot look into people's directories: what a harness claims there, a person decides on."""
    ada, bob = cloned(template, "ada"), cloned(template, "bob")
    for clone in (ada, bob):
        clone.git("remote", "set-url", "origin", OLD)
    former = await remote_name(bob.folder)
    await team.works("bob", bob, name=former)  # by an adapter of before
    ada.git("remote", "set-url", "origin", NEW)
    name = await team.works("ada", ada, former=(former,))

    async def is_proposed() -> bool:
        return [(former, name)] == [
            (one.alias, one.leads_to) for one in await team.aliases() if isinstance(one, AliasProposed)
        ]

    await until(is_proposed)
    assert not any(isinstance(one, AliasAdded) for one in await team.aliases())
    await team.run(bob.folder, "memory", "write", RULE, "--project", former)
    await team.run(ada.folder, "project", "merge", former, "--project", name)
    await until(lambda: team.remembers(ada))
