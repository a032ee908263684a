"""How often something happened, and how many of a thing there are, in words."""

from services.domain.often import often, quantity


def test_one_time_is_once() -> None:
    assert ["0 times", "once", "2 times", "1,000 times"] == [often(count) for count in (0, 1, 2, 1_000)]


def test_one_thing_has_the_singular() -> None:
    assert ["0 rows", "1 row", "2 rows", "1,000 rows"] == [quantity(count, "row") for count in (0, 1, 2, 1_000)]
    assert ["0 memories", "1 memory"] == [quantity(count, "memory", "memories") for count in (0, 1)]
