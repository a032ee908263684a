"""With the password of harnesses alone, as deploy/README.md gives it to a team's developer, every command works.

What it may not do, it says in a sentence. The commands are those of the parser.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from io import StringIO
from pathlib import Path

import pytest
import pytest_asyncio

from services.edges.arguments import parser
from services.kit import rooms
from tests.helpers.annals_command import annals
from tests.helpers.command_line import Ended, answering_rooms, ended
from tests.helpers.examples import soak
from tests.helpers.team_broker import PASSWORDS, TeamBroker, passwords
from tests.helpers.wrong_input import Leaf, faults, leaves, line

pytestmark = pytest.mark.broker

SECRET = "a secret of nobody"  # noqa: S105 - none
PLAYS = {"demo", "replay", "bench"}
"""Commands that play recordings, which takes long."""
ROOMS = {"up", *rooms.ROOMS}
"""Commands that run until they are ended, where they are let."""
LEAVES = [one for one in leaves(parser()) if one.words[0] not in PLAYS]
READING = [
    *(["status"], ["status", "--json"], ["search", "berths"], ["memory", "list"], ["memory", "quality"], ["notes"]),
    *(["project", "list"], ["project", "settings", "show"], ["show", "s1"]),
]


@pytest.fixture
def team(tmp_path: Path) -> Iterator[TeamBroker]:
    home = tmp_path / "broker"
    home.mkdir()
    broker = TeamBroker(home, **passwords())
    yield broker
    broker.stop()


@pytest_asyncio.fixture
async def developer(team: TeamBroker, tmp_path: Path) -> Mapping[str, str]:
    """The environment of somebody with the password of harnesses."""
    return {
        "HOME": str(tmp_path),
        "PATH": "/nowhere",
        "ANNALS_DATA": str(tmp_path / "data"),
        "ANNALS_NATS__URL": await team.url(),
        "ANNALS_NATS__USER": "harness",
        "ANNALS_NATS__PASSWORD": PASSWORDS["harness"],
        "SECRET": SECRET,
    }


@pytest_asyncio.fixture
async def shell(
    developer: Mapping[str, str], team: TeamBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    """Be that somebody, next to rooms that answer."""
    place = tmp_path / "work"
    place.mkdir()
    bus = await team.connect("room")
    await bus.ensure()
    async with answering_rooms(bus, tmp_path / "rooms", place):
        for name, value in developer.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(place)
        monkeypatch.setattr(sys, "stdin", StringIO())
        yield
    await bus.close()


def words_of(leaf: Leaf, folder: Path) -> list[str]:
    """A command with all that it needs, which changes nothing on this machine."""
    options = [text for one in leaf.parser._actions for text in one.option_strings if text == "--dry-run"]  # noqa: SLF001
    return [*leaf.words, *options, *line(leaf, folder)[len(leaf.words) :]]


def wrong_with(found: Ended, as_person: Ended | None = None) -> list[str]:
    """What is wrong with how a command ended; `as_person`: how it does with a person's password."""
    shown = found.out + found.error
    what = faults(*found)
    if "no answer on" in shown or "ermissions" in shown or "refuses" in shown:
        what.append(f"does not say what may not be done: {shown[:200]!r}")
    if as_person is not None and found.status != as_person.status and "may not" not in shown:
        what.append(f"ends with {found.status}, and with {as_person.status} for a person: {shown[:200]!r}")
    return what


@pytest.mark.usefixtures("shell")
async def test_every_command_works_with_the_password_of_harnesses_or_says_what_that_may_not_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong: list[str] = []
    for leaf in (one for one in LEAVES if one.words[0] not in ROOMS):
        words = words_of(leaf, tmp_path)
        found = await asyncio.to_thread(ended, words, capsys)
        with monkeypatch.context() as person:
            person.setenv("ANNALS_NATS__USER", "person")
            person.setenv("ANNALS_NATS__PASSWORD", PASSWORDS["person"])
            as_person = await asyncio.to_thread(ended, words, capsys)
        wrong += [f"annals {' '.join(words)}: {one}" for one in wrong_with(found, as_person)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.usefixtures("shell")
@pytest.mark.parametrize("user", ["harness", "person"])
async def test_what_reads_works_with_the_password_of_harnesses_and_with_that_of_people(
    user: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANNALS_NATS__PASSWORD", PASSWORDS[user])
    monkeypatch.delenv("ANNALS_NATS__USER")
    for words in READING:
        found = await asyncio.to_thread(ended, words, capsys)
        assert (words, 0, "") == (words, found.status, found.error)


@pytest.mark.usefixtures("shell")
async def test_a_user_who_may_not_decide_or_query_is_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    decided = await asyncio.to_thread(ended, ["memory", "write", "Answer in German."], capsys)
    remedy = "for this command set ANNALS_NATS__PASSWORD to the password of people"
    sentence = f"annals: the user `harness` may ask, and may not decide what people decide; {remedy}\n"
    assert (1, sentence) == (decided.status, decided.error)

    asked = await asyncio.to_thread(ended, ["sql", "select 1"], capsys)
    assert (1, f"annals: the user `harness` may not ask for `sql`, which reads all projects; {remedy}\n") == (
        asked.status,
        asked.error,
    )


@pytest.mark.usefixtures("shell")
@pytest.mark.parametrize("user", ["harness", "person"])
async def test_who_may_not_erase_learns_how_it_is_done(
    user: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANNALS_NATS__PASSWORD", PASSWORDS[user])
    if user == "person":
        monkeypatch.delenv("ANNALS_NATS__USER")  # as deploy/README.md has people run a command
    found = await asyncio.to_thread(ended, ["erase", "session", "s1"], capsys)
    assert (1, 1) == (found.status, len(found.error.splitlines()))
    assert found.error.endswith("broker of its own on the same store, as deploy/README.md describes\n")


@pytest.mark.usefixtures("shell")
async def test_status_says_in_one_line_why_it_shows_no_streams(capsys: pytest.CaptureFixture[str]) -> None:
    found = await asyncio.to_thread(ended, ["status"], capsys)
    lines = [one for one in found.out.splitlines() if one.startswith("streams ")]
    assert ["the user `harness` may not look into what the broker stores"] == [
        one.split(": ")[1].split(",")[0] for one in lines
    ]
    assert not [one for one in found.out.splitlines() if one.startswith(("log ", "inbound ", "dead "))]


@pytest.mark.parametrize("name", [pytest.param(one, marks=soak(unless=one == "desk")) for one in sorted(ROOMS)])
async def test_what_runs_rooms_says_that_this_user_may_not_and_ends(name: str, developer: Mapping[str, str]) -> None:
    ended = await asyncio.to_thread(annals, name, environment={**developer, "PATH": os.environ["PATH"]})
    lines = (ended.stdout + ended.stderr).splitlines()
    assert 1 == ended.returncode
    assert ["may not look into what the broker stores" in one for one in lines] == [True], lines
