"""What a coming prompt will count, from the counts and refusals before it."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.events import OverflowDetected, UsageSampled
from services.domain.window import Window
from services.plan.session.calibration import (
    DENSEST,
    OVERHEAD,
    THINNEST,
    Calibration,
    answered,
    presumed,
    refused,
    within,
)


def counted(tokens: int) -> UsageSampled:
    return UsageSampled(message="a", input=tokens)


def test_before_any_count_system_prompt_and_tools_are_guessed() -> None:
    assert OVERHEAD + 5_000 == Calibration().prompt(5_000)


def test_a_count_says_what_is_sent_besides_the_messages() -> None:
    known = answered(Calibration(), counted(21_000), 9_000)
    assert 21_000 == known.prompt(9_000)
    assert 26_000 == known.prompt(14_000)
    assert 16_000 == known.prompt(4_000)


def test_growth_between_two_counts_shows_how_dense_the_text_is() -> None:
    known = Calibration()
    for estimate, count in ((10_000, 20_000), (20_000, 32_000), (30_000, 44_000), (40_000, 56_000)):
        known = answered(known, counted(count), estimate)
    assert 1.17 < known.density < 1.2
    assert 56_000 + int(10_000 * known.density) == known.prompt(50_000)


def test_what_shrinks_shows_nothing_of_density() -> None:
    known = answered(answered(Calibration(), counted(50_000), 40_000), counted(15_000), 30_000)
    assert 1.0 == known.density
    assert 15_000 == known.prompt(30_000)


def test_a_refusal_counts_like_an_answer() -> None:
    known = refused(Calibration(), OverflowDetected(limit=60_000, used=72_000), 50_000)
    assert 72_000 == known.prompt(50_000)


def test_a_refusal_without_a_count_was_longer_than_the_limit() -> None:
    known = answered(Calibration(), counted(50_000), 40_000)
    assert 60_001 == refused(known, OverflowDetected(limit=60_000), 41_000).prompt(41_000)
    assert 70_000 == refused(known, OverflowDetected(limit=60_000), 60_000).prompt(60_000)


def test_a_refusal_without_any_number_was_longer_than_what_the_model_takes() -> None:
    known = refused(answered(Calibration(), counted(50_000), 40_000), OverflowDetected(), 41_000)
    assert 51_000 == known.prompt(41_000)
    assert 60_001 == within(known, Window(60_000, 8_000, "harness")).prompt(41_000)
    assert 51_000 == within(known, Window(40_000, 8_000, "harness")).prompt(41_000)
    assert known == within(known, Window(128_000, 0, "default"))
    assert known == refused(known, OverflowDetected(), 45_000)
    assert 60_001 == within(refused(known, OverflowDetected(), 39_000), Window(60_000, 0, "harness")).prompt(39_000)


def test_what_was_refused_without_a_number_is_remembered_until_a_longer_prompt_is_answered() -> None:
    known = refused(answered(Calibration(), counted(50_000), 40_000), OverflowDetected(), 50_000)
    assert 60_000 == known.refused
    known = answered(known, counted(55_000), 45_000)
    assert 60_000 == known.refused
    assert 57_000 == refused(known, OverflowDetected(), 47_000).refused
    assert 0 == answered(known, counted(60_001), 52_000).refused


def test_a_count_far_below_the_estimate_is_not_of_the_whole_prompt() -> None:
    known = answered(Calibration(), counted(50_000), 40_000)
    assert 52_000 == answered(known, counted(300), 42_000).prompt(42_000)
    assert 21_000 == answered(Calibration(), counted(300), 42_000).prompt(42_000)
    assert 10_000 == answered(known, counted(10_000), 42_000).prompt(42_000)


def test_what_new_text_may_count_more_is_asked_for_where_it_matters() -> None:
    known = answered(Calibration(), counted(20_000), 10_000)
    assert 20_000 + 11_500 == known.prompt(20_000, 1.15)
    assert 15_000 == known.prompt(5_000, 1.15)


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**7)), max_size=8),
    st.integers(0, 10**6),
    st.integers(1, 10**6),
)
def test_whatever_was_counted_a_prompt_that_is_made_to_fit_fits(
    counts: list[tuple[int, int]], served: int, most: int
) -> None:
    known = Calibration()
    for count, estimate in counts:
        known = answered(known, counted(count), estimate)
    assert THINNEST <= known.density <= DENSEST
    assert known.prompt(served) > 0
    fitting = known.fitting(most)
    assert fitting == 0 or known.prompt(fitting) <= most + DENSEST


def test_a_model_that_has_counted_nothing_is_presumed_to_count_as_the_one_before() -> None:
    known = presumed(answered(Calibration(), counted(50_000), 40_000))
    assert 60_000 == known.prompt(50_000)
    assert 1.5 == answered(known, counted(90_000), 50_000).density
    assert 1.0 == presumed(Calibration()).density


def test_the_first_count_of_a_model_shows_nothing_of_density_where_most_of_the_prompt_is_no_text() -> None:
    known = presumed(answered(Calibration(), counted(10_000), 1_000))
    assert 1.0 == answered(known, counted(20_000), 1_000).density
