"""A file is written whole or not at all, under the permissions that it shall have."""

import os
import stat
from pathlib import Path

import pytest

from services.edges.launcher.leftover import FILE as PROCESS
from services.edges.launcher.leftover import end_leftover
from services.edges.launcher.room_status import FILE as ROOMS
from services.edges.launcher.room_status import read_status
from services.edges.launcher.run import FILE, current
from services.kit.endpoint import FILE as ENDPOINT
from services.kit.endpoint import FOLDER, read, read_address
from services.kit.files import ForeignFile, open_own, write_whole
from services.kit.index_place import CURRENT, read_current
from services.kit.index_place import FOLDER as INDEX


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


def test_a_draft_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"theirs")
    (tmp_path / ".notes.json.draft").symlink_to("victim")
    write_whole(tmp_path / "notes.json", b"ours")
    assert (b"theirs", b"ours") == ((tmp_path / "victim").read_bytes(), (tmp_path / "notes.json").read_bytes())
    (tmp_path / "link.json").symlink_to("victim")
    write_whole(tmp_path / "link.json", b"ours", mode=0o600)
    assert (b"theirs", False) == ((tmp_path / "victim").read_bytes(), (tmp_path / "link.json").is_symlink())


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
@pytest.mark.parametrize("before", [None, 0o600, 0o644, 0o666, 0o640, 0o400])
def test_a_file_of_ours_is_its_owners_alone_whatever_it_was(tmp_path: Path, umask: int, before: int | None) -> None:
    path = tmp_path / "house.log"
    if before is not None:
        path.write_bytes(b"a")
        path.chmod(before)
    old = os.umask(umask)
    try:
        if before == 0o400 and os.geteuid():
            path.chmod(0o600)
        with os.fdopen(open_own(path), "ab") as file:
            file.write(b"b")
    finally:
        os.umask(old)
    assert (b"b" if before is None else b"ab", 0o600) == (path.read_bytes(), mode_of(path))


@pytest.mark.parametrize("put", ["link", "dangling", "loop", "folder", "pipe"])
def test_what_somebody_put_in_its_place_is_left_alone(tmp_path: Path, put: str) -> None:
    path, victim = tmp_path / "house.log", tmp_path / "victim"
    victim.write_bytes(b"theirs")
    match put:
        case "link":
            path.symlink_to(victim)
        case "dangling":
            path.symlink_to(tmp_path / "nowhere")
        case "loop":
            path.symlink_to(path)
        case "folder":
            path.mkdir()
        case _:
            os.mkfifo(path)
    with pytest.raises(ForeignFile, match="see who put it there"):
        open_own(path)
    assert (b"theirs", False) == (victim.read_bytes(), (tmp_path / "nowhere").exists())


@pytest.mark.parametrize(
    "bytes_left", [b"\0\0\0", b"", b'{"host": "\xff"}', b'{"set": "\xff"}', b'{"x": ' + b"[" * 100_000]
)
def test_a_file_that_a_power_cut_has_spoilt_counts_as_none(tmp_path: Path, bytes_left: bytes) -> None:
    """For everybody who reads a file of this kind: none of them may end with it."""
    (tmp_path / FOLDER).mkdir()
    (tmp_path / INDEX).mkdir()
    names = (FILE, PROCESS, ROOMS, ENDPOINT)
    for path in (tmp_path / FOLDER / "tagger.json", *(tmp_path / name for name in names), tmp_path / INDEX / CURRENT):
        path.write_bytes(bytes_left)
    assert read_address(tmp_path, "tagger", 1) is None
    assert read_current(tmp_path) is None
    assert not end_leftover(tmp_path)
    assert {} == read_status(tmp_path)
    assert current(tmp_path) is None
    assert read(tmp_path) is None
