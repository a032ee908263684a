"""`annals project settings`: a repository's file is anybody's text; a person sees it, applies it, and takes it back."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.events import SettingsApplied
from schemas.subjects import Address
from services.edges.project.settings_file import MOST_BYTES, settings_file
from services.kit.bus import Bus
from tests.edges.project.test_project import REMOTE, Ran, checkout, run, worked_in
from tests.helpers.broker_world import facts
from tests.helpers.repositories import Checkout

__all__ = ["checkout", "run"]

SETTINGS = ("project", "settings")
GOOD = '[plan]\ncontext = "full"\nkey_files = ["src/core.py"]\n'


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / ".annals" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.broker
async def test_a_person_sees_what_the_file_would_change_applies_it_and_takes_it_back(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    project = Address(f"git-{checkout.sha(1)}")
    nothing = await run(*SETTINGS)
    assert (0, True) == (nothing.status, "There is no " in nothing.out)
    assert 1 == (await run(*SETTINGS, "apply")).status
    write(checkout.folder, GOOD)
    shown = (await run(*SETTINGS)).out
    assert "plan.context: balanced -> full" in shown
    assert "is not applied: nothing of it holds" in shown
    assert [] == await facts(bus, project)

    applied = await run(*SETTINGS, "apply")
    assert 0 == applied.status
    assert "This project sets plan.context, plan.key_files for itself from now on, and for no other." in applied.out
    assert "! plan.key_files names src/core.py, which is no file here yet" in applied.out
    (fact,) = await facts(bus, project)
    assert isinstance(fact, SettingsApplied)
    assert {"plan.context": "full", "plan.key_files": ["src/core.py"]} == json.loads(fact.settings)
    assert "already" in (await run(*SETTINGS, "apply")).out
    after = (await run(*SETTINGS)).out
    assert "full  (this project)" in after
    assert "says the same" in after

    write(checkout.folder, '[plan]\ncontext = "full"\ncontxt = 1\n')
    refused = await run(*SETTINGS, "apply")
    assert 1 == refused.status
    assert "did you mean plan.context?" in refused.error
    assert "the former settings still apply" in refused.error
    shown = await run(*SETTINGS, "show", "--json")
    assert 1 == shown.status
    assert {"plan.context": "full", "plan.key_files": ["src/core.py"]} == json.loads(shown.out)["settings"]

    assert 0 == (await run(*SETTINGS, "clear")).status
    assert 2 == len(await facts(bus, project))
    assert 1 == (await run(*SETTINGS)).status, "the file still cannot be applied"


@pytest.mark.broker
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ('slots = { verfy = "0 3 * * *" }', "there is no task 'verfy': did you mean 'verify'?"),
        ('slots = { verify = "every night" }', "has 2 fields instead of 5"),
        ('zone = "Berlin"', "write one as `Europe/Berlin`"),
    ],
)
async def test_a_project_has_its_own_times_of_the_dreamer_and_wrong_ones_are_refused(
    bus: Bus, run: Ran, checkout: Checkout, wrong: str, sentence: str
) -> None:
    write(checkout.folder, f"[dream]\n{wrong}\n")
    refused = await run(*SETTINGS, "apply")
    assert 1 == refused.status
    assert sentence in refused.error
    assert [] == await facts(bus, Address(f"git-{checkout.sha(1)}"))
    write(checkout.folder, '[dream]\nslots = { verify = "30 4 * * *", classify = "" }\nzone = "Europe/Berlin"\n')
    assert 0 == (await run(*SETTINGS, "apply")).status
    shown = (await run(*SETTINGS)).out
    assert "classify: never, verify: 30 4 * * *  (this project)" in shown
    assert "Europe/Berlin  (this project)" in shown


@pytest.mark.broker
async def test_a_file_is_applied_to_the_project_it_lies_in_and_to_no_other(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    write(checkout.folder, GOOD)
    await worked_in(bus, "quarry", "/srv/quarry")
    before = await facts(bus, Address("quarry"))
    refused = await run(*SETTINGS, "apply", "--project", "quarry")
    assert (1, True) == (refused.status, "is not that of quarry" in refused.error)
    assert before == await facts(bus, Address("quarry"))
    assert 0 == (await run(*SETTINGS, "apply", "--project", f"git-{checkout.sha(1)}")).status
    document = (await run(*SETTINGS, "--json")).json
    assert {"plan.context": "full", "plan.key_files": ["src/core.py"]} == document["settings"]
    assert "balanced" == document["installation"]["plan.context"]
    assert {} == (await run(*SETTINGS, "--json", "--project", "quarry")).json["settings"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", "it is no text in UTF-8"),
        ("[plan", "it is no TOML"),
        ("[plan]\ncontext = 1\ncontext = 2\n", "it is no TOML"),
        ('[plan]\ncontext = "a\x1b[2J"\n', "it is no TOML"),
        ('[plan]\ncontext = "a\\u001b[2J"\n', "plan.context cannot be used"),
        ('[plan]\nkey_files = ["a\\u202e.py"]\n', "characters in it that nobody can see"),
        ("x = " + "[" * 4_000 + "]" * 4_000, "it is nested too deeply"),
        ("a" + ".a" * 10_000 + " = 1\n", "nothing that a project may set"),
        ("x = " + "9" * 10_000 + "\n", ""),
        ("#" * (MOST_BYTES + 1), f"it is longer than {MOST_BYTES} bytes"),
        ("[plan]\ncontxt = 1\n", "did you mean plan.context?"),
        ("[[plan]]\ncontext = 1\n", "nothing that a project may set"),
        ("plan = 3\n", "nothing that a project may set"),
        ('[dream.slots]\nverify = "60 * * * *"\n', "write minute, hour, day of the month"),
        ("[dream]\nidle_after = 5\n", "for the whole installation"),
        ("[model]\ndaily_usd = 0\n", "`annals up --project-limits` reads it"),
        ('[nats]\nurl = "nats://elsewhere"\n', "for the whole installation"),
        ('data = "/elsewhere"\n', "for the whole installation"),
        ("[plan]\nthreshold = 60\n", "for the whole installation"),
    ],
)
def test_what_cannot_be_applied_is_refused_in_a_sentence(tmp_path: Path, content: str | bytes, sentence: str) -> None:
    write(tmp_path, content)
    file = settings_file(tmp_path)
    assert file.is_there
    assert file.problems
    assert sentence in file.problems[0]
    assert all(len(problem) < 600 for problem in file.problems)


@pytest.mark.parametrize("content", ["", "# nothing\n", "[plan]\n", "\ufeff[plan]\r\n"])
def test_an_empty_file_sets_nothing(tmp_path: Path, content: str) -> None:
    write(tmp_path, content)
    assert ({}, ()) == (settings_file(tmp_path).settings, settings_file(tmp_path).problems)


def test_no_link_no_pipe_and_no_folder_is_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = write(outside, GOOD)
    makes: tuple[Callable[[Path], object], ...] = (
        lambda place: (place.parent.rmdir(), place.parent.symlink_to(outside / ".annals")),
        lambda place: place.symlink_to(target),
        lambda place: place.symlink_to("/dev/zero"),
        os.mkfifo,
        Path.mkdir,
    )
    for number, make in enumerate(makes):
        place = tmp_path / str(number)
        (place / ".annals").mkdir(parents=True)
        make(place / ".annals" / "config.toml")
        file = settings_file(place)
        assert ({}, 1) == (file.settings, len(file.problems)), number


def test_a_file_in_the_place_of_the_folder_is_no_file_of_settings(tmp_path: Path) -> None:
    (tmp_path / ".annals").write_text("x")
    assert not settings_file(tmp_path).is_there


def test_the_file_is_that_in_the_root_of_the_work_tree(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "packages" / "one"
    inner.mkdir(parents=True)
    write(inner, "[plan]\nhead = false\n")
    write(tmp_path, GOOD)
    assert "full" == settings_file(inner).settings["plan.context"]


@pytest.mark.broker
async def test_a_merge_says_whose_settings_apply_afterwards_and_what_changes(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    name = f"git-{checkout.sha(1)}"
    write(checkout.folder, GOOD)
    assert 0 == (await run(*SETTINGS, "apply")).status
    await worked_in(bus, REMOTE, "/srv/fork")
    merged = (await run("project", "merge", REMOTE, "--project", name)).out
    assert f"those that were applied from the .annals/config.toml of {name} apply to both" in merged
    assert (
        f"For {REMOTE} that changes:\n  plan.key_files: none -> src/core.py\n  plan.context: balanced -> full" in merged
    )


@pytest.mark.broker
async def test_a_merge_says_which_settings_no_longer_apply(bus: Bus, run: Ran, checkout: Checkout) -> None:
    name = f"git-{checkout.sha(1)}"
    write(checkout.folder, '[plan]\ncontext = "full"\n')
    assert 0 == (await run(*SETTINGS, "apply")).status
    await worked_in(bus, REMOTE, "/srv/fork")
    merged = (await run("project", "merge", name, "--project", REMOTE, "--json")).json
    assert {"project": REMOTE, "own": {}, "changes": {"plan.context": {"now": "full", "then": "balanced"}}} == (
        merged["settings"]
    )


@pytest.mark.broker
async def test_a_merge_of_projects_without_settings_of_their_own_says_that_nothing_changes(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    await worked_in(bus, REMOTE, "/srv/fork")
    merged = (await run("project", "merge", REMOTE, "--project", f"git-{checkout.sha(1)}")).out
    assert "the installation's apply to both. Nothing changes by that." in merged


@pytest.mark.broker
async def test_the_undo_of_a_merge_says_which_settings_apply_again(bus: Bus, run: Ran, checkout: Checkout) -> None:
    name = f"git-{checkout.sha(1)}"
    write(checkout.folder, GOOD)
    assert 0 == (await run(*SETTINGS, "apply")).status
    await worked_in(bus, REMOTE, "/srv/fork")
    assert 0 == (await run("project", "merge", REMOTE, "--project", name)).status
    undone = (await run("project", "undo", REMOTE)).out
    assert (
        f"nothing is applied in {REMOTE}, so that the installation's apply to it again. For it that changes:" in undone
    )
    assert "\n  plan.key_files: src/core.py -> none\n  plan.context: full -> balanced" in undone


@pytest.mark.broker
async def test_the_undo_of_a_merge_restores_the_settings_that_were_applied(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    name = f"git-{checkout.sha(1)}"
    write(checkout.folder, '[plan]\ncontext = "full"\n')
    assert 0 == (await run(*SETTINGS, "apply")).status
    await worked_in(bus, REMOTE, "/srv/fork")
    assert 0 == (await run("project", "merge", name, "--project", REMOTE)).status
    undone = (await run("project", "undo", "--project", REMOTE, "--json")).json
    settings = {"project": name, "own": {"plan.context": "full"}}
    assert {**settings, "changes": {"plan.context": {"now": "balanced", "then": "full"}}} == undone["settings"]


@pytest.mark.broker
async def test_an_undo_that_changes_no_settings_says_so_and_that_of_a_name_says_nothing_of_them(
    bus: Bus, run: Ran, checkout: Checkout
) -> None:
    name = f"git-{checkout.sha(1)}"
    await worked_in(bus, REMOTE, "/srv/fork")
    assert 0 == (await run("project", "merge", REMOTE, "--project", name)).status
    undone = (await run("project", "undo", REMOTE)).out
    assert "the installation's apply to it again. Nothing changes by that." in undone
    assert 0 == (await run("project", "rename", "shop", "--project", name)).status
    assert "Settings:" not in (await run("project", "undo", "shop")).out
