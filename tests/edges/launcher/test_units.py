"""The unit files of systemd and launchd, to the byte."""

import ctypes
import os
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from services.edges.launcher.units import launchd, systemd
from tests.helpers.examples import examples
from tests.helpers.hostile_names import UNUSABLE, USABLE, names

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
    shell = 'ExecStart=/bin/sh -c "exec \\"$$0\\" \\"$$@\\""'  # systemd takes no program of such a name itself
    assert f'{shell} "/opt/a \\"b\\" \\\\ 100%% $$HOME\\x09tab/annals" up' in lines
    assert 'Environment="ANNALS_DATA=/data/a \\"b\\" \\\\ 100%% $HOME\\x09tab"' in lines


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


@given(names)
@settings(max_examples=examples(200))
def test_an_agent_says_every_name_that_launchd_can_be_given(name: str) -> None:
    if re.search(r"[\x00-\x1f\x7f]", name):
        return  # `annals service` refuses it
    path = Path("/", name)
    agent = plistlib.loads(launchd((str(path / "annals"), "up"), path, path / "environment", path).encode())
    assert [str(path / "environment"), str(path / "annals"), "up"] == agent["ProgramArguments"][-3:]
    assert {"ANNALS_DATA": str(path)} == agent["EnvironmentVariables"]


@given(names)
@settings(max_examples=examples(200))
def test_no_name_begins_a_line_of_its_own_in_a_unit(name: str) -> None:
    path = Path("/", name)
    plain = systemd(COMMAND, DATA, VARIABLES)
    unit = systemd((str(path / "annals"), "up"), path, path / "environment")
    assert [line.partition("=")[0] for line in plain.splitlines()] == [
        line.partition("=")[0] for line in re.split(r"[\r\n]", unit)[:-1]
    ]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd asks the C library of Linux")
@pytest.mark.parametrize("name", [*USABLE, *UNUSABLE[:-1]])
def test_the_file_of_variables_is_found_by_the_pattern_that_systemd_is_given(tmp_path: Path, name: str) -> None:
    file = tmp_path / name / "environment"
    file.parent.mkdir()
    file.touch()
    (tmp_path / "other").mkdir()
    pattern = next(
        line for line in systemd(COMMAND, DATA, file).split("\n") if line.startswith("EnvironmentFile=")
    ).removeprefix("EnvironmentFile=-")
    assert [str(file)] == found_by(pattern.replace("%%", "%"))


def found_by(pattern: str) -> list[str]:
    """What `glob` of the C library finds, which systemd asks."""

    class Found(ctypes.Structure):
        _fields_ = (
            ("count", ctypes.c_size_t),
            ("paths", ctypes.POINTER(ctypes.c_char_p)),
            ("rest", ctypes.c_byte * 64),
        )

    found = Found()
    ctypes.CDLL(None).glob(os.fsencode(pattern), 0, None, ctypes.byref(found))
    return [os.fsdecode(found.paths[number] or b"") for number in range(found.count)]


@pytest.mark.parametrize("name", ["da ta", *USABLE, *UNUSABLE[:-1]])
def test_systemd_finds_nothing_wrong_with_it(tmp_path: Path, name: str) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not installed here")
    unit = tmp_path / "annals.service"
    program = tmp_path / name / "annals"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    data = tmp_path / ("da ta" if name in UNUSABLE else name)
    unit.write_text(systemd((str(program), "a b"), data, tmp_path / name / "no file"))
    ended = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert "annals.service" not in ended.stderr + ended.stdout, ended.stderr
