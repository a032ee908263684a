"""The recipes of `docs/adding.md`: each fits the code, and a copy of the repository with all of them is sound."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
RECIPES = ROOT / "tests" / "recipes"
ROW = re.compile(
    r"^\| \[(?P<name>[^]]+)\]\(#\S+\) \| \[\S+\]\(\.\./tests/recipes/(?P<patch>\S+)\) \| (?P<count>\d+)",
    re.MULTILINE,
)
CHANGED = re.compile(r"^\+\+\+ b/(?P<file>.+)$", re.MULTILINE)
ALONE = "not broker and not house and not harness and not soak and not recorded"
"""Every test of `make test` that needs no broker, no installation and no harness."""
NOT_OF_A_COPY = (
    "--ignore=tests/adapter",
    "--ignore=tests/harness",
    "--ignore=tests/test_adding.py",
    "--deselect=tests/test_house.py::test_our_package_names_are_on_the_path_once",
)
"""What a copy cannot pass: it has no Node packages, and those of the original stay installed next to its own."""

pytestmark = pytest.mark.slow


class Recipe(NamedTuple):
    """A change that adds one thing: how many files the page promises, and the patch."""

    name: str
    promised: int
    patch: Path

    @property
    def files(self) -> list[str]:
        return CHANGED.findall(self.patch.read_text("utf-8"))


PAGE = (ROOT / "docs" / "adding.md").read_text("utf-8")
FOUND = [Recipe(row["name"], int(row["count"]), RECIPES / row["patch"]) for row in ROW.finditer(PAGE)]


def test_the_page_names_each_recipe_once() -> None:
    assert sorted(recipe.patch for recipe in FOUND) == sorted(RECIPES.iterdir())


@pytest.mark.parametrize("recipe", FOUND, ids=lambda recipe: recipe.name)
def test_a_recipe_takes_as_many_files_as_the_page_promises(recipe: Recipe) -> None:
    assert recipe.promised == len(recipe.files)


def test_the_recipes_fit_the_code_one_after_the_other(tmp_path: Path) -> None:
    copied(tmp_path, {file for recipe in FOUND for file in recipe.files})
    for recipe in FOUND:
        apply(tmp_path, recipe)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_copy_with_all_recipes_passes_its_checks(tmp_path: Path) -> None:
    """What `make check` looks at, and all tests but those on a broker, an installation or a harness: a change of such a
    kind has to pass them, too, also those that take long.
    """
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    copied(tmp_path, set(filter(None, listed.split("\0"))))
    for recipe in FOUND:
        apply(tmp_path, recipe)
    added = sorted(file for recipe in FOUND for file in recipe.files if file.startswith("tests/"))
    run(tmp_path, "-m", "services.generate")
    run(tmp_path, "-m", "ruff", "check", "--no-cache", "schemas", "services", "tests")
    run(tmp_path, "-m", "ruff", "format", "--no-cache", "--check", "schemas", "services", "tests")
    run(tmp_path, "-m", "mypy", "--cache-dir", os.devnull)
    run(tmp_path, "-c", "from importlinter.cli import lint_imports; exit(lint_imports())")
    run(tmp_path, "-m", "pytest", "-q", "-n", "2", "-m", ALONE, *NOT_OF_A_COPY, "tests")
    run(tmp_path, "-m", "pytest", "-q", *dict.fromkeys(added))


def copied(to: Path, files: set[str]) -> None:
    """Copy these files of the repository, as far as they are there."""
    for name in files:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, to / name)


def apply(copy: Path, recipe: Recipe) -> None:
    words = ["git", "apply", "-C1", str(recipe.patch)]
    ran = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=False)
    assert 0 == ran.returncode, f"{recipe.patch.name} no longer fits; write it anew from a change:\n{ran.stderr}"


def run(copy: Path, *words: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(copy), "QUICK": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what the copy imports again and again is compiled once
    ran = subprocess.run(
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert 0 == ran.returncode, f"{' '.join(words)}:\n{ran.stdout[-3000:]}{ran.stderr[-2000:]}"
