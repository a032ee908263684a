"""The architecture, checked: who reads and writes what, whose names are on the path, what is documented."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import schemas
import services
from schemas.events import EVENTS
from services.kit.docs.__main__ import all_rooms
from services.kit.docs.house import cycle
from services.kit.rooms import ROOMS, load
from services.responder.store import view_sources

ROOT = Path(__file__).parents[1]


def test_data_goes_one_way_through_the_rooms() -> None:
    assert [] == cycle(all_rooms())


def test_every_event_has_exactly_one_pen() -> None:
    pens = Counter(event for name in ROOMS for event in load(name).WRITES)
    assert dict.fromkeys(EVENTS, 1) == dict(pens)


def test_every_event_is_read_by_some_room() -> None:
    assert set(EVENTS) == {event for name in ROOMS for event in load(name).READS}


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_has_its_core_its_worker_and_its_door(name: str) -> None:
    folder = ROOT / "services" / name
    assert [] == [file for file in ("__init__.py", "worker.py", "__main__.py") if not (folder / file).exists()]


@pytest.mark.parametrize("package", [schemas, services])
def test_our_package_names_are_on_the_path_once(package: object) -> None:
    name = getattr(package, "__name__", "")
    found = {str((Path(entry or ".") / name).resolve()) for entry in sys.path if (Path(entry or ".") / name).is_dir()}
    assert 1 == len(found)


def test_the_import_contracts_hold() -> None:
    linted = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == linted.returncode, linted.stdout


def test_the_heavy_libraries_are_loaded_only_where_they_are_used() -> None:
    program = "import sys; from services.kit.rooms import load; load({!r}); print(*sys.modules)"
    for name in ("tagger", "desk"):
        loaded = subprocess.run(
            [sys.executable, "-c", program.format(name)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert set() == {"duckdb", "pyarrow", "numpy", "matplotlib"} & set(loaded.stdout.split())


def test_every_decision_record_is_indexed_and_says_its_status() -> None:
    folder = ROOT / "docs" / "adr"
    index = (folder / "README.md").read_text()
    for record in sorted(folder.glob("[0-9]*.md")):
        assert record.name in index
        assert "Status: accepted" in record.read_text() or "Status: superseded" in record.read_text()


def test_every_view_says_what_it_is() -> None:
    assert [] == [name for name, source in view_sources().items() if not source.startswith(f"-- {name}: ")]


def test_the_readme_names_every_verb_and_every_view() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [] == [word for word in ("make demo", "make test", "make check", "make bench") if word not in readme]
    assert [] == [view for view in view_sources() if f"`{view}`" not in readme]
