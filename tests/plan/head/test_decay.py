import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.plan.head.decay import ARCHIVED, faded, freshest, half_life, tier, tiers, total
from tests.helpers.examples import examples

COSTS = (322, 109, 35, 20)
"""What the tiers cost on average."""

TIERED = st.lists(st.integers(1, 400), min_size=4, max_size=4).map(lambda costs: tuple(sorted(costs, reverse=True)))
MADE = st.lists(st.tuples(TIERED, st.integers(1, 100)), max_size=80)


@pytest.mark.parametrize(("importance", "expected"), [(1, 6.2), (25, 12), (50, 24), (75, 48), (100, 96)])
def test_a_half_life_doubles_with_each_25_of_importance(importance: int, expected: float) -> None:
    assert half_life(importance) == pytest.approx(expected, abs=0.05)
    assert half_life(importance, 2.0) == pytest.approx(expected / 2, abs=0.03)


def test_importance_and_pressure_have_bounds() -> None:
    assert half_life(0) == half_life(1)
    assert half_life(500) == half_life(100)
    assert half_life(50, 0.0) == half_life(50, 0.1) == pytest.approx(240)


@pytest.mark.parametrize(("last", "expected"), [(4, 1), (17, 2), (31, 3), (62, 4)])
def test_of_middling_importance_each_tier_ends_at_its_age(last: int, expected: int) -> None:
    assert expected == tier(faded(last, 50))
    assert expected + 1 == tier(faded(last + 1, 50))


def test_with_room_for_all_the_newest_are_fullest_and_nothing_is_archived_that_need_not_be() -> None:
    assert (1,) * 30 == tiers([COSTS] * 30, [50] * 30, 100_000)


def test_under_pressure_the_old_are_shorter_than_the_new() -> None:
    shown = tiers([COSTS] * 40, [50] * 40, 3000)
    assert list(shown) == sorted(shown, reverse=True)
    assert (4, 1) == (shown[0], shown[-1])
    assert 2800 < total([COSTS] * 40, shown) <= 3000


def test_what_matters_fades_more_slowly() -> None:
    shown = tiers([COSTS] * 20, [95, *[40] * 19], 2500)
    assert shown[0] < shown[1]


def test_where_one_line_each_is_too_much_the_oldest_are_archived() -> None:
    shown = tiers([COSTS] * 10, [50] * 10, 105)
    assert (*[ARCHIVED] * 5, *[4] * 5) == shown


def test_without_room_nothing_is_shown() -> None:
    assert (ARCHIVED,) * 3 == tiers([COSTS] * 3, [50] * 3, 0) == tiers([COSTS] * 3, [50] * 3, -50)
    assert () == tiers([], [], 100)


@settings(max_examples=examples(300), deadline=None)
@given(MADE, st.integers(0, 20_000))
def test_no_choice_costs_more_than_the_budget(made: list[tuple[tuple[int, ...], int]], budget: int) -> None:
    costs, importance = [one for one, _ in made], [one for _, one in made]
    shown = tiers(costs, importance, budget)
    assert total(costs, shown) <= budget
    assert shown == tiers(costs, importance, budget)


@settings(max_examples=examples(300), deadline=None)
@given(MADE, st.integers(1, 20_000))
def test_all_that_fits_in_full_is_shown_in_full(made: list[tuple[tuple[int, ...], int]], more: int) -> None:
    costs, importance = [one for one, _ in made], [one for _, one in made]
    assert (1,) * len(made) == tiers(costs, importance, sum(one[0] for one in costs) + more)


def test_the_freshest_is_the_newest_unless_another_matters_more() -> None:
    assert [2, 1, 0] == freshest([50, 50, 50])
    assert [2, 0, 1] == freshest([100, 10, 50])
