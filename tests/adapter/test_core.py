"""What adapters have in common: it knows no harness, and speaks the language as the schemas have it today."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.adapter.conftest import ROOT

DEPLOY = ROOT / "deploy"
CORE = DEPLOY / "adapter-core"
SCHEMAS = ROOT / "schemas" / "json"
IMPORT = re.compile(r'\b(?:from|import)\s*\(?\s*"([^"]+)"')
HARNESSES = sorted(
    path.parent.name
    for path in DEPLOY.glob("*/package.json")
    if path.parent != CORE and "node_modules" not in path.parts
)


def sources(package: Path) -> list[Path]:
    return sorted(package.glob("src/**/*.ts"))


def imports(path: Path) -> list[str]:
    return IMPORT.findall(path.read_text())


READS = re.compile(r"\b(?:readFile(?:Sync)?|openSync|createReadStream|open)\b[^;]*?from \"node:fs", re.DOTALL)
READERS = {"files.ts": "its own files", "bundle.ts": "what is installed", "documents.ts": "files of the project"}


def test_files_are_opened_where_links_are_thought_of_and_nowhere_else() -> None:
    packages = [CORE, *(DEPLOY / harness for harness in HARNESSES)]
    found = {
        path.name for package in packages for path in sources(package) for one in _of_fs(path) if READS.search(one)
    }
    assert set(READERS) == found


def _of_fs(path: Path) -> list[str]:
    """The imports of a module from the file system."""
    return re.findall(r'^import [^;]*? from "node:fs(?:/promises)?"', path.read_text(), re.MULTILINE | re.DOTALL)


def test_the_core_names_no_harness() -> None:
    assert "opencode" in HARNESSES
    files = [path for path in CORE.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    assert CORE / "src" / "wire.ts" in files
    named = [
        f"{path.relative_to(ROOT)} names {harness}"
        for path in files
        for harness in HARNESSES
        if harness in path.read_text().lower()
    ]
    assert [] == named


def test_the_core_imports_itself_node_and_its_dependencies() -> None:
    declared = json.loads((CORE / "package.json").read_text())["dependencies"]
    foreign = []
    for path in sources(CORE):
        for name in imports(path):
            if name.startswith("."):
                is_own = (path.parent / name).resolve().is_relative_to(CORE / "src")
            else:
                is_own = name.startswith("node:") or name in declared
            foreign += [] if is_own else [f"{path.name} imports {name}"]
    assert [] == foreign


@pytest.mark.parametrize("harness", HARNESSES)
def test_an_adapter_takes_the_core_as_a_package(harness: str) -> None:
    package = DEPLOY / harness
    declared = json.loads((package / "package.json").read_text())["devDependencies"]
    assert "file:../adapter-core" == declared["@annals/adapter-core"]
    found = [name for path in sources(package) for name in imports(path)]
    assert [] == [name for name in found if name.startswith("../")]
    assert any(name.startswith("@annals/adapter-core/") for name in found)


def generated(deploy: Path) -> "subprocess.CompletedProcess[str]":
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    assert (DEPLOY / "node_modules" / "json-schema-to-typescript").exists(), (
        "what generates the types is missing; `make adapter` brings it"
    )
    command = [node, str(deploy / "adapter-core" / "generate.mjs"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_types_of_the_wire_are_those_of_the_schemas() -> None:
    ended = generated(DEPLOY)
    assert 0 == ended.returncode, ended.stderr


def test_types_of_another_schema_are_stale(tmp_path: Path) -> None:
    deploy, schemas = tmp_path / "deploy", tmp_path / "schemas" / "json"
    (deploy / "adapter-core" / "src").mkdir(parents=True)
    (deploy / "node_modules").symlink_to(DEPLOY / "node_modules")
    for name in ("generate.mjs", "src/wire.ts"):
        shutil.copy(CORE / name, deploy / "adapter-core" / name)
    shutil.copytree(SCHEMAS, schemas)
    assert 0 == generated(deploy).returncode
    inbox = schemas / "inbox.schema.json"
    inbox.write_text(inbox.read_text().replace('"forked_from"', '"copied_from"'))
    ended = generated(deploy)
    assert 1 == ended.returncode
    assert "make schema" in ended.stderr


@pytest.mark.parametrize("folder", ["deploy", "tests/harness"])
def test_a_lock_file_names_no_registry(folder: str) -> None:
    packages = json.loads((ROOT / folder / "package-lock.json").read_text())["packages"]
    assert len(packages) > 1
    assert [] == [name for name, one in packages.items() if "resolved" in one and not one.get("link")]
