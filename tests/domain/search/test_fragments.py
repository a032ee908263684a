from hypothesis import given
from hypothesis import strategies as st

from services.domain.search.fragments import CHARACTERS, fragment
from services.domain.search.words import words

LONG = "lorem ipsum dolor " * 60 + "the broker keeps every password in its vault " + "sit amet " * 60


def test_the_part_is_shown_that_holds_the_most_words() -> None:
    assert "every password in its vault" in fragment(LONG, words("where are passwords of the broker?"))
    assert "password in its vault" in fragment(LONG, [], ["its vault"])


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert "two lines" == fragment("two\n  lines ", ["line"])


def test_where_nothing_fits_the_beginning_is_shown() -> None:
    assert fragment(LONG, []).startswith("lorem ipsum")
    assert fragment("港の倉庫は" * 90 + "朝七時", words("七時")).endswith("朝七時")


@given(st.text(max_size=600), st.lists(st.text(max_size=9), max_size=5))
def test_a_fragment_is_no_longer_than_it_may_be(text: str, wanted: list[str]) -> None:
    shown = fragment(text, wanted, wanted)
    assert len(shown) <= CHARACTERS
    assert "\n" not in shown


def test_the_end_of_a_text_begins_with_a_word_too() -> None:
    line = "first second " * 30 + "lastly"
    shown = fragment(line, ["lastly"])
    assert shown.endswith("first second lastly")
    assert {"first", "second", "lastly"} == set(shown.strip("…").split())


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=20), min_size=1, max_size=120), st.integers(0, 119))
def test_a_fragment_ends_and_begins_between_words(listed: list[str], at: int) -> None:
    shown = fragment(" ".join(listed), frozenset(words(listed[at % len(listed)])))
    assert set(shown.strip("…").split()) <= set(listed)
