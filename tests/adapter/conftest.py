"""The adapter, run by node: its pure functions, and its hooks."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.adapter.played import DRIVER as HOOKS
from tests.adapter.played import FOLDER, Harness
from tests.helpers.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
PURE = ROOT / "deploy" / "opencode" / "dist" / "pure.mjs"
DRIVER = Path(__file__).with_name("driver.mjs")

Adapter = Callable[..., Any]


@pytest.fixture(scope="session")
def adapter() -> Iterator[Adapter]:
    """`adapter(name, *given)`: what the adapter's function of this name makes of plain values."""
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    assert PURE.exists(), "the adapter is not built; `make adapter` builds it"
    process = subprocess.Popen([node, str(DRIVER), str(PURE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def call(name: str, *given: object) -> object:
        process.stdin.write(json.dumps({"call": name, "given": given}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())["answer"]

    yield call
    process.stdin.close()
    process.wait(PATIENCE)
    process.stdout.close()


@pytest.fixture(scope="module")
def process() -> Iterator[subprocess.Popen[str]]:
    """What plays the adapter's hooks."""
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    assert (FOLDER.parent / "node_modules" / "esbuild").exists(), (
        "what builds the adapter is missing; `make adapter` brings it"
    )
    command = [node, str(HOOKS), str(FOLDER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield running
        assert running.stdin is not None
        running.stdin.close()


@pytest.fixture
def harness(process: subprocess.Popen[str], tmp_path: Path) -> Harness:
    """OpenCode with one session, and the adapter in it."""
    return Harness(process, tmp_path)
