"""Numbers as ranges, written and read by one helper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.ranges import BadRange, ends_of, ranges, runs

NUMBERS = st.sets(st.integers(1, 60))


def test_neighbours_are_written_as_one_range() -> None:
    assert "1, 3-5, 8" == ranges([8, 4, 3, 5, 1, 4])
    assert "" == ranges([])
    assert "1, 3, …" == ranges([1, 3, 5, 6], 2)
    assert "1, 3" == ranges([1, 3], 2)


@given(NUMBERS)
def test_what_is_written_is_read_again(numbers: set[int]) -> None:
    items = [ends_of(item, "is none") for item in ranges(numbers).split(",")] if numbers else []
    assert runs(numbers) == items
    assert numbers == {number for first, last in items for number in range(first, last + 1)}


@pytest.mark.parametrize("item", ["", "x", "3-", "-3", "3-4-5", "9" * 19])
def test_what_is_no_range_is_answered_with_what_would_be_right(item: str) -> None:
    with pytest.raises(BadRange, match="is none"):
        ends_of(item, "is none")


def test_a_range_that_runs_backwards_is_answered_with_the_right_one() -> None:
    with pytest.raises(BadRange, match='write "3-5"'):
        ends_of("5-3", "is none")
