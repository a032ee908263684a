"""`annals setup opencode`, from the command to the files."""

import io
import json
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.asks import ClientManifest
from services.edges.cli import main
from services.edges.connect import bundle
from services.edges.connect.connection import Reported
from services.edges.connect.edit import append
from services.edges.connect.findings import Finding
from services.edges.connect.harnesses.opencode import OpenCode
from services.edges.connect.jsonc import value
from services.edges.connect.written import EarlierSwitch, digest_of
from services.edges.launcher.detach import command
from services.edges.launcher.run import record
from services.responder.answers.client_manifest import MANIFEST
from services.settings import Settings
from tests.helpers.hostile_names import EVERYTHING, UNUSABLE, USABLE

PATH = os.environ["PATH"]
OF_A_HOME = [name for name in UNUSABLE if "\udcff" not in name]
"""What a home may be called, and no data directory."""

COMMENTED = """{
  // Ada's
  "$schema": "https://opencode.ai/config.json",
  "plugin": ["opencode-thing@1.2.0"], // one
  "compaction": { "auto": true, "reserved": 10000 },
}
"""


class Machine:
    """One person's files: a home, a project, and the data of an installation."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.user = root / "home" / ".config" / "opencode"
        self.project = root / "project"
        self.data = root / "data"
        self.programs = root / "bin"
        self.bundle = root / "built" / "annals.mjs"
        for folder in (self.user, self.project / ".git", self.data, self.programs, self.bundle.parent):
            folder.mkdir(parents=True)
        self.bundle.write_text("export default {}")

    def files(self) -> dict[str, bytes]:
        """Everything that is there, apart from the programs."""
        return {str(path.relative_to(self.root)): path.read_bytes() for path in self.root.rglob("*") if path.is_file()}

    def install(self, version: str) -> None:
        program = self.programs / "opencode"
        program.write_text(f"#!/bin/sh\necho {version}\n")
        program.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    isolate(machine, monkeypatch)
    return machine


def isolate(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all that is run in this process see this machine alone."""
    for name in [name for name in os.environ if name.startswith(("OPENCODE_", "XDG_", "ANNALS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(machine.root / "home"))
    monkeypatch.setenv("PATH", f"{machine.programs}:/usr/bin:/bin")
    monkeypatch.setenv("ANNALS_DATA", str(machine.data))
    monkeypatch.setattr(bundle, "sources", lambda _: (machine.bundle,))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.chdir(machine.project)


def setup(*options: str) -> int:
    return main(["setup", "opencode", *options])


def read(path: Path) -> dict[str, Any]:
    content = value(path.read_text())
    assert isinstance(content, dict)
    return content


def test_a_machine_without_any_configuration_is_connected_and_left_as_it_was(machine: Machine) -> None:
    before = machine.files()
    assert 0 == setup("--yes")
    config = read(machine.user / "opencode.json")
    copy = machine.data / "adapters" / "opencode" / "annals.mjs"
    start = {"command": [*command(), "up", "--detach", "--kept-by", "opencode"], "data": str(machine.data)}
    options = {"broker": str(machine.data / "broker.json"), "house": start, "compaction": "managed"}
    assert [[copy.as_uri(), options]] == config["plugin"]
    assert "compaction" not in config
    assert machine.bundle.read_bytes() == copy.read_bytes()
    assert 0 == setup("--remove", "--yes")
    assert before == machine.files()
    assert not (machine.user / "node_modules").exists()


SUBSTITUTED = re.compile(r"\{(?:env|file):[^}]+\}")
"""What OpenCode replaces in the text of a configuration before it reads it as JSON."""
LOADED = """
const [config, data] = process.argv.slice(-2).map((path) => Buffer.from(path, "hex").toString());
const { readFileSync, existsSync } = await import("node:fs");
const text = readFileSync(config, "utf8").replace(/\\{(?:env|file):[^}]+\\}/g, "");
const [spec, options] = JSON.parse(text).plugin[0];
const loaded = await import(spec);
console.log(JSON.stringify([loaded.default, existsSync(options.broker), options.house.data === data]));
"""


def hexadecimal(path: Path) -> str:
    return os.fsencode(path).hex()


@pytest.mark.parametrize("name", [*USABLE, EVERYTHING, *OF_A_HOME, *(f"{{{one}}}" for one in ("env:HOME", "file:x"))])
def test_whatever_a_home_and_a_data_directory_are_called_their_paths_lead_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Home, data and project have the name; the data directory only where it may have it."""
    machine = Machine(tmp_path / name)
    if name in OF_A_HOME:
        machine.data = tmp_path / "data"
        machine.data.mkdir()
    isolate(machine, monkeypatch)
    (machine.data / "broker.json").write_text("{}")
    before = machine.files()
    assert 0 == setup("--yes")
    path = machine.user / "opencode.json"
    assert SUBSTITUTED.search(path.read_text()) is None
    node = [shutil.which("node", path=PATH) or "node", "--input-type=module", "--eval", LOADED]
    found = subprocess.run([*node, hexadecimal(path), hexadecimal(machine.data)], capture_output=True, check=True)
    assert [{}, True, True] == json.loads(found.stdout)
    assert 0 == setup("--remove", "--yes")
    assert before == machine.files()


def write_as_an_earlier_release(machine: Machine) -> None:
    """Leave configuration and note as a setup did that did not escape what OpenCode replaces."""

    def unescaped(text: str) -> str:
        return text.replace("\\u007b", "{")

    path = machine.user / "opencode.json"
    path.write_text(unescaped(path.read_text()))
    noted = bundle.load(machine.data, "opencode")
    known = noted[str(path)]
    patches = tuple(msgspec.structs.replace(one, inserted=unescaped(one.inserted)) for one in known.written.patches)
    written = msgspec.structs.replace(known.written, patches=patches, digest=digest_of(path.read_text()))
    bundle.save(machine.data, "opencode", noted | {str(path): msgspec.structs.replace(known, written=written)})


def judged(machine: Machine, what: str) -> Finding:
    """What the doctor finds of OpenCode under this heading."""
    opencode = OpenCode(os.environ, machine.project)
    findings = opencode.judge(Settings(data=machine.data), Reported(is_silent=True))
    return next(one for one in findings if one.what == what)


@pytest.mark.parametrize("is_noted", [True, False])
@pytest.mark.parametrize("name", ["{env:HOME}", "{file:x} {env:A}", "{env:not closed"])
def test_paths_of_an_earlier_setup_in_which_opencode_replaces_something_are_found_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, *, is_noted: bool
) -> None:
    machine = Machine(tmp_path / name)
    isolate(machine, monkeypatch)
    assert 0 == setup("--yes")
    path = machine.user / "opencode.json"
    now = path.read_text()
    write_as_an_earlier_release(machine)
    if not is_noted:
        bundle.save(machine.data, "opencode", {})
    assert path.read_text() != now
    found = judged(machine, "plugin")
    assert ("FAIL", "run `annals setup opencode` again") == (found.level, found.remedy)
    assert 0 == setup("--yes")
    assert value(now) == value(path.read_text())
    assert {"{env:", "{file:"}.isdisjoint(re.findall(r"\{\w+:", path.read_text()))
    assert "PASS" == judged(machine, "plugin").level
    capsys.readouterr()
    assert 0 == setup("--yes")
    assert "is already connected" in capsys.readouterr().out
    assert 0 == setup("--remove", "--yes")
    assert is_noted != path.exists()


def test_what_a_person_has_opencode_replace_in_the_entry_stays_so(machine: Machine) -> None:
    """Their own options stay as they are written: those that are replaced, and those that are not."""
    assert 0 == setup("--yes")
    path = machine.user / "opencode.json"
    theirs = '"theirs": ["{env:THEIRS}", "\\u007bfile:theirs}"], '
    path.write_text(path.read_text().replace('"compaction": "managed"', f'{theirs}"compaction": "observe"'))
    assert "PASS" == judged(machine, "plugin").level
    assert 0 == setup("--yes")
    assert '"compaction": "managed"' in path.read_text()
    assert theirs in path.read_text()


def test_what_the_installation_offers_is_there_before_an_installation_is(machine: Machine) -> None:
    assert 0 == setup("--yes")
    offered = msgspec.json.decode(
        (machine.data / "adapters" / "opencode" / "guide.json").read_bytes(), type=ClientManifest
    )
    assert MANIFEST == offered


def test_a_configuration_keeps_its_comments_and_is_restored_to_the_byte(machine: Machine) -> None:
    path = machine.user / "opencode.jsonc"
    path.write_text(COMMENTED)
    path.chmod(0o600)
    before = machine.files()
    assert 0 == setup("--yes")
    assert "// Ada's" in path.read_text()
    assert ["opencode-thing@1.2.0"] == read(path)["plugin"][:1]
    assert {"auto": True, "reserved": 10000} == read(path)["compaction"]
    assert COMMENTED == (machine.user / "opencode.jsonc.before-annals").read_text()
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert 0 == setup("--remove", "--yes")
    assert before == machine.files()


def test_a_second_time_changes_nothing_and_says_so(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    setup("--yes")
    before = machine.files()
    assert 0 == setup()
    assert "already connected" in capsys.readouterr().out
    assert before == machine.files()


def test_a_new_bundle_is_brought_at_the_next_setup(machine: Machine) -> None:
    setup("--yes")
    machine.bundle.write_text("export default { id: 2 }")
    assert 0 == setup("--yes")
    assert machine.bundle.read_bytes() == bundle.copy_of(machine.data, "opencode").read_bytes()


def test_a_dry_run_shows_the_difference_and_changes_nothing(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine.user / "opencode.jsonc").write_text(COMMENTED)
    before = machine.files()
    assert 0 == setup("--dry-run")
    shown = capsys.readouterr().out
    assert '+  "plugin": ["opencode-thing@1.2.0", [' in shown
    assert not [line for line in shown.splitlines() if line.startswith(("+", "-")) and "reserved" in line]
    assert before == machine.files()


def test_without_a_terminal_nothing_is_changed(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    before = machine.files()
    assert 1 == setup()
    assert "--yes" in capsys.readouterr().err
    assert before == machine.files()


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    """The person answers this, line by line."""
    terminal = io.StringIO("".join(answers))
    terminal.isatty = lambda: True  # type: ignore[method-assign] - a terminal in all but name
    monkeypatch.setattr("sys.stdin", terminal)


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("\n", 1), ("n\n", 1), ("", 1)])
def test_a_person_is_asked(machine: Machine, monkeypatch: pytest.MonkeyPatch, answer: str, status: int) -> None:
    at_a_terminal(monkeypatch, "\n", answer)
    assert status == setup()
    assert (status == 0) == (machine.user / "opencode.json").exists()


def test_a_password_is_never_written(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNALS_NATS__URL", "nats://ada:hunter2@broker:4222")
    monkeypatch.setenv("ANNALS_NATS__PASSWORD", "hunter2")
    assert 0 == setup("--yes")
    options = read(machine.user / "opencode.json")["plugin"][0][1]
    assert {
        "url": "nats://broker:4222",
        "password_env": "ANNALS_NATS__PASSWORD",
        "compaction": "managed",
    } == options
    assert not [name for name, content in machine.files().items() if b"hunter2" in content]


def test_a_project_gets_its_own_entry(machine: Machine) -> None:
    assert 0 == setup("--project", "--yes")
    assert read(machine.project / "opencode.json")["plugin"]
    assert not (machine.user / "opencode.json").exists()
    assert not (machine.project / "package.json").exists()


def test_a_projects_hidden_configuration_is_found(machine: Machine) -> None:
    path = machine.project / ".opencode" / "opencode.jsonc"
    path.parent.mkdir()
    path.write_text(COMMENTED)
    assert 0 == setup("--project", "--yes")
    assert 2 == len(read(path)["plugin"])
    assert not (machine.project / "opencode.json").exists()


@pytest.mark.parametrize(
    ("json", "jsonc", "changed"),
    [
        ('{"plugin": ["a"]}', "{}", "opencode.json"),
        ('{"plugin": ["a"]}', '{"plugin": ["b"]}', "opencode.jsonc"),
        ("{}", "{}", "opencode.jsonc"),
    ],
)
def test_of_the_users_files_the_one_whose_list_of_plugins_counts_is_changed(
    machine: Machine, json: str, jsonc: str, changed: str
) -> None:
    before = {"opencode.json": json, "opencode.jsonc": jsonc}
    for name, text in before.items():
        (machine.user / name).write_text(text)
    assert 0 == setup("--yes")
    assert [changed] == [name for name, text in before.items() if (machine.user / name).read_text() != text]


def test_a_link_stays_a_link(machine: Machine) -> None:
    real = machine.root / "dotfiles.json"
    real.write_text("{}")
    (machine.user / "opencode.json").symlink_to(real)
    assert 0 == setup("--yes")
    assert (machine.user / "opencode.json").is_symlink()
    assert read(real)["plugin"]


def test_the_bundle_stays_while_another_configuration_needs_it(machine: Machine) -> None:
    setup("--yes")
    setup("--project", "--yes")
    assert 0 == setup("--project", "--remove", "--yes")
    assert bundle.copy_of(machine.data, "opencode").exists()
    assert (machine.user / "package.json").exists()
    assert 0 == setup("--remove", "--yes")
    assert not bundle.copy_of(machine.data, "opencode").exists()
    assert not (machine.user / "package.json").exists()


def test_what_a_person_changed_in_between_stays(machine: Machine) -> None:
    path = machine.user / "opencode.jsonc"
    path.write_text(COMMENTED)
    setup("--yes")
    path.write_text(path.read_text().replace('"opencode-thing@1.2.0"', '"opencode-thing@2.0.0"'))
    assert 0 == setup("--remove", "--yes")
    assert COMMENTED.replace("1.2.0", "2.0.0") == path.read_text()
    assert (machine.user / "opencode.jsonc.before-annals").exists()


def test_who_removes_it_gets_a_hint_to_an_installation_that_goes_on(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    setup("--yes")
    record(machine.data, "opencode")
    setup("--remove", "--yes")
    assert "`annals down` ends it" in capsys.readouterr().out


def test_removing_what_is_not_there_is_fine(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    before = machine.files()
    assert 0 == setup("--remove", "--yes")
    assert "nothing to remove" in capsys.readouterr().out
    assert before == machine.files()


def test_a_conflict_is_refused_and_forced(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    (machine.project / "opencode.json").write_text('{"plugin": ["@tarquinen/opencode-dcp@2"]}')
    before = machine.files()
    assert 1 == setup("--yes")
    assert "@tarquinen/opencode-dcp" in capsys.readouterr().out
    assert before == machine.files()
    assert 0 == setup("--yes", "--force")


def test_a_plugin_in_a_comment_is_no_conflict(machine: Machine) -> None:
    (machine.project / "opencode.json").write_text('{"plugin": [] /* "@tarquinen/opencode-dcp" */}')
    assert 0 == setup("--yes")


def test_a_discovered_plugin_is_a_conflict(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    folder = machine.project / ".opencode" / "plugins"
    folder.mkdir(parents=True)
    (folder / "mine.ts").write_text('export { default } from "magic-context"')
    assert 1 == setup("--yes")
    assert str(folder / "mine.ts") in capsys.readouterr().out


def test_hooks_that_are_disabled_are_no_conflict(machine: Machine) -> None:
    (machine.user / "opencode.json").write_text('{"plugin": ["oh-my-opencode"]}')
    assert 1 == setup("--yes")
    hooks = '["preemptive-compaction", "context-window-monitor", "anthropic-context-window-limit-recovery"]'
    (machine.user / "oh-my-opencode.jsonc").write_text(f'{{"disabled_hooks": {hooks}, /* all */}}')
    assert 0 == setup("--yes")


def test_a_file_that_lets_nothing_compact_while_the_installation_is_away_is_named(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine.project / "opencode.json").write_text('{"compaction": {"auto": false}}')
    assert 0 == setup("--yes")
    assert f"{machine.project / 'opencode.json'} says that compaction.auto is false" in capsys.readouterr().out


def test_what_an_earlier_setup_switched_off_is_given_back_and_reported(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    setup("--yes")
    path = machine.user / "opencode.json"
    path.write_text(append(path.read_text(), (), {"auto": False, "prune": False}, "compaction"))
    (known,) = bundle.load(machine.data, "opencode").values()
    switches_before = (EarlierSwitch("auto", had=False), EarlierSwitch("prune", had=False))
    written = msgspec.structs.replace(
        known.written, switches_before=switches_before, compaction_added=True, patches=(), digest=""
    )  # as an earlier release, and an edit since
    bundle.save(machine.data, "opencode", {str(path): msgspec.structs.replace(known, written=written)})

    assert 0 == setup("--yes")
    assert "It is given back" in capsys.readouterr().out
    assert "compaction" not in read(path)
    assert 0 == setup()
    assert "already connected" in capsys.readouterr().out


def test_who_starts_the_installation_is_switched_and_stays(machine: Machine) -> None:
    def installation() -> object:
        return read(machine.user / "opencode.json")["plugin"][0][1]["house"]

    assert 0 == setup("--yes", "--no-start")
    assert installation() is False
    assert 0 == setup("--yes", "--compaction", "assist")
    assert installation() is False
    assert 0 == setup("--yes", "--start")
    assert installation()


def test_an_unreadable_configuration_stays_as_it_is(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    (machine.user / "opencode.json").write_text('{"plugin": [}')
    before = machine.files()
    assert 1 == setup("--yes")
    assert "line 1, column 13" in capsys.readouterr().err
    assert before == machine.files()


def test_an_installed_folder_is_left_alone(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    (machine.user / "package.json").write_text('{"dependencies": {"zod": "4"}}')
    assert 0 == setup("--yes")
    assert "package.json" in capsys.readouterr().out
    assert not (machine.user / "node_modules").exists()


def test_nothing_stands_in_for_what_a_persons_tools_need(machine: Machine) -> None:
    (machine.user / "tool").mkdir()
    (machine.user / "tool" / "mine.ts").write_text('import { tool } from "@opencode-ai/plugin"')
    assert 0 == setup("--yes")
    assert not (machine.user / "package.json").exists()


def test_what_was_installed_since_is_not_removed(machine: Machine) -> None:
    setup("--yes")
    (machine.user / "node_modules" / "zod").mkdir()
    assert 0 == setup("--remove", "--yes")
    assert (machine.user / "node_modules" / "zod").exists()
    assert (machine.user / "package.json").exists()


def test_a_missing_bundle_is_reported_with_its_remedy(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bundle, "sources", lambda _: (machine.root / "nowhere.mjs",))
    assert 1 == setup("--yes")
    assert "make adapter" in capsys.readouterr().err


@pytest.mark.parametrize(("version", "notes"), [("1.17.9", 1), ("1.18.0", 0), ("2.0.1", 0)])
def test_an_old_opencode_is_reported(
    machine: Machine, capsys: pytest.CaptureFixture[str], version: str, notes: int
) -> None:
    machine.install(version)
    assert 0 == setup("--yes")
    assert notes == capsys.readouterr().out.count("older than 1.18.0")
