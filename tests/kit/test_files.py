"""A file is written whole or not at all, under the permissions that it shall have."""

import stat
from pathlib import Path

import pytest

from services.kit.files import write_whole


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_takes_the_place_of_the_old_one_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "notes.json"
    for text in (b"a long first text", b"short"):
        write_whole(path, text)
        assert text == path.read_bytes()
    assert [path] == list(path.parent.iterdir())


def test_a_file_keeps_its_permissions_unless_others_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_bytes(b"")
    path.chmod(0o640)
    write_whole(path, b"x")
    assert 0o640 == mode_of(path)
    write_whole(path, b"x", mode=0o600)
    assert 0o600 == mode_of(path)


def test_a_draft_that_was_left_behind_lends_nobody_its_permissions(tmp_path: Path) -> None:
    draft = tmp_path / ".secret.json.draft"
    draft.write_bytes(b"half of it")
    draft.chmod(0o666)
    write_whole(tmp_path / "secret.json", b"whole", mode=0o600)
    assert (b"whole", 0o600) == ((tmp_path / "secret.json").read_bytes(), mode_of(tmp_path / "secret.json"))
    assert not draft.exists()


def test_what_cannot_be_written_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    write_whole(path, b"old")
    (tmp_path / ".notes.json.draft").mkdir()  # nothing can be written there
    with pytest.raises(OSError, match="draft"):
        write_whole(path, b"new")
    assert b"old" == path.read_bytes()
