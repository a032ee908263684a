"""Where a command cannot leave its file, it says so before it works, and what to name instead."""

import os
from pathlib import Path

import pytest

from services.edges.output_file import UnwritableFile, check_writable
from tests.bench.compressing import SHOP
from tests.helpers.command_line import ended
from tests.helpers.wrong_input import CODE, PATHS

MAY = {"empty", "binary", "no JSON", "another JSON", "list", "deep", "missing", "device", "cut", "no Unicode"}
"""Kinds of wrong paths at which a file can be left: what is there is written over, and names may be no Unicode."""


@pytest.mark.parametrize("kind", PATHS)
def test_a_path_is_taken_or_refused_in_a_sentence_with_a_remedy(kind: str, tmp_path: Path) -> None:
    path = PATHS[kind](tmp_path)
    if kind in MAY:
        check_writable(path)
        return
    with pytest.raises(UnwritableFile, match=r"name another|name a file in it|make it, or name another file") as raised:
        check_writable(path)
    assert not CODE.search(str(raised.value))
    assert len(str(raised.value)) < 500


def test_nothing_is_written_by_looking(tmp_path: Path) -> None:
    check_writable(tmp_path / "out.svg", (".svg", ".png"))
    assert [] == list(tmp_path.iterdir())


def test_an_ending_that_it_cannot_have_is_refused_with_those_that_it_can(tmp_path: Path) -> None:
    with pytest.raises(UnwritableFile, match=r"does not end with \.svg or \.png: name a file that does"):
        check_writable(tmp_path / "out.txt", (".svg", ".png"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_written_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    path.write_bytes(b"")
    place = path if what == "file" else tmp_path
    path = path if what == "file" else tmp_path / "new.svg"
    place.chmod(0o500)
    try:
        with pytest.raises(UnwritableFile, match="may not be written: name another file"):
            check_writable(path)
    finally:
        place.chmod(0o700)


@pytest.mark.parametrize("option", ["--steps", "--log"])
def test_a_replay_says_so_before_it_plays(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = ended(("replay", str(SHOP), option, str(tmp_path)), capsys)
    assert (1, "") == (found.status, found.out)
    assert f"{tmp_path} is a directory: name a file in it" in found.error
