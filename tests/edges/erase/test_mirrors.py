"""A mirror is looked through with all that git has stored in it."""

import subprocess
from pathlib import Path

import pytest

from services.domain.erasure.secret import spellings
from services.edges.erase.files import mirrors_with


def in_git(folder: Path, *words: str) -> None:
    user = ("-c", "user.name=ada", "-c", "user.email=ada@harbour.example")
    subprocess.run(["git", *user, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("place", ["message", "file", "branch", "tag", "left"])
async def test_it_is_found_wherever_git_has_it(tmp_path: Path, place: str) -> None:
    mirror = tmp_path / "mirrors" / "harbour.git"
    mirror.mkdir(parents=True)
    in_git(mirror, "init", "-q", "--initial-branch=head", ".")
    word = {one: "kestrels" if one == place else "harbour" for one in ("message", "file", "branch", "tag", "left")}
    in_git(mirror, "commit", "-q", "--allow-empty", "-m", word["left"])
    (mirror / word["file"]).write_text("x")
    in_git(mirror, "add", ".")
    in_git(mirror, "commit", "-q", "--amend", "-m", word["message"])
    in_git(mirror, "branch", word["branch"])
    in_git(mirror, "tag", "-a", "v1", "-m", word["tag"])
    assert [mirror] == await mirrors_with(tmp_path, spellings("kestrels"))
    assert [] == await mirrors_with(tmp_path, spellings("cormorants"))
