"""A command that is a copy of a process does what a new process does."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.annals_command import annals
from tests.helpers.copied_commands import ANNALS
from tests.helpers.surroundings import surroundings

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("words", [("config", "show", "--json"), ("nonsense",), ("erase", "secret", "-")])
def test_it_ends_and_prints_as_a_new_one_does(words: tuple[str, ...], tmp_path: Path) -> None:
    """It has its own variables, folder and input: `erase` reads a secret from that, which here is too short."""
    environment = {**surroundings(tmp_path / "home"), "ANNALS_DATA": str(tmp_path / "data")}
    (tmp_path / "place").mkdir()
    new = subprocess.run(
        [sys.executable, "-m", ANNALS, *words],
        env={**environment, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path / "place",
        input="short",
        capture_output=True,
        text=True,
        check=False,
    )
    copy = annals(*words, environment=environment, folder=tmp_path / "place", text="short")
    assert (new.returncode, new.stdout, new.stderr) == (copy.returncode, copy.stdout, copy.stderr)
    assert new.stdout + new.stderr
