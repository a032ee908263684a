"""When rows get their vectors: one batch after another where it is quiet, a tenth of the time where facts come."""

from hypothesis import given
from hypothesis import strategies as st

from services.indexer.filler import MOST_PUT_OFF, is_due
from services.kit.projector import QUIET

seconds = st.floats(0.0, 100.0)


@given(seconds, seconds)
def test_where_no_fact_comes_nothing_is_put_off(since: float, cost: float) -> None:
    assert is_due(since, cost, QUIET)


@given(seconds)
def test_the_first_rows_are_filled_at_once(since: float) -> None:
    assert is_due(since, 0.0, 0.0)


@given(st.floats(0.001, MOST_PUT_OFF / 10))
def test_where_facts_come_filling_takes_a_tenth_of_the_time(cost: float) -> None:
    assert not is_due(9.9 * cost, cost, 0.0)
    assert is_due(10.1 * cost, cost, 0.0)


@given(seconds)
def test_nothing_is_put_off_for_longer_than_the_bound(cost: float) -> None:
    assert is_due(cost + MOST_PUT_OFF, cost, 0.0)
