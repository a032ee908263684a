"""When a prompt is made smaller by choice."""

import math

import pytest

from schemas.events import PlanRebased
from services.domain.limits import Prices
from services.plan.planner.economics import FORGETTING, NEAR, SMALL, TURN, is_due, is_worth, price, spent
from services.plan.session.revisions import Course

PRICES = Prices()
REMAINDER = 8_000
FREE = 1.0
"""A window that is empty."""


def grown(growth: int, calls: int, start: int = REMAINDER, remainder: int = REMAINDER) -> Course:
    """So many calls, each longer than the one before by this growth."""
    course = Course().with_remainder(remainder, start)
    for number in range(calls):
        course = course.after(start + number * growth)
    return course


def first_due(growth: int, *, at_turn: bool = False) -> int:
    """The call at which a rebase is due, in a session that grows evenly from what a rebase keeps."""
    return next(n for n in range(1, 10_000) if is_due(grown(growth, n), REMAINDER, PRICES, FREE, at_turn=at_turn))


@pytest.mark.parametrize("growth", [100, 400, 1_500, 5_000])
def test_an_even_growth_is_rebased_where_the_formula_is_least(growth: int) -> None:
    weight = PRICES.write - PRICES.read + FORGETTING * PRICES.read
    best = math.sqrt(2 * weight * (REMAINDER + SMALL) * growth / PRICES.read)
    assert first_due(growth) * growth == pytest.approx(best, abs=1.5 * growth)


def test_the_beginning_of_a_turn_is_a_good_moment_sooner() -> None:
    assert first_due(500, at_turn=True) < first_due(500) < first_due(500, at_turn=True) / TURN


def test_a_leap_counts_for_as_long_as_it_is_read() -> None:
    course = Course().with_remainder(REMAINDER, REMAINDER).after(REMAINDER + 40_000)
    calls = 1
    while not is_due(course, REMAINDER, PRICES, FREE, at_turn=False):
        course = course.after(REMAINDER + 40_000)
        calls += 1
    assert calls == math.ceil(price(REMAINDER, PRICES, FREE) / (PRICES.read * 40_000))


def test_what_is_short_is_left_alone_for_ever() -> None:
    assert spent(grown(0, 1_000), PRICES) == 0
    assert spent(grown(0, 1_000, start=REMAINDER - 1), PRICES) == 0
    assert not is_due(grown(0, 1_000, start=REMAINDER - 1), REMAINDER, PRICES, FREE, at_turn=True)


def test_what_a_rebase_would_have_left_at_a_call_is_no_waste_because_it_goes_later() -> None:
    course = grown(0, 50, start=30_000, remainder=30_000)
    assert spent(course.with_remainder(REMAINDER, 30_000), PRICES) == 0
    assert spent(course.with_remainder(REMAINDER, 30_000).after(30_000), PRICES) == pytest.approx(
        PRICES.read * (30_000 - REMAINDER)
    )


def test_as_long_as_nobody_has_judged_what_would_stay_nothing_counts_as_waste() -> None:
    assert spent(grown(500, 100, remainder=0), PRICES) == 0


def test_a_model_that_caches_cheaply_is_rebased_later() -> None:
    cheap = Prices(read=0.02, write=1.0)
    assert not is_due(grown(500, first_due(500)), REMAINDER, cheap, FREE, at_turn=False)


def test_little_is_not_worth_a_rebase_however_much_was_read() -> None:
    course = grown(2_000, 60)
    assert is_worth(course, 30_000, REMAINDER, 40_000, PRICES, FREE, at_turn=False)
    assert not is_worth(course, 9_000, 31_000, 40_000, PRICES, FREE, at_turn=False)


def test_a_rebase_that_writes_much_anew_waits_longer() -> None:
    course = grown(500, first_due(500))
    assert is_worth(course, 20_000, REMAINDER, 28_000, PRICES, FREE, at_turn=False)
    assert not is_worth(course, 20_000, 2 * REMAINDER, 36_000, PRICES, FREE, at_turn=False)


def test_where_the_window_is_nearly_full_what_is_left_out_would_go_soon_anyway() -> None:
    whole, half, none = (price(REMAINDER, PRICES, room) for room in (NEAR, NEAR / 2, 0.0))
    assert price(REMAINDER, PRICES, FREE) == whole > half > none
    assert none == (REMAINDER + SMALL) * (PRICES.write - PRICES.read)
    assert none + whole == pytest.approx(2 * half)


def test_a_rebase_is_due_sooner_near_the_limit() -> None:
    course = grown(500, first_due(500) - 1)
    assert not is_due(course, REMAINDER, PRICES, NEAR, at_turn=False)
    assert is_due(course, REMAINDER, PRICES, NEAR / 2, at_turn=False)
    assert not is_worth(course, 20_000, REMAINDER, 28_000, PRICES, NEAR, at_turn=False)
    assert is_worth(course, 20_000, REMAINDER, 28_000, PRICES, NEAR / 2, at_turn=False)


def test_what_came_of_a_rebase_is_what_it_saved_in_the_calls_behind_it() -> None:
    rebase = PlanRebased(
        revision=1, step="s", as_of=1, causes=["cost"], tokens_after=REMAINDER, reclaimed=20_000, price=9_200.0
    )
    course = Course.behind(rebase)
    assert -9_200 == course.net(PRICES)
    for _ in range(10):
        course = course.after(REMAINDER)
    assert 10 * 20_000 * 0.1 - 9_200 == pytest.approx(course.net(PRICES))
