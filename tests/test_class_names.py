"""A class name is in one file only: whoever reads or searches for it finds one thing."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLASS = re.compile(r"^\s*class (\w+)[(:\[]", re.MULTILINE)
ON_THE_WIRE = {"SessionClosed"}
"""A report of a harness and the event made of it. Both names are in released JSON schemas, each in its own."""


def test_a_class_name_is_in_one_file_only() -> None:
    sources = {
        str(path.relative_to(ROOT)): path.read_text()
        for package in ("schemas", "services")
        for path in (ROOT / package).rglob("*.py")
    }
    found = repeated(sources)
    assert ON_THE_WIRE == set(found), {name: files for name, files in found.items() if name not in ON_THE_WIRE}


def test_a_class_name_in_a_second_file_would_be_found() -> None:
    one, two = "class Index: ...", "def make():\n    class Index(dict): ..."
    assert {"Index": ["a.py", "b.py"]} == repeated({"a.py": one, "b.py": two, "c.py": "Index = dict"})


def test_a_class_that_is_defined_twice_in_one_file_is_in_one_file() -> None:
    assert {} == repeated({"a.py": "if X:\n    class A: ...\nelse:\n    class A: ..."})


def repeated(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """Class name -> the files that define it, of those that more than one file defines."""
    files: dict[str, set[str]] = defaultdict(set)
    for path, source in sources.items():
        for name in _classes(source):
            files[name].add(path)
    return {name: sorted(found) for name, found in files.items() if len(found) > 1}


def _classes(source: str) -> Iterable[str]:
    return CLASS.findall(source)
