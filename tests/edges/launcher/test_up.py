"""`annals up`, where it cannot begin."""

import os
import subprocess
import sys
from pathlib import Path


def test_a_folder_that_cannot_be_made_is_reported_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    ended = subprocess.run(
        [sys.executable, "-m", "services.edges.cli", "up"],
        env={**os.environ, "ANNALS_DATA": str(tmp_path / "taken" / "data")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 1 == ended.returncode
    assert ended.stderr.startswith("annals: ")
    assert str(tmp_path / "taken") in ended.stderr
    assert "Traceback" not in ended.stderr
