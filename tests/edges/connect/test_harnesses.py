"""Another harness is one file: here a made-up one, next to those that Annals knows."""

import io
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from schemas.asks import ClientManifest
from services.edges.arguments import parser
from services.edges.cli import main
from services.edges.connect import bundle, harnesses
from services.edges.connect.connection import Reported, ReportedAdapter
from services.edges.connect.doctor import examine, present
from services.edges.connect.findings import Finding, is_well
from services.edges.launcher.detach import command
from services.edges.launcher.run import current, record
from services.settings import Settings

pytestmark = pytest.mark.slow

ED = Path(__file__).with_name("ed.py")
CONNECT = Path(bundle.__file__).parent
EARLIER = "# Ada's\nload /opt/spell.mjs {}\n"


class Machine:
    """A home with an Ed in it, a project, and the data of an installation."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.data = root / "data"
        self.built = root / "built" / "annals.mjs"
        for folder in (self.home, self.project, self.data, self.built.parent):
            folder.mkdir(parents=True)
        self.built.write_text("export default {}")
        self.config = self.home / ".edrc"
        self.config.write_text(EARLIER)
        self.settings = Settings(data=self.data)
        self.environment = {"HOME": str(self.home), "PATH": ""}

    @property
    def there(self) -> list[str]:
        return [harness.name for harness in present(self.environment, self.project)]

    def judged(self, reported: Reported) -> dict[str, Finding]:
        harness = harnesses.load("ed")(self.environment, self.project)
        return {finding.what: finding for finding in harness.judge(self.settings, reported)}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A machine on which Ed's file lies in a folder of harnesses."""
    folder = tmp_path / "harnesses"
    folder.mkdir()
    shutil.copy(ED, folder / "ed.py")
    monkeypatch.setattr(harnesses, "__path__", [*harnesses.__path__, str(folder)])
    machine = Machine(tmp_path)
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("ANNALS_DATA", str(machine.data))
    monkeypatch.delenv("ANNALS_NATS__URL", raising=False)
    monkeypatch.setattr(bundle, "sources", lambda _: (machine.built,))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.chdir(machine.project)
    parser.cache_clear()  # it names the harnesses that there are
    yield machine
    parser.cache_clear()


def unwell(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(finding.level, finding.what) for finding in findings if finding.level != "PASS"]


def test_a_file_more_is_a_harness_more(machine: Machine) -> None:
    assert {"ed", "opencode"} <= {*harnesses.names()}
    assert ["ed"] == machine.there
    machine.config.unlink()
    assert [*harnesses.names()] == machine.there


def test_it_is_connected_and_left_as_it_was(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["setup", "ed", "--yes"])
    assert "Connected: " in (config := capsys.readouterr().out)
    assert "Ed takes part from its next start on" in config
    copy = machine.data / "adapters" / "ed" / "annals.mjs"
    assert machine.built.read_bytes() == copy.read_bytes()
    offered = msgspec.json.decode(copy.with_name("guide.json").read_bytes(), type=ClientManifest)
    assert "ctx_reduce" in [tool.name for tool in offered.tools]
    *earlier, line = machine.config.read_text().splitlines()
    assert EARLIER.splitlines() == earlier
    start = {"command": [*command(), "up", "--detach", "--kept-by", "ed"], "data": str(machine.data)}
    options = {"broker": str(machine.data / "broker.json"), "house": start, "compaction": "managed"}
    assert ["load", copy.as_uri(), options] == [*line.split(" ", 2)[:2], msgspec.json.decode(line.split(" ", 2)[2])]
    assert 0 == main(["setup", "ed", "--yes"])
    assert "already connected" in capsys.readouterr().out
    assert 0 == main(["setup", "ed", "--remove", "--yes"])
    assert EARLIER == machine.config.read_text()
    assert not (machine.data / "adapters").exists()


def test_what_it_cannot_change_and_what_is_in_its_way_is_reported(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.config.write_text("load vi\n")
    assert 1 == main(["setup", "ed", "--yes"])
    assert "it edits the same lines" in capsys.readouterr().out
    machine.config.write_text("\0")
    assert 1 == main(["setup", "ed", "--yes"])
    assert f"{machine.config} stays as it is: it is no text" in capsys.readouterr().err
    assert "\0" == machine.config.read_text()


def test_the_doctor_judges_it(machine: Machine) -> None:
    assert "annals setup ed" in machine.judged(Reported())["plugin"].remedy
    assert 0 == main(["setup", "ed", "--yes"])
    at_work = ReportedAdapter("2026-01-01", "0.1.0", "2.0", bundle.installed("ed"))
    assert [] == unwell(list((judged := machine.judged(Reported(at_work))).values()))
    assert "0.1.0 in Ed 2.0" in judged["adapter"].finding
    assert ["ed", "bundle", "broker option", "start", "adapter"] == list(judged)
    machine.built.write_text("export default { id: 2 }")
    judged = machine.judged(Reported(is_silent=True))
    assert [("WARN", "bundle"), ("WARN", "adapter")] == unwell(list(judged.values()))
    assert "run `annals setup ed` again, then restart Ed" == judged["bundle"].remedy


async def test_of_several_harnesses_the_doctor_names_each(machine: Machine) -> None:
    before = [finding.what for finding in await examine(machine.settings, machine.environment, machine.project)]
    assert "plugin" in before
    (machine.home / ".config" / "opencode").mkdir(parents=True)
    (machine.home / ".config" / "opencode" / "opencode.json").write_text("{}")
    findings = await examine(machine.settings, machine.environment, machine.project)
    assert not is_well(findings)  # nothing runs here
    assert {"ed: ed", "ed: plugin", "opencode: opencode", "opencode: plugin"} <= {one.what for one in findings}


def test_who_started_the_installation_is_reported(machine: Machine) -> None:
    record(machine.data, "ed")
    run = current(machine.data)
    assert run is not None
    assert run.line.startswith("runs started by the plugin for ed since")


def test_what_all_harnesses_share_names_none() -> None:
    shared = ("base", "bundle", "connection", "doctor", "findings", "setup", "written")
    words = {word for name in harnesses.names() for word in (name, harnesses.load(name).title.lower())}
    files = [CONNECT / f"{name}.py" for name in shared]
    assert [] == [(path.name, word) for path in files for word in words if word in path.read_text().lower()]
