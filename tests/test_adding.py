"""The recipes of `docs/adding.md`, applied to a copy of the repository, whose own checks must then pass."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "adding.md"
RECIPE = re.compile(r"^## (?P<name>.+?)$(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(?P<kind>\w+) (?P<file>\S+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PROMISE = re.compile(r"\*\*(?P<count>\d+) files? by hand\*\*(?:, (?P<shared>\d+) of them shared)?")
CHECKS = re.compile(r"^    make check: (?P<tests>.+)$", re.MULTILINE)
NOT_OF_A_COPY = ("--deselect", "tests/test_house.py::test_our_package_names_are_on_the_path_once")
"""What a copy cannot pass: the packages of the original stay installed beside its own."""

pytestmark = pytest.mark.slow


class Recipe(NamedTuple):
    """One thing to add: the files that are written or changed by hand, and the tests that must pass then."""

    name: str
    text: str

    @property
    def blocks(self) -> list[re.Match[str]]:
        return list(BLOCK.finditer(self.text))

    @property
    def files(self) -> set[str]:
        return {block["file"] for block in self.blocks}

    @property
    def tests(self) -> list[str]:
        found = CHECKS.search(self.text)
        return found["tests"].split() if found else []


def recipes() -> Iterator[Recipe]:
    for found in RECIPE.finditer(PAGE.read_text("utf-8")):
        recipe = Recipe(found["name"], found["text"])
        if recipe.blocks:
            yield recipe


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """All files of the repository that git knows, in a folder of their own."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("recipe", list(recipes()), ids=lambda recipe: recipe.name)
def test_a_recipe_takes_as_many_files_as_it_promises(recipe: Recipe) -> None:
    promised = PROMISE.search(recipe.text)
    assert promised is not None
    assert int(promised["count"]) == len(recipe.files)
    if promised["shared"]:
        assert int(promised["shared"]) == len({block["file"] for block in recipe.blocks if block["kind"] == "diff"})


@pytest.mark.soak
def test_the_recipes_work_as_they_are_written(copy: Path) -> None:
    """All in one copy: each on what those before it have left, and the checks over what they are together."""
    tests = set[str]()
    for recipe in recipes():
        for block in recipe.blocks:
            apply(copy, block)
        assert recipe.tests, recipe.name
        tests |= {*recipe.tests}
    run(copy, "-m", "services.generate")
    run(copy, "-m", "ruff", "check", "--no-cache", "schemas", "services", "tests")
    run(copy, "-m", "ruff", "format", "--no-cache", "--check", "schemas", "services", "tests")
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *NOT_OF_A_COPY, "tests/test_house.py", *sorted(tests))


def apply(copy: Path, block: re.Match[str]) -> None:
    """Write a new file, or change one by a diff."""
    file = copy / block["file"]
    if block["kind"] != "diff":
        assert not file.exists(), f"{block['file']} is there already: a recipe changes it by a diff"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block["text"], "utf-8")
        return
    head = f"--- a/{block['file']}\n+++ b/{block['file']}\n"
    ran = subprocess.run(
        ["git", "apply", "--recount", "--unidiff-zero", "-"],
        cwd=copy,
        input=head + block["text"],
        text=True,
        capture_output=True,
        check=False,
    )
    assert 0 == ran.returncode, f"{block['file']}: {ran.stderr}"


def run(copy: Path, *words: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(copy), "QUICK": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what the copy imports again and again is compiled once
    ran = subprocess.run(
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert 0 == ran.returncode, f"{' '.join(words)}:\n{ran.stdout[-3000:]}{ran.stderr[-2000:]}"
