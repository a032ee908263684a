"""What the adapter calls a project: the same over restarts and a git that fails, and told when it has changed."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.adapter.conftest import ROOT

RUN = """
import { createRequire } from "node:module";
const [folder, given] = process.argv.slice(1);
const { buildSync } = createRequire(`${folder}/package.json`)("esbuild");
const stdin = { contents: 'export { identify } from "./identity.ts";', resolveDir: `${folder}/../adapter-core/src` };
const built = buildSync({ stdin, bundle: true, platform: "node", format: "esm", write: false });
const { identify } = await import(`data:text/javascript,${encodeURIComponent(built.outputFiles[0].text)}`);
const { commit, root, state } = JSON.parse(given);
const notes = [];
const found = identify(commit, root, state, { note: (text) => notes.push(text) });
console.log(JSON.stringify({ ...found, notes }));
"""


def identify(root: Path, state: Path, commit: str = "", home: Path | None = None) -> dict[str, Any]:
    node = shutil.which("node")
    assert node, "node is missing: install Node.js 20 or later"
    given = msgspec.json.encode({"commit": commit, "root": str(root), "state": str(state)}).decode()
    call = [node, "--input-type=module", "-e", RUN, str(ROOT / "deploy" / "opencode"), given]
    environment = {"PATH": str(Path(node).parent), "HOME": str(home or state)}
    done = subprocess.run(call, check=True, capture_output=True, text=True, env=environment)
    return dict(msgspec.json.decode(done.stdout))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def test_a_repository_is_one_project_in_every_clone(root: Path, state: Path, tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    ids = {identify(place, state, "abc")["id"] for place in (root, tmp_path / "clone")}
    assert {"git-abc"} == ids


def test_a_git_that_fails_once_makes_no_other_project(root: Path, state: Path) -> None:
    assert "git-abc" == identify(root, state, "abc")["id"]
    assert {"id": "git-abc", "formerly": "", "home": False, "notes": []} == identify(root, state)


def test_a_directory_that_becomes_a_repository_says_once_what_it_was(root: Path, state: Path) -> None:
    before = identify(root, state)
    assert before["id"].startswith("dir-")
    assert ["git-abc", before["id"]] == [(now := identify(root, state, "abc"))["id"], now["formerly"]]
    assert ["git-abc", ""] == [(now := identify(root, state, "abc"))["id"], now["formerly"]]


def test_a_home_directory_is_told_as_such(root: Path, state: Path) -> None:
    assert identify(root, state, home=root)["home"]
    assert not identify(root / "..", state, home=root)["home"]


def test_names_that_cannot_be_read_or_written_stop_nothing(root: Path, state: Path, tmp_path: Path) -> None:
    (state / "projects.json").write_text("[1,")
    assert "git-abc" == identify(root, state, "abc")["id"]
    nowhere = identify(root, tmp_path / "missing", "abc")
    assert ("git-abc", ["a project's name was not kept"]) == (nowhere["id"], nowhere["notes"])
