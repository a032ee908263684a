"""`annals config show`, and commands with settings that cannot be used."""

import io
import json
import os
import time
from pathlib import Path

import pytest
from rich.console import Console

from services.edges.cli import main
from services.edges.config import CHANGED, ELSEWHERE, RESTART, UNASKED, Page, printed_settings, render
from services.edges.launcher.run import record
from services.settings import load
from services.settings.sources import ENTRIES

pytestmark = pytest.mark.slow

SECRETS = ("s3cret-of-the-broker", "k3y-of-the-models", "pa55-in-an-address", "its-rest")
VARIABLES = {
    "ANNALS_NATS__PASSWORD": SECRETS[0],
    "ANNALS_NATS__URL": f"nats://user:{SECRETS[2]}@{SECRETS[3]}@broker:4222",
    "ANNALS_MODEL__PROVIDERS": json.dumps(
        {"own": {"url": f"http://me:{SECRETS[2]}@own/v1", "key": SECRETS[1]}, "barn": {"url": "http://barn/v1"}}
    ),
    "ANNALS_PLAN__THRESHOLD": "200",
    "ANNALS_PLAN__CONTEXT": "lean",
    "ANNALS_PLAN__TRESHOLD": "70",
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a few settings, of which two cannot be used, and without an installation that runs."""
    for name in [name for name in os.environ if name.startswith(("ANNALS_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name, value in {**VARIABLES, "HOME": str(tmp_path / "home"), "ANNALS_DATA": str(tmp_path / "data")}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "here" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_each_setting_is_shown_with_its_value_and_source(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(["config", "show", "--json"]), "two of them cannot be used"
    page = json.loads(capsys.readouterr().out)
    found = {one["setting"]: (one["value"], one["source"]) for one in page["settings"]}

    assert list(ENTRIES) == list(found)
    assert (str(machine / "data"), "environment") == found["data"]
    assert ("lean", "environment") == found["plan.context"]
    assert (85.0, "default") == found["plan.threshold"]
    assert ["ANNALS_PLAN__TRESHOLD (environment)", "ANNALS_PLAN__THRESHOLD (environment)"] == [
        problem["where"] for problem in page["problems"]
    ]


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_no_secret_is_shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["config", "show", *arguments])
    out = capsys.readouterr().out
    assert [] == [secret for secret in SECRETS if secret in out.replace("\n", "")]
    assert "(set)" in out
    assert "@broker:4222" in out


@pytest.mark.usefixtures("machine")
def test_what_looks_like_markup_is_shown_as_it_is() -> None:
    loaded = load({"HOME": "/nowhere", "ANNALS_LOGS__LEVEL": "info", "ANNALS_PLAN__KEY_FILES": '["[/x].py"]'})
    out = io.StringIO()
    render(Page(tuple(printed_settings(loaded)), loaded.problems), Console(file=out, width=200))
    assert '["[/x].py"]' in out.getvalue()


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("command", [["down"], ["service", "install", "--dry-run"], ["doctor"], ["doctor", "--json"]])
def test_no_command_stops_at_what_cannot_be_used(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(command)
    printed = capsys.readouterr()
    output = printed.out + printed.err
    assert "did you mean ANNALS_PLAN__THRESHOLD?" in output
    assert "at least `20.0` and at most `90.0`" in output
    assert "Traceback" not in output


def project(folder: Path, text: str) -> Path:
    file = folder / ".annals" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def printed(capsys: pytest.CaptureFixture[str], setting: str) -> tuple[object, str, list[str]]:
    """A setting's value and source, and the lines on projects' files."""
    main(["config", "show", "--json"])
    page = json.loads(capsys.readouterr().out)
    (found,) = (one for one in page["settings"] if one["setting"] == setting)
    return found["value"], found["source"], [one["what"] for one in page["problems"] if one["where"].endswith(".toml")]


TIGHT = "[plan]\nprotected_tags = 40\n"


def test_a_projects_file_is_named_where_no_installation_runs(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project(machine / "here", TIGHT)
    value, source, problems = printed(capsys, "plan.protected_tags")
    assert (20, "default", [UNASKED]) == (value, source, problems)
    assert "--project-limits" in RESTART
    assert file.exists()


def test_what_holds_is_what_the_running_installation_was_started_with(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It serves this folder, too, in the limits of the project that it was started in, whichever that is."""
    elsewhere = project(machine / "elsewhere", TIGHT)
    record(machine / "data", "terminal", elsewhere)
    assert (40, str(elsewhere), []) == printed(capsys, "plan.protected_tags")
    here = project(machine / "here", "[plan]\nprotected_tags = 50\n[history]\nenabled = false\n")
    value, source, problems = printed(capsys, "plan.protected_tags")
    assert (40, str(elsewhere)) == (value, source)
    assert [ELSEWHERE] == problems
    assert (True, "default") == printed(capsys, "history.enabled")[:2]
    record(machine / "data", "terminal", here)
    assert (50, str(here), []) == printed(capsys, "plan.protected_tags")


def test_a_file_that_nobody_started_with_is_named_and_not_shown(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project(machine / "here", TIGHT)
    record(machine / "data", "service")
    value, source, problems = printed(capsys, "plan.protected_tags")
    assert (20, "default", 1) == (value, source, len(problems))


def test_a_file_that_was_changed_or_removed_since_the_start_is_named(
    machine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = project(machine / "here", TIGHT)
    record(machine / "data", "terminal", file)
    os.utime(file, (time.time() + 60, time.time() + 60))
    assert [CHANGED] == printed(capsys, "plan.protected_tags")[2]
    file.unlink()
    assert [CHANGED] == printed(capsys, "plan.protected_tags")[2]
