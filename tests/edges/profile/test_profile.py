"""`annals profile`, for a person at a terminal: on a real broker, as their user."""

import sys
from pathlib import Path

import msgspec
import pytest

from schemas.events import ProfileDisabled, ProfileEnabled, ProfileRetired
from schemas.streams import LOG
from services.desk.worker import Desk
from services.domain.aliases import GLOBAL
from services.edges.arguments import parser
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.responder.worker import Responder
from services.settings import Nats
from tests.edges.project.test_project import Ran, checkout, run
from tests.helpers.broker_world import facts, opened, quick_settings, stored
from tests.helpers.person_commands import person_settings
from tests.helpers.repositories import Checkout
from tests.helpers.stated_rules import ADDRESS, RULE, begins, states
from tests.helpers.waiting import until

__all__ = ["checkout", "run"]


@pytest.fixture(autouse=True)
def no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git has no settings of the person who runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


async def stated(bus: Bus, folder: Path) -> None:
    """A person states a rule three times in two sessions, and another one once."""
    for session in ("one", "two"):
        await begins(bus, session, folder)
    await states(bus, "one", 1, 2)
    await states(bus, "two", 1)
    await states(bus, "two", 2, text="Never push without asking me.")


@pytest.mark.broker
async def test_a_person_switches_it_on_sees_it_retires_a_trait_and_switches_it_off(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    checkout.git("config", "user.email", ADDRESS)
    assert "Your profile is off" in (await run("profile", "list")).out
    assert {"state": "off"} == (await run("profile", "list", "--json")).json
    assert "Your profile is on." in (await run("profile", "on")).out
    assert "on already" in (await run("profile", "on")).out
    await stated(bus, checkout.folder)

    listed = (await run("profile", "list", "--json")).json
    (trait,) = listed["traits"]
    assert ("on", 1, RULE, "shown", 3, 2) == (
        listed["state"], listed["waiting"], trait["text"], trait["state"], trait["candidates"], trait["sessions"]
    )  # fmt: skip
    shown = (await run("profile", "list")).out
    assert f"{trait['id'][:8]}  in use   {RULE}  (3 times in 2 sessions)\n1 more was stated too seldom" in shown

    retired = (await run("profile", "retire", trait["id"][:8], "--json")).json
    assert (True, True) == (retired["ok"], "is retired." in retired["text"])
    assert "retired already" in (await run("profile", "retire", trait["id"])).out
    assert ["retired"] == [one["state"] for one in (await run("profile", "list", "--json")).json["traits"]]
    assert "Your profile is off" in (await run("profile", "off")).out
    assert "off already" in (await run("profile", "off")).out
    assert "off" == (await run("profile", "list", "--json")).json["state"]
    kinds = [type(one) for one in await facts(bus, GLOBAL)]
    assert [1, 1, 1] == [kinds.count(kind) for kind in (ProfileEnabled, ProfileRetired, ProfileDisabled)]
    assert not any(ADDRESS.encode() in one.data for one in await stored(bus, LOG.name))


@pytest.mark.broker
async def test_another_address_is_another_person_and_none_is_nobody(run: Ran, checkout: Checkout) -> None:
    checkout.git("config", "user.email", ADDRESS)
    await run("profile", "on")
    checkout.git("config", "user.email", "eve@example.org")
    assert {"state": "off"} == (await run("profile", "list", "--json")).json
    assert "off already" in (await run("profile", "off")).out
    checkout.git("config", "--unset", "user.email")
    for arguments in (("on",), ("off",), ("retire", "x")):
        refused = await run("profile", *arguments)
        assert (1, "") == (refused.status, refused.out)
        assert "git config --global user.email" in refused.error
    listed = await run("profile", "list")
    assert "You have no profile: git has no e-mail address here" in listed.out
    checkout.git("config", "user.email", ADDRESS)
    assert {"state": "on"} == (await run("profile", "list", "--json")).json


@pytest.mark.broker
async def test_what_names_no_trait_is_refused_in_a_sentence(bus: Bus, run: Ran, checkout: Checkout) -> None:
    checkout.git("config", "user.email", ADDRESS)
    for trait in ("", "x", "\0", "\udcff", "\u202e\x1b[2J", "*", "x" * 900_000, "x" * 2_000_000):
        refused = await run("profile", "retire", trait)
        assert (1, "") == (refused.status, refused.out), trait[:20]
        assert refused.error.startswith("annals: ")
        assert len(refused.error) < 400
        assert "Traceback" not in refused.error
    assert [] == await facts(bus, GLOBAL)


@pytest.mark.parametrize(
    "arguments",
    [
        ("profile",),
        ("profile", "nonsense"),
        ("profile", "retire"),
        ("profile", "on", "now"),
        ("profile", "list", "--all"),
    ],
)
def test_wrong_arguments_are_refused_with_a_sentence(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(arguments)
    assert 2 == ended.value.code
    assert "annals" in capsys.readouterr().err


@pytest.mark.broker
async def test_in_a_team_it_is_off_and_the_list_says_why(
    broker: Broker, bus: Bus, tmp_path: Path, checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    interval = sys.getswitchinterval()
    checkout.git("config", "user.email", ADDRESS)
    url = "nats://broker.example.org:4222"
    settings = msgspec.structs.replace(quick_settings(tmp_path / "data"), nats=Nats(url=url))
    async with opened(Desk(), bus, settings), opened(responder := Responder(), bus, settings):
        await until(responder.idle)
        run = Ran(person_settings(broker, tmp_path), checkout.folder, capsys)
        assert "until each person has a credential of their own" in (await run("profile", "list")).out
        listed = (await run("profile", "list", "--json")).json
        assert ("unavailable", True) == (listed["state"], "in a team" in listed["reason"])
        refused = await run("profile", "on")
        assert (1, True) == (refused.status, "off in a team" in refused.error)
    sys.setswitchinterval(interval)
    assert [] == await facts(bus, GLOBAL)
