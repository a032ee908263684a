"""The files of an installation, as an erasure looks at them: what cannot be looked into is no place without it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.edges.erase.files import files_with, links, plain_files, refuse_foreign, spools
from services.kit.bus import Unreachable

NAME = "n" * 250
DEEPEST = 20
"""Folders of such names in each other: their path is longer than the system takes, and so they cannot be read."""


@pytest.fixture(params=["data", "spools"])
def unreadable(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data directory, below which or below whose plugins a folder cannot be looked into."""
    data = tmp_path / "data"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    top = data if request.param == "data" else spools()
    data.mkdir()
    top.mkdir(parents=True, exist_ok=True)
    at = os.open(top, os.O_RDONLY)
    for _ in range(DEEPEST):
        os.mkdir(NAME, dir_fd=at)
        below = os.open(NAME, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    yield data
    shutil.rmtree(top)


def test_a_folder_that_cannot_be_looked_into_is_refused_before_anything_is_changed(unreadable: Path) -> None:
    with pytest.raises(Unreachable, match=r"cannot be looked into .*run this as the user who owns it"):
        refuse_foreign(unreadable)


def test_nobody_hears_that_nothing_is_left_in_one(unreadable: Path) -> None:
    with pytest.raises(Unreachable, match="cannot be looked into"):
        files_with(unreadable, {b"secret-of-many-letters": b"x"})
    with pytest.raises(Unreachable, match="cannot be looked into"):
        links(unreadable)
    with pytest.raises(Unreachable, match="cannot be looked into"):
        list(plain_files(unreadable))
