import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events import Event, OverflowDetected, StepOpened, UsageSampled
from services.domain.fold import fold
from services.domain.limits import Limits
from services.domain.window import (
    Learned,
    Threshold,
    Window,
    cache_ttl,
    evolve,
    of_model,
    prompt_tokens,
    seconds,
    threshold,
    window,
    with_shortest_refused,
)

LIMITS = Limits()


def step(model: str = "opus", context: int = 200_000, output: int = 0, provider: str = "anthropic") -> StepOpened:
    return StepOpened(step="s", provider=provider, model=model, context_limit=context, output_limit=output)


def learned(*events: Event) -> Learned:
    return fold(evolve, events, Learned())


def window_for(opened: StepOpened, limits: Limits = LIMITS, *events: Event) -> Window:
    return window(opened, learned(*events), limits)


def allowed(opened: StepOpened, limits: Limits = LIMITS) -> Threshold:
    return threshold(opened, window_for(opened, limits), limits)


IMPOSSIBLE = [
    UsageSampled(message="m", input=10_000_001),
    UsageSampled(message="m", input=2**53 - 1, cache_read=1),
    UsageSampled(message="m", input=6_000_000, cache_read=3_000_000, cache_write=1_000_001),
    UsageSampled(message="m", input=-1, cache_read=50_000),
    UsageSampled(message="m", input=50_000, cache_read=-(2**53)),
    UsageSampled(message="m", input=2**63 - 1, cache_read=-(2**63) + 60_000),
]


@pytest.mark.parametrize("usage", IMPOSSIBLE)
def test_a_count_that_no_prompt_has_is_no_count(usage: UsageSampled) -> None:
    assert 0 == prompt_tokens(usage)
    refused_twice = (step(), OverflowDetected(limit=40_000))
    assert learned(*refused_twice) == learned(*refused_twice, usage)


def test_the_longest_prompt_that_a_model_can_take_is_counted() -> None:
    assert 10_000_000 == prompt_tokens(UsageSampled(message="m", input=1, cache_read=9_999_998, cache_write=1))


# The window, and its source


def test_the_harness_reports_the_limit() -> None:
    assert window_for(step()) == Window(200_000, 0, "harness")


def test_without_a_limit_there_is_one_by_default() -> None:
    assert window_for(step(context=0)) == Window(128_000, 0, "default")
    assert window_for(step(context=1023)) == Window(128_000, 0, "default")
    assert window_for(step(context=10_000_001)) == Window(128_000, 0, "default")
    assert window_for(step(context=0), Limits(default_context_limit=32_000)) == Window(32_000, 0, "default")


def test_a_person_knows_better_than_the_harness() -> None:
    limits = Limits(context_limits={"anthropic/opus": 150_000})
    assert window_for(step(), limits) == Window(150_000, 0, "settings")
    assert window_for(step("haiku"), limits) == Window(200_000, 0, "harness")
    assert window_for(step(), Limits(context_limits={"opus": 12})) == Window(200_000, 0, "harness")


def test_room_for_the_answer_is_reserved_at_most_a_quarter_of_the_context() -> None:
    assert window_for(step(output=32_000)) == Window(200_000, 32_000, "harness")
    assert window_for(step(output=128_000)) == Window(200_000, 50_000, "harness")
    assert 150_000 == window_for(step(output=128_000)).usable


def test_a_person_may_set_another_reserve_up_to_half_of_the_context() -> None:
    assert 64_000 == window_for(step(output=8000), Limits(output_reserves={"default": 64_000})).reserve
    assert 0 == window_for(step(output=8000), Limits(output_reserves={"opus": 0})).reserve
    assert 100_000 == window_for(step(), Limits(output_reserves={"opus": 300_000})).reserve


def test_the_reserve_is_taken_from_the_limit_that_holds() -> None:
    refused = OverflowDetected(limit=40_000)
    assert window_for(step(output=32_000), LIMITS, step(), refused) == Window(40_000, 10_000, "learned")


# What an overflow teaches


def test_ex_11a_a_limit_that_the_provider_reported_holds_from_now_on() -> None:
    opened = step("gpt", 400_000)
    found = window_for(opened, LIMITS, opened, OverflowDetected(text="exceeds the limit of 128000", limit=128_000))
    assert found == Window(128_000, 0, "learned")
    assert 93.75 == found.percent(120_000)
    assert (0.0625, 0.0) == (found.room(120_000), found.room(130_000))


def test_a_larger_limit_than_the_known_one_changes_nothing() -> None:
    assert window_for(step(), LIMITS, step(), OverflowDetected(limit=1_000_000)) == Window(200_000, 0, "harness")


def test_where_nobody_knows_the_limit_what_the_provider_reported_is_the_limit() -> None:
    opened = step(context=0)
    assert window_for(opened, LIMITS, opened, OverflowDetected(limit=200_000)) == Window(200_000, 0, "learned")


def test_what_the_provider_reported_holds_before_what_a_person_set() -> None:
    limits = Limits(context_limits={"default": 300_000})
    assert window_for(step(), limits, step(), OverflowDetected(limit=190_000)) == Window(190_000, 0, "learned")


def test_of_two_reported_limits_the_smaller_holds() -> None:
    small, large = OverflowDetected(limit=64_000), OverflowDetected(limit=100_000)
    assert learned(step(), small, large) == learned(step(), large, small) == learned(step(), small)


def test_a_limit_of_one_model_says_nothing_of_another() -> None:
    events = (step("opus"), OverflowDetected(limit=100_000), step("haiku"))
    assert window_for(step("haiku"), LIMITS, *events) == Window(200_000, 0, "harness")
    assert window_for(step("opus", provider="bedrock"), LIMITS, *events) == Window(200_000, 0, "harness")
    assert window_for(step("opus"), LIMITS, *events, step("opus")) == Window(100_000, 0, "learned")


@pytest.mark.parametrize("limit", [0, 1023, 10_000_001])
def test_what_can_be_no_limit_is_not_learned(limit: int) -> None:
    assert learned(step(), OverflowDetected(limit=limit)) == learned(step())


def test_a_longer_prompt_that_was_answered_proves_a_reported_limit_wrong() -> None:
    wrong = (step(), OverflowDetected(limit=100_000))
    answered = UsageSampled(message="m", input=1, cache_read=90_000, cache_write=9_999)
    assert learned(*wrong, answered).limits == learned(*wrong).limits
    longer = UsageSampled(message="m", input=2, cache_read=90_000, cache_write=9_999)
    assert learned(*wrong, longer).limits == learned(step()).limits
    assert learned(*wrong, step("haiku"), longer).limits == learned(*wrong).limits


def test_a_limit_that_a_longer_prompt_was_answered_in_is_no_limit() -> None:
    longer = UsageSampled(message="m", input=180_000)
    assert window_for(step(), LIMITS, step(), longer) == Window(200_000, 0, "harness")
    wrong = step(context=100_000)
    assert window_for(wrong, LIMITS, wrong, longer, UsageSampled(message="n", input=5)) == Window(
        180_000, 0, "accepted"
    )
    chosen = Limits(context_limits={"default": 100_000})
    assert window_for(wrong, chosen, wrong, longer) == Window(100_000, 0, "settings")
    assert window_for(step("haiku", context=100_000), LIMITS, wrong, longer) == Window(100_000, 0, "harness")


def test_what_was_refused_without_a_limit_bounds_a_window_that_nobody_knows() -> None:
    opened, name = step(context=0), ("anthropic", "opus")
    refused = with_shortest_refused(learned(opened), name, 60_000)
    assert window(opened, refused, LIMITS) == Window(59_999, 0, "learned")
    assert window(step(), refused, LIMITS) == Window(200_000, 0, "harness")
    assert window(opened, refused, Limits(context_limits={"default": 90_000})) == Window(90_000, 0, "settings")
    assert window(opened, with_shortest_refused(refused, name, 300_000), LIMITS) == window(
        opened, learned(opened), LIMITS
    )
    assert with_shortest_refused(refused, name, 0) == learned(opened)
    refused_twice = evolve(refused, OverflowDetected(limit=50_000))
    assert window(opened, refused_twice, LIMITS) == Window(50_000, 0, "learned")
    longer = evolve(refused, UsageSampled(message="m", input=61_000))
    assert window(opened, longer, LIMITS) == Window(61_000, 0, "learned")


# The threshold


def test_ex_2a_at_65_percent_of_the_window_it_is_time() -> None:
    sample = UsageSampled(message="m", input=2000, cache_read=118_000, cache_write=10_000)
    found = window_for(step())
    assert 65.0 == found.percent(prompt_tokens(sample))
    assert allowed(step(), Limits(threshold=65)) == Threshold(percent=65.0, force=85.0)
    assert 130_000 == allowed(step(), Limits(threshold=65)).tokens(found)


def test_ex_2b_a_threshold_in_tokens_stays_below_the_limit() -> None:
    limits = Limits(threshold_tokens={"default": 180_000})
    assert allowed(step(), limits) == Threshold(90.0, 98.0)
    assert allowed(step(output=20_000), limits) == Threshold(90.0, 98.0)
    assert 162_000 == allowed(step(output=20_000), limits).tokens(window_for(step(output=20_000), limits))


def test_ex_2c_a_cache_of_five_minutes_is_dead_after_six_and_alive_after_ten_seconds() -> None:
    assert 10.0 < cache_ttl(step(), Limits(cache_ttls={"default": "5m"})) < 360.0


def test_tokens_win_over_percent() -> None:
    limits = Limits(thresholds={"opus": 80.0}, threshold_tokens={"default": 100_000})
    assert allowed(step(), limits) == Threshold(50.0, 85.0)
    assert allowed(step(), Limits(thresholds={"opus": 80.0}, threshold_tokens={"haiku": 100_000})).percent == 80.0


@pytest.mark.parametrize("count", [0, -1, 4999, 2_000_001])
def test_a_number_of_tokens_that_makes_no_sense_is_passed_over(count: int) -> None:
    assert allowed(step(), Limits(threshold_tokens={"default": count})) == Threshold(85.0, 98.0)


@pytest.mark.parametrize(
    ("given_", "percent", "force"),
    [
        (20.0, 20.0, 85.0),
        (71.9, 71.9, 85.0),
        (78.0, 78.0, 91.0),
        (90.0, 90.0, 98.0),
        (95.0, 90.0, 98.0),
        (5.0, 20.0, 85.0),
        (-1.0, 85.0, 98.0),
        (math.nan, 85.0, 98.0),
        (math.inf, 85.0, 98.0),
    ],
)
def test_percents_stay_in_bounds_and_the_force_band_lies_behind_them(
    given_: float, percent: float, force: float
) -> None:
    assert allowed(step(), Limits(threshold=given_)) == Threshold(percent, force)
    assert allowed(step(), Limits(thresholds={"default": given_})) == Threshold(percent, force)


@given(
    st.integers(0, 12_000_000),
    st.integers(0, 500_000),
    st.integers(-5, 3_000_000),
    st.floats(),
    st.integers(-5, 12_000_000),
)
def test_there_is_always_room_below_the_threshold_and_above_it(
    context: int, output: int, count: int, share: float, reserve: int
) -> None:
    limits = Limits(threshold=share, threshold_tokens={"default": count}, output_reserves={"default": reserve})
    opened = step(context=context, output=output)
    found, from_here = window_for(opened, limits), allowed(opened, limits)
    assert 0 < found.usable <= found.context
    assert 0 < from_here.percent <= 90.0 + 1e-9
    assert from_here.percent + 8 <= from_here.force + 1e-9 <= 98.0 + 2e-9


# Values per model


def test_keys_are_tried_from_the_most_telling_to_the_least() -> None:
    order = ["p/a-b-c", "a-b-c", "p/a-b", "a-b", "p/a", "a", "p/*", "default"]
    values = {key: key for key in order}
    for key in order:
        assert of_model(values, "p", "a-b-c", "") == key
        del values[key]
    assert of_model(values, "p", "a-b-c", "none") == "none"


def test_a_key_of_another_model_does_not_count() -> None:
    values = {"p/a-b-d": 1, "q/a-b": 2, "b-c": 3, "q/*": 4}
    assert 0 == of_model(values, "p", "a-b-c", 0)
    assert 5 == of_model({"openrouter/x/y": 5}, "openrouter", "x/y-1", 0)
    assert 6 == of_model({"default": 6}, "", "", 0)


# The life of a cache


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5m", 300.0),
        ("300000", 300.0),
        ("1500ms", 1.5),
        ("90s", 90.0),
        ("1h", 3600.0),
        ("0", 0.0),
        (" 5m ", 300.0),
        ("never", math.inf),
        ("", None),
        ("5 m", None),
        ("5d", None),
        ("-5m", None),
        ("1.5h", None),
        ("forever", None),
    ],
)
def test_a_time_is_a_number_and_a_unit(text: str, expected: float | None) -> None:
    assert seconds(text) == expected


def test_a_cache_s_life_is_looked_up_by_full_name_bare_name_provider_and_default() -> None:
    keys = {"anthropic/opus": "1h", "opus": "2h", "anthropic/*": "never", "default": "10m"}
    found = []
    while keys:
        found.append(cache_ttl(step(), Limits(cache_ttls=keys)))
        keys = dict(list(keys.items())[1:])
    assert found == [3600.0, 7200.0, math.inf, 600.0]
    assert 42.0 == cache_ttl(step(), Limits(cache_ttl=42.0, cache_ttls={"haiku": "1h"}))
    assert 42.0 == cache_ttl(step("opus-4"), Limits(cache_ttl=42.0, cache_ttls={"opus": "1h"}))


def test_a_wrong_time_counts_as_five_minutes() -> None:
    assert 300.0 == cache_ttl(step(), Limits(cache_ttl=42.0, cache_ttls={"opus": "soon"}))
