"""A room is found by its folder: what else must name it names it once."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from services.kit.rooms import ROOMS, load

ROOT = Path(__file__).parents[2]
PYPROJECT = (ROOT / "pyproject.toml").read_text()


def test_each_room_is_a_folder_with_a_worker_that_is_called_like_it() -> None:
    assert {"tagger", "desk", "historian", "responder"} <= set(ROOMS)
    assert list(ROOMS) == [load(name).NAME for name in ROOMS]


def test_the_contracts_name_each_room_once_and_keep_them_apart() -> None:
    contracts = tomllib.loads(PYPROJECT)["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    (rooms,) = [layer.split(" | ") for layer in layers if "|" in layer]

    assert set(ROOMS) == {room.removeprefix("services.") for room in rooms}
    assert dict.fromkeys(ROOMS, 1) == {room: len(re.findall(rf"services\.{room}\b(?!\.)", PYPROJECT)) for room in ROOMS}


def test_a_room_that_imports_another_breaks_a_contract(tmp_path: Path) -> None:
    for package in ("schemas", "services"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "*.gz"))
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    with (tmp_path / "services" / "desk" / "worker.py").open("a") as file:
        file.write("\nfrom services.tagger import worker as _\n")
    linted = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 1 == linted.returncode, linted.stderr
    assert "services.desk is not allowed to import services.tagger" in linted.stdout
    assert 1 == linted.stdout.count("BROKEN\n")


def test_a_new_folder_with_a_worker_is_a_room(tmp_path: Path) -> None:
    for package in ("schemas", "services"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "*.gz"))
    (tmp_path / "services" / "librarian").mkdir()
    (tmp_path / "services" / "librarian" / "worker.py").write_text("class Librarian:\n    NAME = 'librarian'\n")
    program = "from services.kit.rooms import ROOMS, load; print(*ROOMS, load('librarian').NAME)"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [*sorted((*ROOMS, "librarian")), "librarian"] == ran.stdout.split()
