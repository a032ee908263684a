"""Commands that are run in a folder that is gone, has no text as its name, or is further down than a path is long."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.command_line import ended

SENTENCE = "annals: the directory that you are in was deleted: change to one that is there, and run this again\n"
COMMANDS = (
    ["memory", "list"], ["search", "tide"], ["project", "show"], ["status"], ["config", "show"], ["show", "s1"],
)  # fmt: skip


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Go to a folder below the test's own, which is made, name by name."""
    for name in [name for name in os.environ if name.startswith("ANNALS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANNALS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)

    def gone_to(folder: Path) -> None:
        for name in folder.parts:
            Path(name).mkdir(exist_ok=True)
            os.chdir(name)

    return gone_to


def test_in_a_folder_that_is_gone_a_sentence_says_so(
    go: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    go(Path("gone"))
    Path("../gone").rmdir()
    for words in COMMANDS:
        assert (1, "", SENTENCE) == ended(words, capsys), words


@pytest.mark.parametrize(
    "folder", [Path(*["d" * 200] * 25), Path("raw\udcff"), Path("new\nline")], ids=["deep", "raw", "line"]
)
def test_in_a_folder_of_any_name_commands_say_what_they_say_elsewhere(
    go: Callable[[Path], None], capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    elsewhere = [ended(words, capsys) for words in COMMANDS]
    assert any(one.status == 0 for one in elsewhere)
    go(folder)
    assert elsewhere == [ended(words, capsys) for words in COMMANDS]
