"""The record of a session over restarts, on a disk that may be full or break off."""

import json
from pathlib import Path
from typing import Any

from tests.adapter.played import on_disk

Happening = list[Any]
CUT_OFF = "lines of a session's record were cut off, and are passed over"
BEGIN: Happening = ["begin"]


def played(directory: Path, *happenings: Happening) -> list[dict[str, Any]]:
    return on_disk("record", directory, *happenings)


def recorded(directory: Path, *lines: str) -> Path:
    path = directory / "sessions" / "s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(lines))
    return path


def revised(revision: int) -> str:
    return json.dumps({"revision": revision, "edits": [{"op": "omit_message", "message": f"m{revision}"}]})


def test_a_last_line_that_was_cut_off_is_asked_for_again(tmp_path: Path) -> None:
    recorded(tmp_path, revised(1) + "\n", revised(2)[:9])
    found = played(tmp_path, BEGIN, ["take", 2], ["note", {"seq": 4}], BEGIN)
    assert [1, 2, 2, 2] == [one["revision"] for one in found]
    assert [1, 2, 2, 2] == [one["edits"] for one in found]
    assert 4 == found[-1]["seq"]


def test_behind_a_lost_line_the_plan_is_fetched_anew_once_and_the_rest_stays(tmp_path: Path) -> None:
    """The line may have had a revision, without which those behind it are not the plan."""
    lines = [json.dumps({"mode": "managed", "seq": 3}), revised(1), revised(2)[:9] + revised(3), revised(4)]
    recorded(tmp_path, *(f"{one}\n" for one in lines))
    found = played(tmp_path, BEGIN, ["take", 5], BEGIN)
    assert [0, 5, 5] == [one["revision"] for one in found]
    assert [0, 1, 1] == [one["edits"] for one in found]
    assert {("managed", 3)} == {(one["mode"], one["seq"]) for one in found}
    assert [CUT_OFF] == found[-1]["notes"]


def test_a_line_that_a_full_disk_has_refused_is_missed_by_nobody(tmp_path: Path) -> None:
    for state in ("full", "cuts"):
        folder = tmp_path / state
        refused: list[Happening] = [["disk", state], ["take", 2], ["disk", "well"]]
        found = played(folder, BEGIN, ["take", 1], *refused, ["take", 3], BEGIN)
        assert (3, 3) == (found[-1]["revision"], found[-1]["edits"])


def test_a_line_without_its_end_is_a_line_and_is_not_continued(tmp_path: Path) -> None:
    recorded(tmp_path, revised(1) + "\n", revised(2))
    found = played(tmp_path, BEGIN, ["take", 3], BEGIN)
    assert [2, 3, 3] == [one["revision"] for one in found]
    assert 3 == found[-1]["edits"]
