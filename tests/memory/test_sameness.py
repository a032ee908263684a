"""When two sentences say the same, and when one speaks against another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.sameness import sentence_key, speaks_against
from tests.helpers.cells import cells
from tests.memory import sentence_pairs as pairs


@cells("one, other", pairs.SEEN_DIFFERENT + pairs.UNSEEN_DIFFERENT + pairs.CONTRADICTIONS)
def test_numbers_names_negations_and_order_make_two_sentences(one: str, other: str) -> None:
    assert sentence_key(one) != sentence_key(other)


@cells("one, other", pairs.SEEN_SAME + pairs.UNSEEN_SAME)
def test_case_punctuation_and_words_that_say_nothing_make_none(one: str, other: str) -> None:
    assert sentence_key(one) == sentence_key(other)
    assert not speaks_against(one, other)


@cells("one, other", pairs.UNSEEN_AGAINST + pairs.CONTRADICTIONS)
def test_another_word_in_one_place_speaks_against_a_sentence(one: str, other: str) -> None:
    assert speaks_against(one, other)
    assert speaks_against(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cache keys use - as separator.", "Cache keys use _ as separator."),
        ("Cache keys use * as separator.", "Cache keys use ~ as separator."),
        ("Cache keys use - as separator.", "Cache keys use * as separator."),
        ("Separate CSV columns with ; always.", "Separate CSV columns with , always."),
        ('Use " for strings.', "Use ' for strings."),
        ('Use "," as separator.', 'Use ";" as separator.'),
        ("Use `,` as separator.", "Use `;` as separator."),
        ("Join parts with `.` in keys.", "Join parts with `,` in keys."),
    ],
)
def test_another_sign_makes_another_sentence(one: str, other: str) -> None:
    assert sentence_key(one) != sentence_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("* Use tabs in Go.", "Use tabs in Go."),
        ("- Use tabs in Go.", "Use tabs in Go."),
        ("Use tabs - never spaces.", "Use tabs \u2013 never spaces."),
        ("N'utilise pas de mocks !", "N'utilise pas de mocks!"),
        ("Attention : pas de mocks", "Attention: pas de mocks"),
        ("Use tabs .", "Use tabs."),
        ("Use \u00ab tabs \u00bb in Go", "Use \u00abtabs\u00bb in Go"),
        ("Use tabs in Go ***", "Use tabs in Go"),
    ],
)
def test_a_sign_that_only_parts_words_makes_none(one: str, other: str) -> None:
    assert sentence_key(one) == sentence_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use tabs in Go files.", "In Go files, always use tabs."),
        ("Retry failed uploads 3 times.", "Retry failed uploads three times."),
        ("Warte fünf Minuten vor dem Deploy.", "Warte 5 Minuten vor dem Deploy."),
    ],
)
def test_what_is_turned_round_or_counted_in_words_does_not_speak_against_itself(one: str, other: str) -> None:
    assert not speaks_against(one, other)
    assert not speaks_against(other, one)


@pytest.mark.parametrize(
    ("one", "other", "is_against"),
    [
        ("Should always rebase.", "Must never rebase.", True),  # all other words that differ negate nothing
        ("Never deploy the quay service.", "Deploy the quay service on each Friday.", True),
        ("Never deploy the quay service.", "Deploy the quay service on each Friday evening.", False),
        ("不部署港口服务", "部署港口服务在每个星期五", True),
        ("不部署港口服务", "部署港口服务在每个星期五的晚上", False),
    ],
)
def test_a_negation_speaks_against_a_sentence_in_which_three_words_differ_at_most(
    one: str,
    other: str,
    is_against: bool,  # noqa: FBT001
) -> None:
    assert [is_against] * 2 == [speaks_against(one, other), speaks_against(other, one)]


@pytest.mark.parametrize(("one", "other"), pairs.UNSEEN_NEIGHBOURS + pairs.BOTH_FORBIDDEN)
def test_to_say_more_or_of_something_else_does_not(one: str, other: str) -> None:
    assert not speaks_against(one, other)
    assert not speaks_against(other, one)


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_is_compared_the_two_ways_agree(one: str, other: str) -> None:
    assert not speaks_against(one, one)
    assert sentence_key(one) == sentence_key(f" ({one}\n) .")
    if sentence_key(one) == sentence_key(other):
        assert not speaks_against(one, other)
