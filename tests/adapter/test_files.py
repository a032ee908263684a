"""The adapter's own files: for their owner alone, and never where a link leads."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.adapter.played import FOLDER

DRIVER = Path(__file__).with_name("files.mjs")
WAYS = ("append", "write", "empty")


def did(way: str, path: Path) -> str:
    node = shutil.which("node")
    assert node, "node is missing: install Node.js 20 or later"
    command = [node, str(DRIVER), str(FOLDER), str(path), way]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_its_owners_even_where_it_was_open_to_others(tmp_path: Path, way: str) -> None:
    fresh, wide = tmp_path / "fresh", tmp_path / "wide"
    wide.write_text("old")
    wide.chmod(0o666)
    for path in (fresh, wide):
        assert did(way, path) == "done"
        assert mode(path) == 0o600
    assert wide.read_text() == ("oldnew" if way == "append" else "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "wide"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_there", [True, False])
def test_nothing_is_written_where_a_link_leads(tmp_path: Path, way: str, is_there: bool) -> None:  # noqa: FBT001
    other, link = tmp_path / "other", tmp_path / "link"
    if is_there:
        other.write_text("theirs")
    link.symlink_to(other)
    answer = did(way, link)
    assert (other.read_text() == "theirs") if is_there else not other.exists()
    if way == "write":  # the link itself is replaced by the file
        assert (answer, link.is_symlink(), link.read_text()) == ("done", False, "new")
    else:
        assert "ELOOP" in answer


def test_a_link_in_the_place_of_a_draft_is_removed_and_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("theirs")
    (tmp_path / "file.draft").symlink_to(other)
    assert did("write", tmp_path / "file") == "done"
    assert (other.read_text(), (tmp_path / "file").read_text()) == ("theirs", "new")


@pytest.mark.parametrize("way", ["append", "empty"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, way: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        assert "Error" in did(way, tmp_path / name)


def test_a_folder_is_its_owners_and_one_that_a_person_linked_stays_as_it_is(tmp_path: Path) -> None:
    wide, link = tmp_path / "wide", tmp_path / "link"
    wide.mkdir(mode=0o777)
    wide.chmod(0o777)
    link.symlink_to(wide)
    assert did("folder", tmp_path / "a" / "b") == "done"
    assert did("folder", link) == "done"
    assert mode(wide) == 0o777
    assert did("folder", wide) == "done"
    assert (mode(wide), mode(tmp_path / "a" / "b")) == (0o700, 0o700)
