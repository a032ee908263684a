"""A person's words in less room keep the rules that they give, and how they begin."""

from html import unescape
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.texts.abridged import abridged, octets, rules_in, with_rules
from tests.helpers.examples import examples

WORDS = st.lists(st.sampled_from(["never", "touch", "it", "a & b", "<c>", ",", ".", ";", "/", "…", "?", "不要。", "é"]))
LONG = (
    "Keep the theme, as it was before, and sort the names. I like the dates / Never touch the backups. Are they fine?"
)


def test_sentences_that_give_a_rule_stay_without_the_others() -> None:
    assert "Never touch the backups. …" == rules_in(LONG)
    assert "Do not push. … Never pull." == rules_in("Do not push. It is late. Never pull.")
    assert "" == rules_in("Why do you never ask? I like the dates.")


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (len(LONG), LONG),
        (90, "Keep the theme, as it was before, and sort the names. … Never touch the backups. …"),
        (50, "Keep the theme … Never touch the backups. …"),
        (34, "Never touch the backups. …"),
        (20, "Keep the theme …"),
        (13, "Keep the…"),
    ],
)
def test_rules_come_before_the_beginning_and_the_beginning_before_the_rest(most: int, expected: str) -> None:
    assert expected == abridged(LONG, most)


def test_of_a_rule_that_is_too_long_what_makes_it_one_stays() -> None:
    rule = "Keep the theme after a restart of the program, however it was ended, and never touch the backups."
    assert "and never touch the backups." == abridged(rule, 60)


def test_words_without_a_rule_are_quoted_from_their_beginning() -> None:
    assert "I like the dates, and…" == abridged("I like the dates, and all of the names. So it is.", 24)


@settings(max_examples=examples(300), deadline=None)
@given(WORDS, st.integers(0, 60))
def test_there_is_never_more_than_there_is_room_for(pieces: list[str], most: int) -> None:
    """And what is escaped stays whole."""
    text = " ".join(" ".join(pieces).split())
    for plain in (text, escape(text)):
        assert octets(with_rules(plain, most, octets)) <= most
        assert len(with_rules(plain, most)) <= most
    shown = with_rules(escape(text), most)
    assert escape(unescape(shown)) == shown
