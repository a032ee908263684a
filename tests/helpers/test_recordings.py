"""Foreign recordings are where a variable names them, and nowhere else."""

import os
from pathlib import Path

import pytest

from tests.helpers import recordings
from tests.helpers.recordings import FOREIGN, OF_TESTS, foreign_files


def test_where_no_folder_is_named_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OF_TESTS, raising=False)
    assert (None, ()) == (recordings.foreign(), foreign_files("*"))
    monkeypatch.setenv(FOREIGN, "")
    assert (None, ()) == (recordings.foreign(), foreign_files("*"))


def test_they_are_found_in_the_folder_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "b.json").touch()
    (tmp_path / "a.json").touch()
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv(FOREIGN, tmp_path.name)
    assert tmp_path / "c" == recordings.foreign("c")
    assert [tmp_path / "a.json", tmp_path / "b.json"] == foreign_files("*.json")


def test_what_is_tested_has_no_variable_of_the_tests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(OF_TESTS, "")
    monkeypatch.setenv(FOREIGN, str(tmp_path))
    recordings.rename_variable()
    assert FOREIGN not in os.environ
    assert tmp_path == recordings.foreign("")


def test_a_name_that_leads_nowhere_is_reported_and_skips_no_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(FOREIGN, str(tmp_path / "away"))
    with pytest.raises(NotADirectoryError, match=f"{FOREIGN} names .*away, which is no folder"):
        recordings.foreign()


def test_who_needs_them_is_marked(request: pytest.FixtureRequest, foreign: Path) -> None:
    assert foreign.is_dir()
    assert request.node.get_closest_marker("recorded") is not None
