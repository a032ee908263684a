"""Files of a harness as somebody's repository may bring them: read within bounds, or refused in a sentence."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from services.edges.connect import files
from services.edges.connect.harnesses.opencode import OpenCode, stub
from services.edges.connect.jsonc import UnreadableConfig, parse
from tests.helpers.strange_files import STRANGE

DEEP = "[" * 5_000 + "]" * 5_000
TEXTS = {"deep": DEEP, "deep object": '{"plugin":' + DEEP + "}", "long number": '{"a": ' + "9" * 10_000 + "}"}


@pytest.fixture
def harness(tmp_path: Path) -> OpenCode:
    """OpenCode of a person who has nothing, in a repository."""
    here = tmp_path / "here"
    (here / ".git").mkdir(parents=True)
    return OpenCode({"HOME": str(tmp_path), "PATH": ""}, here)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_that_no_reader_takes_is_refused(text: str) -> None:
    with pytest.raises(UnreadableConfig, match="too"):
        parse(text)


@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
def test_a_configuration_that_is_no_file_is_named_and_nobody_waits_for_it(
    harness: OpenCode, make: Callable[[Path], None]
) -> None:
    make(harness.here / "opencode.json")
    (source,) = harness.sources
    assert source.error


@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
def test_a_plugin_that_cannot_be_loaded_is_known_by_its_name(harness: OpenCode, make: Callable[[Path], None]) -> None:
    folder = harness.here / ".opencode" / "plugin"
    folder.mkdir(parents=True)
    make(folder / "magic-context.js")
    (folder / "other.js").symlink_to("nowhere")
    assert ["magic-context"] == [one.name for one in harness.conflicts()]


@pytest.mark.parametrize(
    "lock", [[], {"packages": []}, {"packages": {"": []}}, {"packages": {"": {"dependencies": 1}}}, None]
)
def test_a_lock_file_of_any_form_declares_nothing(tmp_path: Path, lock: object) -> None:
    (tmp_path / stub.MODULES).mkdir()
    (tmp_path / "package-lock.json").write_text(DEEP if lock is None else json.dumps(lock))
    assert not stub.is_declared(tmp_path)


def test_what_is_longer_than_any_configuration_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 4)
    (tmp_path / "long").write_text("12345")
    (tmp_path / "short").write_text("1234")
    assert "1234" == files.read(tmp_path / "short")
    with pytest.raises(UnreadableConfig, match="longer than"):
        files.read(tmp_path / "long")
