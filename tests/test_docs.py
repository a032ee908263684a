"""The pages for people, checked: what they link to and what they name is there."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PLACE = re.compile(r"`((?:schemas|services|deploy|tests|docs)/[\w./-]+)`")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

EXAMPLE = re.compile(r"^## `(?P<package>[\w/]+)`$.*?^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)

PROMISE = re.compile(r"^\| (?P<promise>[^|]+) \| (?P<tests>`[^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")
LEFT_OUT = {"soak", "recorded"}
"""Markers of what `make test` leaves out."""
FOREIGN = "foreign"
"""The fixture that marks a test as `recorded`."""

BUILT = {"dist", "node_modules"}
"""Folders that are made, and not tracked by git."""


def pages() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split() if not name.startswith("tests/")]


def anchor(heading: str) -> str:
    """A heading as the part of an address behind `#`."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_is_there(page: Path) -> None:
    missing = []
    for link in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if "://" in link:
            continue
        place, _, part = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        is_there = target.exists() and (not part or part in map(anchor, HEADING.findall(target.read_text("utf-8"))))
        missing += [] if is_there else [link]
    assert [] == missing


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_place_in_the_code_that_a_page_names_is_there(page: Path) -> None:
    named = {place.rstrip("/") for place in PLACE.findall(FENCE.sub("", page.read_text("utf-8")))}
    assert [] == sorted(place for place in named if not BUILT & {*Path(place).parts} and not (ROOT / place).exists())


EXAMPLES = {
    found["package"]: found["code"] for found in EXAMPLE.finditer((ROOT / "docs" / "packages.md").read_text("utf-8"))
}


def test_every_package_has_a_section_with_an_example() -> None:
    packages = [folder.parent for folder in (ROOT / "services").glob("*/__init__.py")]
    assert sorted(["schemas", *(str(package.relative_to(ROOT)) for package in packages)]) == sorted(EXAMPLES)


@pytest.mark.parametrize("package", EXAMPLES)
def test_the_example_of_a_package_runs(package: str) -> None:
    exec(EXAMPLES[package], {"__name__": "example"})  # noqa: S102 - what our own page promises that a reader can run


def test_every_marker_is_reported() -> None:
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["markers"]
    table = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", (ROOT / "docs" / "testing.md").read_text(), re.MULTILINE)
    assert [marker.partition(":")[0] for marker in markers] == table


def promises() -> dict[str, list[tuple[str, str]]]:
    """The promises of the page about tests, each with its tests: the file of each, and its name."""
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    section = page.partition("\n## Promises\n")[2].partition("\n## ")[0]
    return {found["promise"]: TEST.findall(found["tests"]) for found in PROMISE.finditer(section)}


def test_each_promise_has_a_test_that_is_not_left_to_soak() -> None:
    found = promises()
    assert len(found) > 20
    assert [] == [promise for promise, tests in found.items() if not tests]
    assert [] == [fault for tests in found.values() for test in tests if (fault := fault_of(*test))]


def fault_of(file: str, name: str) -> str:
    """What keeps a test out of `make test`, or nothing."""
    path = ROOT / "tests" / file
    tree = ast.parse(path.read_text("utf-8")) if path.exists() else ast.Module([], [])
    for test in tree.body:
        if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef) and test.name == name:
            of_file = [one.value for one in tree.body if isinstance(one, ast.Assign) and "pytestmark" in names_in(one)]
            marks = [one for one in test.decorator_list if not names_in(one) >= {"parametrize"}]
            used = set[str]().union(*map(names_in, [*of_file, *marks]), *({one.arg} for one in test.args.args))
            left_out = used & {*LEFT_OUT, FOREIGN}
            return f"{file}::{name} is marked {', '.join(sorted(left_out))}" if left_out else ""
    return f"{file}::{name} is not there"


def names_in(node: ast.AST) -> set[str]:
    """All names and attributes that a piece of code uses."""
    attributes = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return attributes | {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
