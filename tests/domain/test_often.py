"""How often something happened, in words."""

from services.domain.often import often


def test_one_time_is_once() -> None:
    assert ["0 times", "once", "2 times", "1,000 times"] == [often(count) for count in (0, 1, 2, 1_000)]
