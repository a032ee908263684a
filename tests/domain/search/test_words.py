from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.search.words import LONGEST, MOST_WORDS, coded, stem, vocabulary, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The deploys were failing", ["deploy", "fail"]),
        ("parseHTTPRequest", ["pars", "http", "request", "parsehttprequest"]),
        ("max_in_hand", ["max", "hand", "max_in_hand"]),
        ("kit/bus.py", ["kit", "bus", "py"]),
        ("Lagerhäuser", ["lagerhaus"]),
        ("日本語", ["日本", "本語"]),
        ("Python関数", ["python", "関数"]),
        ("ошибка Ошибки", ["ошибк", "ошибк"]),
        ("प्रधानमंत्री", ["प्रधानमंत्र"]),
        ("", []),
    ],
)
def test_texts_become_words(text: str, expected: list[str]) -> None:
    assert expected == words(text)


@given(st.text(max_size=200))
def test_any_text_has_words_whatever_blanks_are_around_it(text: str) -> None:
    found = words(text)
    assert found == words(f" {text}\n")
    assert all(0 < len(one) <= 2 * LONGEST for one in found)
    assert len(found) == len(array("I", coded(text)))


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=20))
def test_a_stem_is_a_word(word: str) -> None:
    assert len(stem(word)) <= len(word)
    assert bool(stem(word)) == bool(word)


@pytest.mark.parametrize("one", ["a", "A", "_", "日", "ä", "\u0301", "1", "'", "\0"])
def test_a_long_run_of_one_character_takes_no_time(one: str) -> None:
    assert len(words(one * 200_000)) <= MOST_WORDS


def test_a_vocabulary_is_the_different_words_as_they_were_written() -> None:
    assert "die\nhäuser\nhaus" == vocabulary("Die Häuser, die HÄUSER: Haus 42 a_b §")
    assert "max\nhand" == vocabulary("max_in_hand")
    assert "서버가" == vocabulary("서버가 倉庫")
