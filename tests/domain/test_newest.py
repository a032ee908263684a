"""Bounded maps: what was entered last is known, and nothing grows."""

from services.domain.newest import NewestMap


def test_only_the_newest_entries_are_known() -> None:
    newest = NewestMap[str, int](3)
    for number, name in enumerate("abcad"):
        newest[name] = number
    assert {"c": 2, "a": 3, "d": 4} == dict(newest)


def test_an_entry_that_is_entered_again_is_the_newest() -> None:
    newest = NewestMap[str, None](2)
    for name in "abac":
        newest[name] = None
    assert ["a", "c"] == list(newest)


def test_it_never_grows() -> None:
    newest = NewestMap[int, None](3)
    for number in range(10_000):
        newest[number] = None
    assert [9_997, 9_998, 9_999] == list(newest)
