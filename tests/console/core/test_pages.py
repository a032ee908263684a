"""How rows become pages: none is lost, none is twice, and each page fits."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.console.core.values import RowTooLarge, pages
from tests.helpers.examples import examples

Row = tuple[object, ...]
rows_of = st.lists(st.tuples(st.text(max_size=40), st.integers(-(2**63), 2**64 - 1) | st.none()), max_size=40)


@settings(max_examples=examples(200))
@given(rows_of, st.integers(300, 2000))
def test_pages_together_are_the_rows_and_each_fits(rows: list[Row], room: int) -> None:
    made = list(pages(rows, room))
    assert rows == [tuple(row) for page in made for row in msgspec.json.decode(page)]
    assert all(len(page) <= room for page in made)
    assert len(made) <= max(1, 2 * sum(len(msgspec.json.encode(row)) + 1 for row in rows) // room + 1)


def test_no_row_is_one_empty_page() -> None:
    assert [b"[]"] == list(pages([], 100))


def test_a_row_that_just_fits_has_a_page_of_its_own() -> None:
    rows: list[Row] = [("x" * 94,), ("y" * 94,)]
    assert [100, 100] == [len(page) for page in pages(rows, 100)]


def test_a_row_that_fits_no_page_is_refused_with_what_to_do() -> None:
    with pytest.raises(RowTooLarge, match=r"row 2 has 99 bytes, an answer has room for 100: .* left\(text, 1000\)"):
        list(pages([("x",), ("y" * 95,)], 100))
