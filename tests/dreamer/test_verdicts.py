"""What follows of a look, and when the next one comes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.conditions import (
    AddressCondition,
    CommandCondition,
    CommitCondition,
    Condition,
    DateCondition,
    FileCondition,
    MergeCondition,
)
from services.dreamer.core.verdicts import (
    LONGEST,
    SHORTEST,
    AddressLook,
    FileLook,
    GitLook,
    SessionLook,
    Sight,
    judge,
    next_look,
)

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
LATER, EARLIER = NOON + timedelta(hours=1), NOON - timedelta(hours=1)
URL = "https://example.org/a"


@pytest.mark.parametrize(
    ("condition", "sight", "outcome"),
    [
        (DateCondition(LATER), None, "ready"),
        (DateCondition(LATER + timedelta(seconds=1)), None, "waiting"),
        (FileCondition("a"), FileLook(is_there=True), "ready"),
        (FileCondition("a"), FileLook(), "waiting"),
        (FileCondition("a", "absent"), FileLook(), "ready"),
        (FileCondition("a", "absent"), FileLook(is_there=True), "waiting"),
        (FileCondition("a", "changed"), FileLook(is_there=True, written=LATER), "ready"),
        (FileCondition("a", "changed"), FileLook(is_there=True, written=EARLIER), "waiting"),
        (FileCondition("a", "changed"), FileLook(), "waiting"),
        (FileCondition("a", "contains", "x"), FileLook(is_there=True, text="a x b"), "ready"),
        (FileCondition("a", "contains", "x"), FileLook(is_there=True, text="a"), "waiting"),
        (FileCondition("a", "contains", "x"), FileLook(is_there=True), "waiting"),
        (FileCondition("a", "absent"), FileLook(barred="may hold secrets"), "parked"),
        (CommitCondition(tag="v1"), GitLook("0123abc"), "ready"),
        (CommitCondition(tag="v1"), GitLook(), "waiting"),
        (MergeCondition("a", "b"), GitLook("0123abc"), "ready"),
        (MergeCondition("a", "b"), GitLook(fault="git: it took longer than 3 s"), "waiting"),
        (CommandCondition("make"), SessionLook(NOON), "ready"),
        (CommandCondition("make"), SessionLook(), "waiting"),
        (AddressCondition(URL), AddressLook(204), "ready"),
        (AddressCondition(URL), AddressLook(500), "waiting"),
        (AddressCondition(URL), AddressLook(404), "waiting"),
        (AddressCondition(URL, 404), AddressLook(404), "ready"),
        (AddressCondition(URL, 404), AddressLook(410), "ready"),
        (AddressCondition(URL, 410), AddressLook(410), "ready"),
        (AddressCondition(URL, 410), AddressLook(404), "ready"),
        (AddressCondition(URL, 404), AddressLook(200), "waiting"),
        (AddressCondition(URL), AddressLook(401), "parked"),
        (AddressCondition(URL), AddressLook(403), "parked"),
        (AddressCondition(URL, 403), AddressLook(403), "ready"),
        (AddressCondition(URL, contains="x"), AddressLook(200, "a x"), "ready"),
        (AddressCondition(URL, contains="x"), AddressLook(200, "a"), "waiting"),
        (AddressCondition(URL, contains="x"), AddressLook(500, "a x"), "waiting"),
        (AddressCondition(URL), AddressLook(fault="it took longer than 5 s"), "waiting"),
        (AddressCondition(URL), AddressLook(barred="it is private"), "parked"),
        (AddressCondition(URL), None, "waiting"),
    ],
)
def test_what_was_seen_makes_a_note_ready_has_it_wait_or_parks_it(
    condition: Condition, sight: Sight, outcome: str
) -> None:
    verdict = judge(condition, sight, NOON, LATER)
    assert outcome == verdict.outcome
    assert bool(verdict.code) is (outcome == "parked")
    assert verdict.reason or outcome == "waiting"


CONDITION = FileCondition("a")
SPANS = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=3_000))
NAMES = st.text(max_size=8)


@given(NAMES, SPANS)
def test_looks_are_five_minutes_to_a_day_apart_and_the_same_everywhere(name: str, waited: timedelta) -> None:
    looked = NOON + waited
    found = next_look(name, CONDITION, NOON, looked)
    assert SHORTEST <= found - looked <= LONGEST
    assert found == next_look(name, CONDITION, NOON, looked)


@given(NAMES)
def test_the_first_look_is_soon_and_a_year_needs_few(name: str) -> None:
    moment, number = NOON, 0
    assert next_look(name, CONDITION, NOON, None) - NOON < 2 * SHORTEST
    while moment < NOON + timedelta(days=365):
        moment = next_look(name, CONDITION, NOON, moment)
        number += 1
    assert 300 < number < 600


def test_notes_of_the_same_moment_are_not_looked_at_in_step() -> None:
    looked = NOON + timedelta(days=2)
    assert 50 == len({next_look(f"n{number}", CONDITION, NOON, looked) for number in range(50)})


@given(NAMES, SPANS)
def test_a_date_is_looked_at_when_it_has_come(name: str, left: timedelta) -> None:
    at = NOON + left
    condition = DateCondition(at)
    assert [at, at] == [next_look(name, condition, NOON, looked) for looked in (None, at - timedelta(seconds=1))]
    assert at + LONGEST == next_look(name, condition, NOON, at)
