import os
from pathlib import Path

import pytest

from services.settings import Nats, load
from tests.helpers.surroundings import surroundings


def test_what_a_developer_has_set_is_seen_by_no_process_of_a_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANNALS_NATS__URL", "nats://127.0.0.1:1")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/of/ada")
    seen = surroundings(tmp_path / "home")
    assert Nats() == load(seen).settings.nats
    assert {"ANNALS_NATS__URL", "XDG_CONFIG_HOME"} <= {*os.environ} - {*seen}
    assert str(tmp_path / "home") == seen["HOME"]
    assert os.environ["PATH"] == seen["PATH"]
