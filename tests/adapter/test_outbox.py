"""What the adapter could not hand to the broker is on disk: a harness that is killed then loses nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.adapter.played import on_disk

Happening = list[Any]
DEAD = "999999999-1.jsonl"
"""The spool file of a process that there cannot be."""
CUT_OFF = "lines of a spool file were cut off, and are passed over"
ANSWERS: Happening = ["refuses"]
NOTICED: Happening = ["noticed"]


def played(directory: Path, *happenings: Happening) -> list[dict[str, Any]]:
    return on_disk("outbox", directory, *happenings)


def line(name: str) -> str:
    return json.dumps({"subject": "in", "id": name, "data": "{}"})


def left(directory: Path, *lines: str) -> Path:
    """A spool with these lines, of a process that has ended."""
    path = directory / "spool" / DEAD
    path.parent.mkdir(parents=True)
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(
    ("happenings", "spooled"),
    [
        pytest.param([["put", "a"], ["put", "b"]], [["a"], ["a", "b"]], id="the adapter has not noticed yet"),
        pytest.param([["put", "a"], NOTICED, ["put", "b"]], [["a"], ["a"], ["a", "b"]], id="it has noticed"),
        pytest.param(
            [["put", "a"], ["put", "b"], NOTICED, ["put", "c"]],
            [["a"], ["a", "b"], ["a", "b"], ["a", "b", "c"]],
            id="late",
        ),
        pytest.param([NOTICED, ["put", "a"], ["put", "b"]], [[], ["a"], ["a", "b"]], id="the broker was never there"),
    ],
)
def test_whatever_the_broker_does_not_take_is_on_disk_in_order(
    happenings: list[Happening], spooled: list[list[str]], tmp_path: Path
) -> None:
    found = played(tmp_path, ["begin"], *happenings)
    assert spooled == [one["spooled"] for one in found[1:]]


# Neither the broker nor the disk takes anything

MANY = [f"m{number:03}" for number in range(100)]


def test_a_full_disk_is_tried_ever_more_seldom(tmp_path: Path) -> None:
    """Each attempt writes all that waits: at once, behind one second, and behind two more."""
    minutes: list[Happening] = [["pass", 500], ["pass", 1500], ["pass", 2000], ["pass", 600_000]]
    found = played(tmp_path, ["silent"], ["disk", "full"], ["put", *MANY], ["closed"], *minutes)
    assert [1, 1, 2, 3] == [one["writes"] for one in found[3:7]]
    assert found[7]["writes"] < 20


def test_a_disk_that_is_free_again_has_what_waits_without_anybody_asking(tmp_path: Path) -> None:
    found = played(tmp_path, NOTICED, ["disk", "full"], ["put", "a", "b"], ["disk", "well"], ["pass", 1000])
    assert [[], ["a", "b"]] == [one["spooled"] for one in found[3:]]


def test_half_a_draft_is_not_left_on_a_full_disk(tmp_path: Path) -> None:
    played(tmp_path, NOTICED, ["disk", "cuts"], ["put", "a"])
    assert [] == list((tmp_path / "spool").iterdir())


def test_behind_a_failure_one_message_goes_ahead_of_the_others(tmp_path: Path) -> None:
    many: list[Happening] = [["silent"], ["put", *MANY], ["closed"]]
    found = played(tmp_path, *many, *[["pass", 200]] * 3, ANSWERS, ["pass", 200])
    assert [64, 64, 65, 66, 67] == [len(one["sent"]) for one in found[1:6]]
    assert MANY == found[-1]["taken"]
    assert [] == found[-1]["spooled"]


def test_a_message_that_is_never_taken_stops_no_other(tmp_path: Path) -> None:
    found = played(tmp_path, ["refuses", "bad"], ["put", "bad"], ["put", "a", "b"], ["pass", 60_000])
    assert {"a", "b"} == set(found[-1]["taken"])
    assert "bad" in found[-1]["spooled"]


# Lines that were cut off


def test_a_line_that_was_cut_off_costs_itself_alone(tmp_path: Path) -> None:
    left(tmp_path, line("a") + "\n", line("b")[:9] + line("c") + "\n", line("d") + "\n", line("e"))
    found = played(tmp_path, NOTICED, ["begin"], ANSWERS)
    assert ["a", "d", "e"] == found[-1]["spooled"]
    assert 1 == found[-1]["notes"].count(CUT_OFF)
    (spooled,) = (tmp_path / "spool").iterdir()
    assert 3 == spooled.read_text().count("\n")


def test_what_follows_a_line_that_was_cut_off_is_a_line_of_its_own(tmp_path: Path) -> None:
    cut: list[Happening] = [["disk", "cuts"], ["put", "b"], ["disk", "well"], ["put", "c"]]
    found = played(tmp_path, NOTICED, ["put", "a"], *cut, ["pass", 1000])
    assert ["a", "b", "c"] == found[-1]["spooled"]


def test_what_an_earlier_life_has_left_stays_until_the_disk_takes_it_anew(tmp_path: Path) -> None:
    left(tmp_path, line("a") + "\n")
    full: list[Happening] = [NOTICED, ["disk", "full"], ["begin"]]
    found = played(tmp_path, *full)
    assert ["a"] == found[-1]["spooled"]
    found = played(tmp_path, *full, ["disk", "well"], ["pass", 1000])
    assert ["a"] == found[-1]["spooled"]
    (spooled,) = (tmp_path / "spool").iterdir()
    assert spooled.suffix == ".jsonl"


def test_a_spool_that_cannot_be_removed_ends_nothing(tmp_path: Path) -> None:
    stuck, ends = [["put", "a"], ["disk", "fixed"], ANSWERS, ["pass", 200]], [["put", "b"]]
    *_, sent, last = played(tmp_path, ["begin"], *stuck, *ends)
    assert ["a"] == sent["taken"]
    assert ["a", "b"] == last["taken"]
    assert ["a spool file was not removed; what is in it is sent once more"] == sent["notes"][-1:]


def test_what_earlier_lives_left_and_cannot_be_removed_is_sent(tmp_path: Path) -> None:
    left(tmp_path, line("a") + "\n")
    *_, found = played(tmp_path, ["disk", "fixed"], ["begin"], ANSWERS, ["put", "b"], ["pass", 200])
    assert ["a", "b"] == sorted(found["taken"])


def test_what_is_erased_while_its_body_is_stored_is_not_sent(tmp_path: Path) -> None:
    *_, found = played(tmp_path, ["begin"], ANSWERS, ["stores", "slowly"], ["long", "a"], ["dropped"], ["stored"])
    assert [] == found["sent"]


def test_what_is_masked_while_its_body_is_stored_is_sent_with_the_masked_one(tmp_path: Path) -> None:
    *_, found = played(tmp_path, ["begin"], ANSWERS, ["stores", "slowly"], ["long", "a"], ["masked"], ["stored"])
    assert (["a"], ["a", "masked"]) == (found["sent"], found["stored"])
