"""What harnesses put into texts goes, and what a person wrote stays, also where a person speaks of just that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.texts.clean import BANNERS, cleaned, searchable, without_injected

REMINDER = "<system-reminder>\nBe quick.\n</system-reminder>"
QUESTION = "Why does `<system-reminder>` stand in my log? It must not be sent."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{QUESTION}\n\n{REMINDER}", QUESTION),
        (f"{REMINDER}\n{QUESTION}", QUESTION),
        (f"{REMINDER}\n{QUESTION}\n{REMINDER}", QUESTION),
        (QUESTION, QUESTION),
        ("It ends with `</system-reminder>`, why?", "It ends with `</system-reminder>`, why?"),
        ("From `<system-reminder>` to `</system-reminder>` it is all lost.",) * 2,
        (f"> <system-reminder> came\n{REMINDER}\n> </system-reminder>", "> <system-reminder> came\n\n> </system-reminder>"),  # noqa: E501
        (f"Why does <system-reminder> come?\n{REMINDER}", "Why does <system-reminder> come?"),
        ("go on <system-reminder>Be quick.</system-reminder> now", "go on  now"),
        (f"{REMINDER}{REMINDER} go on", "go on"),
        (f"go on\n  {REMINDER}", "go on"),
        ("<system-reminder>\na\n<system-reminder>\nb\n</system-reminder>\nc\n</system-reminder>\ngo on", "go on"),
    ],
)  # fmt: skip
def test_what_a_person_quotes_of_a_harness_stays(text: str, left: str) -> None:
    assert (left, left) == (without_injected(text), cleaned(text))


def test_an_unclosed_element_goes_to_the_end_only_of_a_history() -> None:
    text = "Move it.\n<system-reminder>\nBe quick."
    assert ("Move it.", text) == (cleaned(text), without_injected(text))


def test_a_person_may_speak_of_an_element_without_losing_the_rest() -> None:
    text = "The <image> tag of the page is broken, and <command-name> too. Mend them."
    assert text == cleaned(text)


@pytest.mark.parametrize("banner", BANNERS)
def test_a_notice_of_a_harness_is_nobody_s_word(banner: str) -> None:
    text = f"Mend it, please.\n\n{banner} and\nmore of it\n\nAnd test it."
    assert ("Mend it, please.\n\nAnd test it.",) * 2 == (cleaned(text), without_injected(text))


def test_a_search_also_goes_without_what_is_quoted() -> None:
    assert "Why does `` stand" == searchable("Why does `<image>a</image>` stand<!-- for\nnothing -->")


PIECES = st.sampled_from(["<system-reminder>", "</system-reminder>", "\n", " ", "words", "`", "<image>", "</image>"])


@given(st.lists(PIECES))
def test_words_are_only_taken_out(pieces: list[str]) -> None:
    text = "".join(pieces)
    for clean in (without_injected, cleaned, searchable):
        rest = iter(text)
        assert all(one in rest for one in clean(text))
