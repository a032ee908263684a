"""What systemd and launchd are told, to the byte."""

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from services.edges.launcher.units import launchd, systemd

COMMAND = ("/opt/annals/bin/annals", "up", "--kept-by", "service")
DATA = Path("/home/ada/.local/share/annals")
VARIABLES = Path("/home/ada/.config/annals/environment")
GOLDEN = Path(__file__).parent / "golden"


def test_the_unit_is_the_golden_one() -> None:
    assert (GOLDEN / "annals.service").read_text() == systemd(COMMAND, DATA, VARIABLES)


def test_the_agent_is_the_golden_one() -> None:
    assert (GOLDEN / "annals.house.plist").read_text() == launchd(COMMAND, DATA, VARIABLES, DATA / "house.log")


ODD = 'a "b" \\ 100% $HOME\ttab'


def test_odd_paths_are_one_word_and_no_variable() -> None:
    lines = systemd((f"/opt/{ODD}/annals", "up"), Path(f"/data/{ODD}"), VARIABLES).splitlines()
    assert 'ExecStart="/opt/a \\"b\\" \\\\ 100%% $$HOME\ttab/annals" up' in lines
    assert 'Environment="ANNALS_DATA=/data/a \\"b\\" \\\\ 100%% $HOME\ttab"' in lines


def test_a_line_break_begins_no_line_of_its_own() -> None:
    unit = systemd(COMMAND, Path("/data/x\nExecStartPre=/bin/false"), Path("/x\nExecStartPre=/bin/false"))
    assert not [line for line in unit.splitlines() if line.startswith("ExecStartPre")]


def test_odd_paths_reach_launchd_as_they_are() -> None:
    agent = plistlib.loads(launchd((f"/opt/{ODD}/annals", "up"), Path(f"/data/{ODD}"), VARIABLES, DATA).encode())
    assert [f"/opt/{ODD}/annals", "up"] == agent["ProgramArguments"][-2:]
    assert {"ANNALS_DATA": f"/data/{ODD}"} == agent["EnvironmentVariables"]


@pytest.mark.parametrize("has_file", [True, False])
def test_the_shell_before_the_installation_reads_the_file_of_variables_where_there_is_one(
    tmp_path: Path, *, has_file: bool
) -> None:
    variables = tmp_path / "environment"
    if has_file:
        variables.write_text("ANNALS_MODEL__CHAIN='[\"anthropic/claude\"]'\n")
    agent = plistlib.loads(launchd(("/usr/bin/env",), DATA, variables, DATA).encode())
    ended = subprocess.run(agent["ProgramArguments"], env={}, capture_output=True, text=True, check=True)
    assert has_file == ('ANNALS_MODEL__CHAIN=["anthropic/claude"]' in ended.stdout.splitlines())


def test_systemd_finds_nothing_wrong_with_it(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not installed here")
    unit = tmp_path / "annals.service"
    unit.write_text(systemd(("/bin/true", "a b"), tmp_path / "da ta", tmp_path / "no file"))
    ended = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert "annals.service" not in ended.stderr + ended.stdout, ended.stderr
