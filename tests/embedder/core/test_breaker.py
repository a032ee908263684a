from hypothesis import given
from hypothesis import strategies as st

from services.embedder.core.breaker import FAILURES, REST, WITHIN, Breaker


def failed(*times: float) -> Breaker:
    breaker = Breaker()
    for at in times:
        breaker = breaker.trying().failed(at)
    return breaker


def test_three_failures_in_a_minute_open_it_for_five() -> None:
    assert failed(0, 1).may_try(2)
    breaker = failed(0, 1, 2)
    assert not breaker.may_try(2 + REST - 1)
    assert breaker.may_try(2 + REST)


def test_failures_far_apart_do_not() -> None:
    assert failed(0, WITHIN, 2 * WITHIN, 3 * WITHIN).may_try(3 * WITHIN)


def test_after_a_rest_one_tries_and_all_others_wait() -> None:
    trying = failed(0, 1, 2).trying()
    assert not trying.may_try(2 + REST)
    assert trying.succeeded().may_try(2 + REST)
    assert not trying.failed(2 + REST).may_try(2 + 2 * REST - 1)
    assert trying.given_up().may_try(2 + REST)


@given(st.lists(st.tuples(st.floats(0, 100), st.booleans()), max_size=50))
def test_it_never_stays_shut(steps: list[tuple[float, bool]]) -> None:
    breaker, now, shut = Breaker(), 0.0, 0
    for pause, works in steps:
        now += pause
        if not breaker.may_try(now):
            shut += 1
            continue
        breaker = breaker.trying().succeeded() if works else breaker.trying().failed(now)
    assert breaker.may_try(now + REST)
    assert not shut or sum(not works for _, works in steps) >= FAILURES
