from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from pydantic import SecretStr

from services.generate.house import DescribedRoom, cycle, house, in_flow
from services.generate.settings import settings_page

TAGGER = DescribedRoom("tagger", (), ("session.opened", "step.opened"), "Writes down what harnesses saw.")
DESK = DescribedRoom("desk", ("session.opened",), ("drop.requested",), "Answers wishes.")
RESPONDER = DescribedRoom(
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
    gossip = DescribedRoom("gossip", ("plan.extended",), ("step.opened",), "Answers back.")

    found = cycle([TAGGER, DESK, RESPONDER, gossip])

    assert found[0] == found[-1]
    assert {("gossip", "responder"), ("responder", "gossip")} == set(pairwise(found))


def test_rooms_are_listed_in_the_direction_of_the_data_as_far_as_there_is_one() -> None:
    assert [TAGGER, DESK, RESPONDER] == in_flow([RESPONDER, DESK, TAGGER])
    gossip = DescribedRoom("gossip", ("plan.extended",), ("step.opened",), "Answers back.")
    assert [gossip, RESPONDER, DESK] == in_flow([gossip, RESPONDER, DESK])


def somewhere() -> Path:
    """Wherever there is room."""
    return Path("/tmp")  # noqa: S108 - never opened


class Inner(Struct, frozen=True):
    """The inner group."""

    depth: Annotated[int, Meta(ge=1, lt=10, extra={"project": "lower"})] = 3
    """How deep."""


class Outer(Struct, kw_only=True):
    """The outer group."""

    inner: Inner = Inner()
    url: str
    """Where to go | or not."""
    mode: Literal["slow", "fast"] = "fast"
    token: SecretStr = SecretStr("hunter2")
    empty: SecretStr = SecretStr("")
    nothing: str | None = None
    yes: bool = True
    names: tuple[str, ...] = ("a", "b")
    values: dict[str, int] = {}
    data: Path = field(default_factory=somewhere)
    made: int = field(default_factory=lambda: 1)


class Root(Struct, kw_only=True):
    """The root."""

    outer: Outer
    alone: int = 0


def test_every_setting_has_its_variable_default_and_meaning() -> None:
    rows = settings_page(Root).splitlines()

    assert [
        "| `ANNALS_ALONE` | `0` |  |",
        r"| `ANNALS_OUTER__URL` | required | Where to go \| or not. |",
        "| `ANNALS_OUTER__MODE` | `fast` | One of `slow`, `fast`. |",
        "| `ANNALS_OUTER__TOKEN` | a secret |  |",
        "| `ANNALS_OUTER__EMPTY` | empty |  |",
        "| `ANNALS_OUTER__NOTHING` | empty |  |",
        "| `ANNALS_OUTER__YES` | `true` |  |",
        "| `ANNALS_OUTER__NAMES` | `a`, `b` |  |",
        "| `ANNALS_OUTER__VALUES` | empty |  |",
        "| `ANNALS_OUTER__DATA` | Wherever there is room. |  |",
        "| `ANNALS_OUTER__MADE` | worked out at the start |  |",
        "| `ANNALS_OUTER__INNER__DEPTH` | `3` | How deep. At least `1` and less than `10`. A project may lower it. |",
    ] == [row for row in rows if row.startswith("| `")]


def test_a_group_within_a_group_has_a_section_of_its_own() -> None:
    headings = [line for line in settings_page(Root).splitlines() if line.startswith("## ")]
    assert ["## Everywhere", "## outer", "## outer.inner"] == headings[1:]


def test_no_secret_is_printed() -> None:
    assert "hunter2" not in settings_page(Root)
