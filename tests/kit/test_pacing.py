"""How often something is done again for one address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.subjects import Address
from services.kit.pacing import MOST_ADDRESSES, Pacing
from services.kit.projector import SHARE

ONE, OTHER = Address("quay", "s1"), Address("quay", "s2")


def test_the_first_turn_is_not_put_off() -> None:
    assert 0.0 == Pacing(2.0).wait(ONE, 5.0)


@given(st.integers(1, 190), st.integers(0, 5_000))
def test_the_next_turn_begins_when_ten_times_the_cost_has_passed_and_no_later_than_the_bound(
    cost: int, since: int
) -> None:
    pacing = Pacing(2.0)
    pacing.done(ONE, 0.0, cost / 1000)
    waited = pacing.wait(ONE, (cost + since) / 1000)
    assert pytest.approx(min(2.0, max(0.0, (9 * cost - since) / 1000))) == waited
    assert 0.0 == pacing.wait(OTHER, cost / 1000)


@given(st.integers(2, 50), st.integers(1, 100))
def test_all_addresses_share_the_tenth_with_those_that_have_had_a_turn_lately(count: int, cost: int) -> None:
    pacing = Pacing(1_000.0)
    pacing.done(OTHER, -2_000.0, -2_000.0 + cost / 1000)
    for number in range(count):
        pacing.done(Address("quay", f"n{number}"), 0.0, cost / 1000)
    assert pytest.approx(cost / 1000 * count / SHARE) == pacing.wait(Address("quay", "n0"), 0.0)


def test_the_oldest_addresses_are_forgotten() -> None:
    pacing = Pacing(2.0)
    pacing.done(ONE, 0.0, 0.1)
    for number in range(MOST_ADDRESSES):
        pacing.done(Address("quay", f"n{number}"), 0.0, 0.1)
    assert 0.0 == pacing.wait(ONE, 0.1)
