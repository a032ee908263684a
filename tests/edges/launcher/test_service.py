"""`annals service install` and `remove`, on this system and on one whose manager of services answers."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from services.edges.cli import main
from services.edges.launcher import service as services
from services.edges.launcher.run import FILE, current, record
from services.edges.launcher.service import Service, Unsupported, install, remove, service
from services.settings import Settings

MANAGER = """#!/bin/sh
echo "$@" >> "{log}"
{then}
"""


class Machine:
    """A home, a data directory, and a manager of services that records its calls."""

    def __init__(self, root: Path) -> None:
        self.programs = root / "bin"
        self.programs.mkdir()
        self.settings = Settings(data=root / "data")
        self.environment = {"HOME": str(root / "home"), "PATH": str(self.programs)}
        self.log = root / "calls"

    def has(self, manager: str, then: str = "") -> None:
        program = self.programs / manager
        program.write_text(MANAGER.format(log=self.log, then=then))
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        calls = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return calls

    @property
    def unit(self) -> Path:
        return service(self.settings, self.environment).path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setenv("PATH", os.defpath)  # for the shell of the manager
    machine = Machine(tmp_path)
    yield machine
    (machine.settings.data / FILE).unlink(missing_ok=True)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="its manager is systemd")


@linux
def test_it_is_written_enabled_and_started_and_a_second_time_nothing_is_written(machine: Machine) -> None:
    machine.has("systemctl")
    answer = install(machine.settings, machine.environment)
    assert "is written; the installation is started" in answer
    unit = "annals.service"
    assert ["--user daemon-reload", f"--user enable {unit}", f"--user restart {unit}"] == machine.calls
    text = machine.unit.read_text()
    assert f"Environment=ANNALS_DATA={machine.settings.data}" in text
    before = machine.unit.stat().st_mtime_ns
    assert "is as it should be" in install(machine.settings, machine.environment)
    assert before == machine.unit.stat().st_mtime_ns


@linux
def test_a_service_that_runs_is_left_running_unless_its_file_has_changed(machine: Machine) -> None:
    machine.has("systemctl")
    install(machine.settings, machine.environment)
    record(machine.settings.data, "service")
    assert machine.calls
    assert "runs as a service" in install(machine.settings, machine.environment)
    assert [] == machine.calls
    machine.unit.write_text("# of an older release\n")
    install(machine.settings, machine.environment)
    assert "--user restart annals.service" in machine.calls


@linux
def test_an_installation_that_runs_otherwise_is_not_disturbed(machine: Machine) -> None:
    machine.has("systemctl")
    machine.settings.data.mkdir()
    record(machine.settings.data, "opencode")
    answer = install(machine.settings, machine.environment)
    assert "started by OpenCode's plugin" in answer
    assert "`annals down`" in answer
    assert ["--user daemon-reload", "--user enable annals.service"] == machine.calls


@linux
@pytest.mark.parametrize("then", ["", 'echo "Failed to connect to bus" >&2; exit 1'])
def test_where_the_manager_does_not_answer_the_command_to_run_is_printed(machine: Machine, then: str) -> None:
    if then:
        machine.has("systemctl", then)
    answer = install(machine.settings, machine.environment)
    assert ("Failed to connect to bus" if then else "systemctl is not on the path") in answer
    assert "run: systemctl --user daemon-reload && systemctl --user enable annals.service" in answer
    assert machine.unit.exists()
    answer = remove(machine.settings, machine.environment)
    assert "run: systemctl --user disable --now annals.service" in answer
    assert not machine.unit.exists()


@linux
def test_removing_stops_it_first_and_keeps_the_data(machine: Machine) -> None:
    machine.has("systemctl", f'test -e "{machine.unit}" && echo there >> "{machine.log}"')
    install(machine.settings, machine.environment)
    assert machine.calls
    machine.has("systemctl", f'test -e "{machine.unit}" && echo there >> "{machine.log}" || true')
    assert "is gone" in remove(machine.settings, machine.environment)
    assert ["--user disable --now annals.service", "there", "--user daemon-reload"] == machine.calls
    assert machine.settings.data.exists()
    assert "nothing to remove" in remove(machine.settings, machine.environment)
    assert [] == machine.calls


@linux
def test_a_dry_run_shows_the_file_and_writes_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has("systemctl")
    for name, value in {**machine.environment, "ANNALS_DATA": str(machine.settings.data)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert 0 == main(["service", "install", "--dry-run"])
    assert "+ExecStart=" in capsys.readouterr().out
    assert not machine.unit.parent.exists()
    assert [] == machine.calls
    assert 0 == main(["service", "install"])
    assert machine.calls
    assert 0 == main(["service", "remove", "--dry-run"])
    assert "-ExecStart=" in capsys.readouterr().out
    assert machine.unit.exists()
    assert [] == machine.calls


def test_on_a_mac_it_is_an_agent(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.has("launchctl")
    agent = service(machine.settings, machine.environment, "darwin")
    monkeypatch.setattr(services, "service", lambda *_: agent)
    assert "is written; the installation is started" in install(machine.settings, machine.environment)
    domain = f"gui/{os.getuid()}"
    assert [f"bootout {domain}/annals.house", f"bootstrap {domain} {agent.path}"] == machine.calls
    assert agent.text == agent.path.read_text()
    assert "is gone" in remove(machine.settings, machine.environment)
    assert [f"bootout {domain}/annals.house"] == machine.calls


LAUNCHD = """\
case "$1" in
bootstrap)
  test -e "{loaded}" && echo "Bootstrap failed: 5: Input/output error" >&2 && exit 5
  : > "{loaded}" ;;
bootout)
  test -e "{loaded}" || {{ echo "Boot-out failed: 3: No such process" >&2; exit 3; }}
  /bin/rm "{loaded}" ;;
esac
"""
"""A manager that loads an agent once, and keeps it loaded when what it has started has ended."""


@pytest.fixture
def agent(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Service:
    """What is installed on a Mac, whose manager answers."""
    machine.has("launchctl", LAUNCHD.format(loaded=machine.log.with_name("loaded")))
    agent = service(machine.settings, machine.environment, "darwin")
    monkeypatch.setattr(services, "service", lambda *_: agent)
    return agent


def test_on_a_mac_an_agent_whose_installation_has_ended_is_started_again(machine: Machine, agent: Service) -> None:
    """`annals down` ends the installation, and leaves the agent loaded."""
    assert "the installation is started" in install(machine.settings, machine.environment)
    answer = install(machine.settings, machine.environment)
    assert f"{agent.path} is as it should be; the installation is started" in answer


def test_on_a_mac_the_command_to_run_by_hand_starts_an_agent_that_is_loaded(machine: Machine, agent: Service) -> None:
    install(machine.settings, machine.environment)
    record(machine.settings.data, "opencode")
    answer = install(machine.settings, machine.environment)
    by_hand = answer.partition("has the service start it: ")[2]
    assert machine.calls
    subprocess.run(["/bin/sh", "-c", by_hand], env=machine.environment, check=True)
    domain = f"gui/{os.getuid()}"
    assert [f"bootout {domain}/annals.house", f"bootstrap {domain} {agent.path}"] == machine.calls


def test_elsewhere_it_is_reported_that_there_is_none(machine: Machine) -> None:
    with pytest.raises(Unsupported, match="annals up --detach"):
        service(machine.settings, machine.environment, "win32")


def test_a_run_is_printed_in_one_line(tmp_path: Path) -> None:
    record(tmp_path, "service")
    run = current(tmp_path)
    assert run is not None
    at = datetime(2026, 3, 7, 13, 5, tzinfo=UTC)
    calls = msgspec.structs.replace(run, at=at, pid=7).line
    assert "runs as a service since 2026-03-07 13:05 UTC (pid 7)" == calls
