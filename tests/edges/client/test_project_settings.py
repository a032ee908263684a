"""A project's own file of settings: it tightens what holds for an installation, and loosens nothing."""

import json
from pathlib import Path

import pytest

from services.edges.cli import main
from services.edges.project_settings import FOR_ITSELF, REMEDY, load_here
from services.settings import Settings, load
from services.settings.entries import entries_of, groups_of
from services.settings.sources import ENTRIES
from tests.helpers.sourced_settings import Loading, lines, loading

__all__ = ["loading"]


@pytest.mark.parametrize(
    ("key", "value", "effective"),
    [
        ("model.daily_usd", 1.5, 1.5),
        ("model.daily_tokens", 0, 0),
        ("model.chain", [], ()),
        ("model.chain", ["openai/b"], ("openai/b",)),
        ("plan.protected_tags", 40, 40),
        ("plan.clear_reasoning_age", 60, 60),
        ("plan.threshold", 50.0, 50.0),
        ("plan.smart_drops", False, False),
        ("plan.head_tokens", 100, 100),
        ("history.enabled", False, False),
    ],
)
def test_a_project_tightens(loading: Loading, tmp_path: Path, key: str, value: object, effective: object) -> None:
    user = '[plan]\nsmart_drops = true\n[model]\nchain = ["openai/a", "openai/b"]\n'
    group, _, name = key.partition(".")
    loaded = loading(user=user, project=f"[{group}]\n{name} = {json.dumps(value)}\n")
    file = tmp_path / "work" / "shop" / ".annals" / "config.toml"
    assert (effective, str(file), ()) == (loaded.value(ENTRIES[key]), loaded.sources[key], loaded.problems)
    assert file == loaded.project


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("model.daily_usd", 50, "a project may only lower it, so it is not used"),
        ("model.daily_tokens", 10**9, "a project may only lower it"),
        ("model.chain", ["openai/a"], "a project may only leave out of it"),
        ("plan.protected_tags", 1, "a project may only raise it"),
        ("plan.smart_drops", True, "a project may only switch it off"),
        ("plan.threshold", 90, "a project may only lower it"),
        ("plan.threshold", 10, "(it should be greater than or equal to 20), and what the installation says holds"),
        ("plan.protected_tags", "many", "it is not used (it should be a valid integer"),
        ("plan.key_files", ["a.py"], "a project has no say in it"),
        ("nats.url", "nats://elsewhere:4222", "a project has no say in it"),
        ("nats.password", "x", "a project has no say in it"),
        ("model.providers", {}, "a project has no say in it"),
        ("http.host", "0.0.0.0", "a project has no say in it"),  # noqa: S104 - what is refused
        ("views.memory_limit", "64GB", "a project has no say in it"),
        ("logs.level", "debug", "a project has no say in it"),
    ],
)
def test_a_project_loosens_nothing_and_moves_nothing(loading: Loading, key: str, value: object, sentence: str) -> None:
    group, _, name = key.partition(".")
    written = "{}" if value == {} else json.dumps(value)
    loaded = loading(project=f"[{group}]\n{name} = {written}\n")
    (line,) = lines(loaded)
    assert line.startswith(f"{key} (")
    assert sentence in line
    assert loading(project="").settings == loaded.settings
    assert "default" == loaded.sources[key]


def test_a_project_does_not_choose_where_data_is_stored(loading: Loading) -> None:
    loaded = loading(project='data = "/elsewhere"\n')
    assert ["a project has no say in it"] == [problem.what for problem in loaded.problems]


def test_what_a_project_may_do_is_set_on_numbers_switches_and_lists_alone() -> None:
    kinds = {entry.rule: set[object]() for path, group in groups_of(Settings) for entry in entries_of(group, path)}
    for entry in ENTRIES.values():
        kinds[entry.rule].add(entry.kind)
    assert {"lower", "higher", "off", "fewer", None} == set(kinds)
    assert kinds["lower"] | kinds["higher"] == {int, float}
    assert ({bool}, {tuple[str, ...]}) == (kinds["off"], kinds["fewer"])


def test_a_project_ends_at_the_root_of_its_work_tree(loading: Loading, tmp_path: Path) -> None:
    loading(project="[model]\ndaily_usd = 1\n")
    inner = tmp_path / "work" / "shop" / "vendor" / "lib"
    (inner / ".git").mkdir(parents=True)
    (inner / "src").mkdir()
    variables = {"HOME": str(tmp_path / "home")}
    assert 5.0 == load_here(inner / "src", variables).settings.model.daily_usd
    assert 1.0 == load_here(inner.parent, variables).settings.model.daily_usd
    assert 5.0 == load(variables).settings.model.daily_usd, "a room alone belongs to no project"


def test_what_a_project_may_set_for_itself_is_named_with_the_command_for_that(
    loading: Loading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = loading(project='[plan]\ncontext = "full"\nkey_files = ["a.py"]\n[nats]\nport = 1\n')
    assert {FOR_ITSELF, REMEDY} == {problem.remedy for problem in loaded.problems}
    assert loading(project="").settings == loaded.settings
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    loading(project='[plan]\ncontext = "full"\nkey_files = ["a.py"]\n[nats]\nport = 1\n')
    monkeypatch.chdir(tmp_path / "work" / "shop")
    main(["status"])
    reported = [line for line in capsys.readouterr().err.splitlines() if "config.toml" in line]
    assert ["nats.port"] == [line.removeprefix("annals: ").partition(" ")[0] for line in reported]
