"""What stays of a prompt that is made smaller."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.retention import Context, Retention, retention


@pytest.mark.parametrize(
    ("usable", "context", "history", "tail", "readings", "asked"),
    [
        (56_000, "balanced", 2_240, 2_240, 8_050, 1_680),
        (120_000, "balanced", 4_000, 4_800, 30_450, 2_000),
        (1_000_000, "balanced", 4_000, 5_000, 50_000, 2_000),
        (120_000, "lean", 2_400, 2_880, 18_270, 1_200),
        (120_000, "full", 8_000, 9_600, 60_900, 4_000),
        (10_000, "balanced", 400, 2_000, 0, 300),
        (5_000, "balanced", 200, 2_000, 0, 150),
    ],
)
def test_a_share_of_the_window_stays(
    usable: int, context: Context, history: int, tail: int, readings: int, asked: int
) -> None:
    made = retention(usable, context)
    assert (made.history, made.tail, made.readings, made.request) == (history, tail, readings, asked)


def numbers(made: Retention) -> list[int]:
    return [made.history, made.tail, made.readings, made.request, *(made.idle[kind] for kind in sorted(made.idle))]


@given(st.integers(1_000, 10_000_000))
def test_whoever_wants_more_in_sight_has_more(usable: int) -> None:
    lean, balanced, full = (numbers(retention(usable, context)) for context in ("lean", "balanced", "full"))
    assert all(less <= some <= more for less, some, more in zip(lean, balanced, full, strict=True))


def test_a_reading_of_the_task_at_hand_stays_longest() -> None:
    idle = retention(120_000, "balanced").idle
    assert idle["fresh"] > idle["worked"] > idle["written"] > idle["past"]


@pytest.mark.parametrize(("replaced", "tokens"), [(0, 800), (10_000, 800), (50_000, 1_750), (1_000_000, 4_000)])
def test_history_is_as_long_as_what_it_stands_for_is_worth(replaced: int, tokens: int) -> None:
    assert retention(120_000, "balanced").history_of(replaced) == tokens


def test_in_a_small_window_history_is_never_longer_than_its_share() -> None:
    assert retention(10_000, "balanced").history_of(1_000_000) == 400
