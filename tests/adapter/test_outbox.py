"""What the adapter could not hand to the broker is on disk: a harness that is killed then loses nothing."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.adapter.played import FOLDER

DRIVER = Path(__file__).with_name("outbox.mjs")


@pytest.mark.parametrize(
    ("happenings", "spooled"),
    [
        pytest.param(["a", "b"], [["a"], ["a", "b"]], id="the adapter has not noticed yet"),
        pytest.param(["a", "noticed", "b"], [["a"], ["a"], ["a", "b"]], id="it has noticed"),
        pytest.param(["a", "b", "noticed", "c"], [["a"], ["a", "b"], ["a", "b"], ["a", "b", "c"]], id="late"),
        pytest.param(["noticed", "a", "b"], [[], ["a"], ["a", "b"]], id="the broker was never there"),
    ],
)
def test_whatever_the_broker_does_not_take_is_on_disk_in_order(
    happenings: list[str], spooled: list[list[str]], tmp_path: Path
) -> None:
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    command = [node, str(DRIVER), str(FOLDER), str(tmp_path), json.dumps(happenings)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert spooled == json.loads(ran.stdout)
