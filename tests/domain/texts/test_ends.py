import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.texts.ends import ends

LINES = "".join(f"line {n}\n" for n in range(1000))
FLOODS = {"a": "a", "line ends": "\n", "returns": "\r\n", "three bytes": "漢", "four bytes": "𝄞"}
MOST = 4_000


@pytest.mark.parametrize("text", ["", "a" * 2 * MOST, "\n" * 2 * MOST, "𝄞" * (MOST // 2)])
def test_of_a_text_that_is_no_longer_than_its_ends_nothing_is_left_out(text: str) -> None:
    assert ends(text, MOST) is None


def test_it_is_cut_at_the_ends_of_lines_and_says_how_many_are_left_out() -> None:
    found = ends(LINES, 100)
    assert found is not None
    assert ("".join(f"line {n}\n" for n in range(13)), "".join(f"line {n}\n" for n in range(989, 1000))) == found[:2]
    assert (989 - 13, -(-(len(LINES) - len(found.head) - len(found.tail)) // 4)) == (found.lines, found.tokens)


def test_a_line_end_far_from_the_cut_takes_no_more_than_half_of_an_end_away() -> None:
    found = ends("short\n" + "x" * 1000 + "\nshort", 100)
    assert found is not None
    assert ("short\n" + "x" * 94, "x" * 94 + "\nshort", 0) == (found.head, found.tail, found.lines)


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_of_one_character_is_cut_between_two_of_them_in_no_time(flood: str) -> None:
    text = FLOODS[flood] * 500_000
    began = time.process_time()
    found = ends(text, MOST)
    assert time.process_time() - began < 1.0
    assert found is not None
    assert text.startswith(found.head)
    assert text.endswith(found.tail)
    assert MOST - 4 < len(found.head.encode()) <= MOST
    assert MOST - 4 < len(found.tail.encode()) <= MOST


TEXTS = st.lists(st.sampled_from(["a", "\n", "\r\n", "ä", "漢", "𝄞", "e\u0301", "👩\u200d💻", "\u2028"]), max_size=200)


@given(TEXTS.map("".join), st.integers(1, 60))
def test_both_ends_are_those_of_the_text_and_all_between_is_counted(text: str, most: int) -> None:
    found = ends(text, most)
    if found is None:
        assert len(text.encode()) <= 2 * most
        return
    assert len(found.head) + len(found.tail) < len(text)
    assert text.startswith(found.head)
    assert text.endswith(found.tail)
    left = text[len(found.head) : len(text) - len(found.tail)]
    assert (left.count("\n"), -(-len(left.encode()) // 4)) == (found.lines, found.tokens)
    for end in (found.head, found.tail):
        assert most / 2 - 4 <= len(end.encode()) <= most
