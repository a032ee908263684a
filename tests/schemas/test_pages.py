from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from services.kit.docs.house import Room, cycle, house
from services.kit.docs.settings import settings_table

TAGGER = Room("tagger", (), ("session.opened", "step.opened"), "Writes down what harnesses saw.")
DESK = Room("desk", ("session.opened",), ("drop.requested",), "Answers wishes.")
RESPONDER = Room(
    "responder",
    ("session.opened", "step.opened", "drop.requested", "plan.extended"),
    ("plan.extended",),
    "Answers questions.",
)


def test_the_picture_has_one_arrow_for_all_events_between_two_rooms() -> None:
    assert 'tagger -->|"session.opened<br/>step.opened"| responder' in house([TAGGER, DESK, RESPONDER])


def test_the_picture_has_a_box_for_every_room() -> None:
    page = house([TAGGER, DESK, RESPONDER])
    assert all(f'    {name}["{name}"]\n' in page for name in ("tagger", "desk", "responder"))


def test_a_room_that_folds_its_own_events_is_no_arrow() -> None:
    assert "responder -->" not in house([TAGGER, DESK, RESPONDER])


def test_the_table_says_who_writes_and_who_reads_an_event() -> None:
    page = house([TAGGER, DESK, RESPONDER])
    assert "| event | tagger | desk | responder |" in page
    assert "| `session.opened` | writes | reads | reads |" in page
    assert "| `plan.extended` |  |  | writes, reads |" in page


def test_a_house_in_which_data_goes_one_way_has_no_cycle() -> None:
    assert [] == cycle([TAGGER, DESK, RESPONDER])


def test_a_cycle_is_named_in_the_direction_of_the_data() -> None:
    gossip = Room("gossip", ("plan.extended",), ("step.opened",), "Answers back.")

    found = cycle([TAGGER, DESK, RESPONDER, gossip])

    assert found[0] == found[-1]
    assert {("gossip", "responder"), ("responder", "gossip")} == set(pairwise(found))


class Colour(Enum):
    RED = "red"


def somewhere() -> Path:
    """Wherever there is room."""
    return Path("/tmp")  # noqa: S108 - never opened


class Inner(BaseModel):
    """The inner group."""

    depth: int = Field(default=3, ge=1, lt=10, description="How deep.")


class Outer(BaseModel):
    """The outer group."""

    inner: Inner = Inner()
    url: str
    """Where to go | or not."""
    mode: Literal["slow", "fast"] = "fast"
    token: SecretStr = SecretStr("hunter2")
    empty: SecretStr = SecretStr("")
    nothing: str | None = None
    yes: bool = True
    colour: Colour = Colour.RED
    names: list[str] = Field(default_factory=list)
    data: Path = Field(default_factory=somewhere)
    made: int = Field(default_factory=lambda: 1)


def test_every_setting_has_its_variable_default_and_meaning() -> None:
    rows = settings_table({"outer": Outer}).splitlines()

    assert [
        r"| `ANNALS_OUTER__URL` | required | Where to go \| or not. |",
        "| `ANNALS_OUTER__MODE` | `fast` | One of `slow`, `fast`. |",
        "| `ANNALS_OUTER__TOKEN` | a secret |  |",
        "| `ANNALS_OUTER__EMPTY` | empty |  |",
        "| `ANNALS_OUTER__NOTHING` | empty |  |",
        "| `ANNALS_OUTER__YES` | `true` |  |",
        "| `ANNALS_OUTER__COLOUR` | `red` |  |",
        "| `ANNALS_OUTER__NAMES` | empty |  |",
        "| `ANNALS_OUTER__DATA` | Wherever there is room. |  |",
        "| `ANNALS_OUTER__MADE` | worked out at the start |  |",
        "| `ANNALS_OUTER__INNER__DEPTH` | `3` | How deep. Must be at least `1` and less than `10`. |",
    ] == [row for row in rows if row.startswith("| `")]


def test_a_group_within_a_group_has_a_section_of_its_own() -> None:
    headings = [line for line in settings_table({"outer": Outer}).splitlines() if line.startswith("## ")]
    assert ["## outer", "## outer.inner"] == headings


def test_the_root_has_no_name() -> None:
    assert "| `ANNALS_URL` | required |" in settings_table({"": Outer})


def test_no_secret_is_printed() -> None:
    assert "hunter2" not in settings_table({"outer": Outer})
