"""The adapter's own files: for their owner alone, and never where a link leads."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.adapter.played import FOLDER

PATIENCE = 60
"""Seconds after which a reader that waits for a pipe is ended."""
DRIVER = Path(__file__).with_name("files.mjs")
WAYS = ("append", "write", "empty")
FOUND = '{"url": "nats://127.0.0.1:1", "p/m": {"context_limit": 7}}'
READERS = {
    "read a text": FOUND,
    "read an address": "nats://127.0.0.1:1",
    "read facts of models": "7",
    "read lines": "nats://127.0.0.1:1",
}


def did(way: str, path: Path) -> str:
    node = shutil.which("node")
    assert node, "node is missing: install Node.js 20 or later"
    command = [node, str(DRIVER), str(FOLDER), str(path), way]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout.strip()


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


@pytest.mark.parametrize("way", READERS)
def test_a_file_of_ones_own_is_read(tmp_path: Path, way: str) -> None:
    (tmp_path / "file").write_text(FOUND)
    assert READERS[way] == did(way, tmp_path / "file")


@pytest.mark.parametrize("way", READERS)
def test_nothing_is_read_where_a_link_leads(tmp_path: Path, way: str) -> None:
    (tmp_path / "other").write_text(FOUND)
    (tmp_path / "link").symlink_to("other")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to a folder").symlink_to("folder")
    (tmp_path / "to nothing").symlink_to("nothing")
    for name in ("link", "to a folder", "to nothing"):
        answer = did(way, tmp_path / name)
        assert answer.startswith(("Error: ", "nothing")), answer


@pytest.mark.parametrize("way", READERS)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, way: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        answer = did(way, tmp_path / name)
        assert answer.startswith(("Error: ", "nothing")), answer


def test_a_linked_address_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "other").write_text(FOUND)
    (tmp_path / "broker.json").symlink_to("other")
    answer = did("read an address", tmp_path / "broker.json")
    assert f"{tmp_path / 'broker.json'} is a link, and is not followed" in answer
    assert "Remove the link" in answer


def test_a_file_of_another_name_is_not_emptied(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("theirs")
    os.link(other, tmp_path / "file")
    assert "see who put it there" in did("empty", tmp_path / "file")
    assert "theirs" == other.read_text()
