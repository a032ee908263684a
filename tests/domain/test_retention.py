"""What stays of a prompt that is made smaller."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.retention import LEAST, MOST, Context, retention


@pytest.mark.parametrize(
    ("usable", "context", "history", "tail"),
    [
        (56_000, "balanced", 2_300, 3_300),
        (120_000, "balanced", 6_000, 6_000),
        (1_000_000, "balanced", 10_000, 10_000),
        (120_000, "lean", 4_200, 4_200),
        (120_000, "full", 12_000, 12_000),
        (10_000, "balanced", 1_700, 3_300),
    ],
)
def test_a_share_of_the_window_stays(usable: int, context: Context, history: int, tail: int) -> None:
    made = retention(usable, context)
    assert (history, tail) == (made.history, made.tail)


@given(st.integers(1_000, 10_000_000))
def test_whoever_wants_more_in_sight_has_more(usable: int) -> None:
    lean, balanced, full = (retention(usable, context).total for context in ("lean", "balanced", "full"))
    assert LEAST <= lean <= balanced <= full <= MOST["full"]
