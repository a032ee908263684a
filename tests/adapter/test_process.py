"""The whole plugin in one process, with several directories and no service: what the person is told."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.adapter.conftest import ROOT

BUNDLE = ROOT / "deploy" / "opencode" / "dist" / "annals.mjs"
DRIVER = Path(__file__).with_name("process.mjs")


class Process:
    """One process of the harness."""

    def __init__(self, running: "subprocess.Popen[str]") -> None:
        self._running = running

    def turn(self, directory: Path, session: str) -> list[list[str]]:
        """A turn of one step; where the person was told something, and what."""
        return self._do("turn", str(directory), session)

    def logged(self, text: str, times: int = 1) -> list[list[str]]:
        """Wait until the adapter has noted this so often."""
        return self._do("logged", text, times)

    def _do(self, way: str, *given: object) -> list[list[str]]:
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        self._running.stdin.write(json.dumps({"way": way, "given": given}) + "\n")
        self._running.stdin.flush()
        told: list[list[str]] = json.loads(self._running.stdout.readline())
        return told


@contextmanager
def started(root: Path, **options: object) -> Iterator[Process]:
    """A process whose plugin finds no broker."""
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    said = {"broker": str(root / "broker.json"), "state": str(root / "state"), "patience": 0.01, **options}
    (root / "broker.json").write_text('{"url": "nats://127.0.0.1:1"}')
    command = [node, str(DRIVER), BUNDLE.as_uri(), json.dumps(said)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield Process(running)
        assert running.stdin is not None
        running.stdin.close()


def test_in_two_directories_the_person_is_told_once(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        first, second = (tmp_path / name for name in ("first", "second"))
        told = [*process.turn(first, "a"), *process.turn(second, "b"), *process.turn(first, "a")]
    ((place, notice),) = told
    assert str(first) == place
    assert "OpenCode compacts by itself" in notice
