"""`annals keyfiles`, for a person at a terminal: on a real broker, as their user."""

import json

import pytest

from schemas.codec import encode
from schemas.commands import KeyFilePropose
from schemas.envelope import Actor
from schemas.events import KeyFileDismissed, SettingsApplied
from schemas.subjects import Address, ask
from schemas.view_asks import ProjectSettingsAsk
from services.edges.arguments import parser
from services.edges.keyfiles.command import NONE
from services.kit.bus import Bus
from tests.desk.test_books import send
from tests.edges.project.test_own_settings import write
from tests.edges.project.test_project import Ran, checkout, run
from tests.helpers.broker_world import facts
from tests.helpers.repositories import Checkout
from tests.helpers.waiting import PATIENCE

__all__ = ["checkout", "run"]


async def proposed(bus: Bus, project: Address, *paths: str) -> None:
    for path in paths:
        answer = await send(bus, KeyFilePropose(path, 5, 1, 70), path, Actor("room", "dreamer"), address=project)
        assert answer.ok, answer.text


async def wanted(bus: Bus, project: str) -> list[str]:
    """The files that adapters send."""
    reply = await bus.request(ask("settings", project), encode(ProjectSettingsAsk(project)), PATIENCE)
    return list(json.loads(reply)["documents"])


@pytest.mark.broker
async def test_a_person_sees_what_is_proposed_accepts_dismisses_and_removes(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    project = Address(f"git-{checkout.sha(1)}")
    assert NONE in (await run("keyfiles", "list")).out
    await proposed(bus, project, "core.py", "door.py")
    listed = (await run("keyfiles", "list")).out
    assert "pending    core.py  (read 5 times, changed once, 70 bytes)" in listed
    assert "annals keyfiles accept PATH" in listed

    assert "Accepted as key files: core.py." in (await run("keyfiles", "accept", "core.py")).out
    assert "core.py" in await wanted(bus, project.project)
    assert "Dismissed: door.py." in (await run("keyfiles", "dismiss", "door.py", "--json")).json["text"]
    assert [("core.py", "accepted"), ("door.py", "dismissed")] == [
        (one["path"], one["status"]) for one in (await run("keyfiles", "list", "--json")).json["files"]
    ]

    write(checkout.folder, '[plan]\nkey_files = ["own.py"]\n')
    assert "plan.key_files: none -> own.py" in (await run("project", "settings", "apply")).out
    assert "says the same" in (await run("project", "settings")).out
    assert ["own.py", "core.py"] == (await wanted(bus, project.project))[-2:]

    assert "No key files any more: core.py." in (await run("keyfiles", "remove", "core.py")).out
    assert "core.py" not in await wanted(bus, project.project)
    assert [["core.py"], ["core.py"], []] == [
        one.key_files for one in await facts(bus, project) if isinstance(one, SettingsApplied)
    ]
    assert 2 == sum(isinstance(one, KeyFileDismissed) for one in await facts(bus, project))


@pytest.mark.broker
async def test_what_cannot_be_done_is_refused_in_a_sentence_and_nothing_is_written(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    project = Address(f"git-{checkout.sha(1)}")
    for paths in (["nobody.py"], ["\0"], ["a\nb"], ["x" * 1_000_000], ["\ud800"], [""], ["../core.py"]):
        for action in ("accept", "dismiss", "remove"):
            refused = await run("keyfiles", action, *paths)
            assert (1, "") == (refused.status, refused.out)
            assert 1 == refused.error.count("\n")
            assert 500 > len(refused.error)
    assert [] == await facts(bus, project)
    unknown = await run("keyfiles", "list", "--project", "git-0000")
    assert (1, True) == (unknown.status, "there is no project git-0000" in unknown.error)


@pytest.mark.broker
@pytest.mark.parametrize("actor", [Actor("agent", "build"), Actor("harness", "pi"), Actor("room", "historian")])
async def test_no_harness_and_no_other_room_proposes(bus: Bus, run: Ran, checkout: Checkout, actor: Actor) -> None:
    assert run
    project = Address(f"git-{checkout.sha(1)}")
    answer = await send(bus, KeyFilePropose("core.py", 9, 0, 1), "k1", actor, address=project)
    assert not answer.ok
    assert [] == await facts(bus, project)


@pytest.mark.parametrize("words", [(), ("accept",), ("lists",), ("accept", "--all")])
def test_wrong_words_end_with_the_status_2(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["keyfiles", *words])
    assert 2 == ended.value.code
    assert "usage: " in capsys.readouterr().err
