import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.search.literals import MOST, SHORTEST, holds, ids, literals


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "Why does max_in_hand in services/kit/bus.py:12 fail with E1234?",
            ("max_in_hand", "services/kit/bus.py", "E1234"),
        ),
        ("where is `the quay` and parseHTTPResponse or Foo.bar()?", ("the quay", "parseHTTPResponse", "Foo.bar")),
        ('  File "/srv/quay/berth.py", line 91, in moor', ("/srv/quay/berth.py",)),
        ("use /ctx-flush with --dry-run", ("/ctx-flush", "dry-run")),
        ("the commit 3f2c1ab broke it", ("3f2c1ab",)),
        ("is 10.0.0.5 the host of #123?", ("10.0.0.5", "#123")),
        ("10.0.0.5:22 and fe80::1 and 12:30:00", ("10.0.0.5", "fe80::1")),
        ("a plain question about tides", ()),
        ("", ()),
    ],
)
def test_what_is_meant_word_for_word(query: str, expected: tuple[str, ...]) -> None:
    assert expected == literals(query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("#12", ("12",)),
        ("§7§ 9", ("7", "9")),
        ("3f2c1ab", ("3f2c1ab",)),
        ("12 monkeys", ()),
        ("1 2 3 4 5 6", ()),
        ("", ()),
    ],
)
def test_a_query_of_ids(query: str, expected: tuple[str, ...]) -> None:
    assert expected == ids(query)


@given(st.text(max_size=300))
def test_any_query_has_few_literals(query: str) -> None:
    found = literals(query)
    assert len(found) <= MOST
    assert all(one for one in found)


@pytest.mark.parametrize("one", ["a", "/", ".", "_", "a.", "a/", "-", "'", '"', "`", "0", "A", "aA", "::"])
def test_a_long_run_takes_no_time(one: str) -> None:
    assert len(literals(one * 50_000)) <= MOST
    ids(one * 50_000)


def test_short_things_are_no_literals() -> None:
    assert all(len(one) >= SHORTEST - 1 for one in literals("a.b c/d x_y"))


@pytest.mark.parametrize(
    ("text", "literal", "is_there"),
    [
        ("route to 10.0.0.5.", "10.0.0.5", True),
        ("route to 10.0.0.5/24", "10.0.0.5", True),
        ("route to 10.0.0.55", "10.0.0.5", False),
        ("route to 110.0.0.5", "10.0.0.5", False),
        ("route to 1.10.0.0.5", "10.0.0.5", False),
        ("fixes quay#123", "#123", True),
        ("fixes #1234", "#123", False),
        ("see Tide_Table.py", "tide_table.py", True),
    ],
)
def test_a_number_is_not_found_in_a_longer_one(text: str, literal: str, *, is_there: bool) -> None:
    assert is_there is holds(text, literal)
