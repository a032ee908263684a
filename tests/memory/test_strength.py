"""How memories fade and are renewed."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.events.memory import TRUSTS
from services.memory.classes import MemoryClass
from services.memory.entry import Memory
from services.memory.strength import (
    DAY,
    PACE,
    SOURCE_OF,
    SOURCE_PRIORITY,
    Fading,
    days,
    dormancy,
    dormant_days,
    half_life,
    initial,
    rank,
    renewal,
    strength,
    strengths,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
MS = timedelta(milliseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAYS = st.floats(0, 10_000, allow_nan=False)


TRUST = {"explicit": "person", "reported": "person_by_harness", "manual": "agent", "compaction": "summary"}


def aged(start: float, now: float, dormant: Sequence[tuple[float, float]] = ()) -> float:
    """Days that a memory has aged between two days, by what is left of its strength."""
    (left,) = strengths([Fading(1.0, start, 45.0)], EPOCH + now * DAY, dormant)
    return -45.0 * math.log2(left)


def memory(
    memory_class: MemoryClass = "decision", source: str = "explicit", *, importance: str = "normal", renewals: int = 0
) -> Memory:
    return Memory(
        id="m",
        category="CONSTRAINTS",
        text="Only the desk writes.",
        memory_class=memory_class,
        status="active",
        trust=TRUST[source],
        created=START,
        clock=START,
        importance=importance,
        reinforced=renewals,
    )


@pytest.mark.parametrize(
    ("memory_class", "expected"),
    [
        ("reference", (1.0, 1.4, 2.0)),
        ("project", (1.25, 1.75, 2.5)),
        ("feedback", (2.25, 3.15, 4.5)),
        ("decision", (2.5, 3.5, 5.0)),
    ],
)
def test_what_a_memory_begins_with(memory_class: MemoryClass, expected: tuple[float, ...]) -> None:
    found = [initial(memory_class, source) for source in ("summary", "agent", "person")]
    assert pytest.approx(expected) == found


def test_an_unknown_trust_or_importance_counts_one() -> None:
    assert 1.25 == initial("project", "y", "z")
    assert set(TRUSTS) == set(SOURCE_OF)


def test_half_lives() -> None:
    expected = [45, 52.941, 62.284, 73.275, 86.206, 101.419, 119.316, 119.316]
    assert pytest.approx(expected, abs=0.001) == [half_life(count) for count in range(8)]


@pytest.mark.parametrize(
    ("one", "age", "expected"),
    [
        (memory("reference", "compaction"), 45, 0.5),
        (memory("decision", "explicit"), 45, 2.5),
        (memory("decision", "explicit", importance="high", renewals=6), 90, 4.446258),
        (memory("project", "compaction"), 10, 1.071555),
        (memory("feedback", "manual", importance="low", renewals=2), 30, 1.579110),
        (memory("decision", "explicit"), 104.49, 1.0),
        (memory("feedback", "explicit"), 97.65, 1.0),
    ],
)
def test_strengths_at_an_age(one: Memory, age: float, expected: float) -> None:
    assert pytest.approx(expected, abs=1e-4) == strength(one, START + age * DAY)


@pytest.mark.parametrize(
    ("start", "now", "last_work", "expected"),
    [(0, 100, 20, 50.5), (50, 100, 20, 12.5), (90, 100, 20, 2.5), (0, 100, 95, 100), (100, 0, 0, 0)],
)
def test_dormancy_that_still_lasts(start: float, now: float, last_work: float, expected: float) -> None:
    lasting = dormancy(last_work, now)
    assert pytest.approx(expected) == aged(start, now, [lasting] if lasting else [])


def test_dormancy_that_has_ended_stays_discounted() -> None:
    assert pytest.approx(130 - 0.75 * 66) == aged(0, 130, [(34, 100)])
    assert pytest.approx(130 - 0.75 * 66) == aged(0, 130, [(34, 100), (34, 100), (40, 90)])


def test_pauses_in_time_are_days() -> None:
    at = START + 100 * DAY
    dormant = dormant_days([(START + 34 * DAY, START + 60 * DAY)], START + 70 * DAY, at)
    begun = days(START)
    assert pytest.approx([34, 60, 84, 100]) == [end - begun for span in dormant for end in span]
    assert [] == dormant_days([], None, at)
    assert [] == dormant_days([], at - 14 * DAY, at)
    assert pytest.approx(2 ** (-(100 - 0.75 * (26 + 16)) / 45)) == strength(
        memory("reference", "compaction"), at, dormant
    )


def test_there_is_a_grace_of_fourteen_days() -> None:
    assert dormancy(0, 14) is None
    assert (14, 15) == dormancy(0, 15)


def test_what_is_pinned_does_not_fade_and_what_is_stale_counts_half() -> None:
    at = START + 1000 * DAY
    pinned = replace(memory(), is_pinned=True)
    stale = replace(pinned, verification="stale")
    assert 5.0 == strength(pinned, at)
    assert 2.5 == strength(stale, at)


@given(DAYS, DAYS, st.integers(0, 9))
def test_nothing_grows_stronger_with_age(younger: float, more: float, renewals: int) -> None:
    one = memory(renewals=renewals)
    assert 0 <= strength(one, START + (younger + more) * DAY) <= strength(one, START + younger * DAY) <= 5


@given(DAYS, DAYS, st.lists(st.tuples(DAYS, DAYS), max_size=5))
def test_an_age_lies_between_a_quarter_of_the_time_and_all_of_it(
    start: float, now: float, dormant: list[tuple[float, float]]
) -> None:
    wall = max(0.0, now - start)
    age = aged(start, now, dormant)
    assert PACE.dormant_share * wall - 1e-6 <= age <= wall + 1e-6


@given(DAYS, DAYS, st.lists(st.tuples(DAYS, DAYS), max_size=4), st.tuples(DAYS, DAYS))
def test_more_dormancy_never_makes_older(
    start: float, now: float, dormant: list[tuple[float, float]], more: tuple[float, float]
) -> None:
    assert aged(start, now, [*dormant, more]) <= aged(start, now, dormant) + 1e-6


def test_a_renewal_within_seven_days_is_blocked() -> None:
    assert "blocked" == renewal(3, START, START + 7 * DAY - MS)
    assert "increment" == renewal(3, START, START + 7 * DAY)
    assert "increment" == renewal(0, None, START)


def test_from_six_renewals_on_only_the_clock_is_set() -> None:
    found = [renewal(count, None, START) for count in (5, 6, 7)]
    assert ["increment", "refresh_only", "refresh_only"] == found


def test_memories_are_ranked_pinned_first_then_by_strength_source_age_and_id() -> None:
    def one(name: str, source: str = "manual", created: datetime = START, *, pinned: bool = False) -> Memory:
        return replace(memory("project", source), id=name, created=created, is_pinned=pinned)

    ordered = [
        (one("z", pinned=True), 0.1),
        (one("y"), 3.0),
        (one("x", "explicit"), 2.0),
        (one("w", created=START + DAY), 2.0),
        (one("a"), 2.0),
        (one("b"), 2.0),
        (one("c", "compaction"), 2.0),
        (replace(one("d"), trust="unheard of"), 2.0),
    ]
    mixed = [*ordered[1::2], *ordered[::2]]
    assert ordered == sorted(mixed, key=lambda pair: rank(*pair))


def test_what_a_person_sent_goes_before_what_a_harness_reports_of_them_and_that_before_an_agent_s() -> None:
    ranked = [SOURCE_PRIORITY[SOURCE_OF[trust]] for trust in ("person", "person_by_harness", "agent", "summary")]
    assert ranked == sorted(set(ranked), reverse=True)
