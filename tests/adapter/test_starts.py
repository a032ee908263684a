"""When an installation that does not answer is started: one start at a time, and one a minute at most."""

import pytest

from tests.adapter.conftest import Adapter


@pytest.mark.parametrize(
    ("happenings", "starts"),
    [
        pytest.param([0], [True], id="the first time at once"),
        pytest.param([0, "ended", 59_999, 60_000], [True, False, True], id="again behind a minute"),
        pytest.param([0, 70_000, "ended", 70_001], [True, False, True], id="not while one is under way"),
        pytest.param([0, "ended", 60_000, 60_001, "ended", 119_999], [True, True, False, False], id="each counts anew"),
    ],
)
def test_it_is_started(adapter: Adapter, happenings: list[int | str], starts: list[bool]) -> None:
    """A number is the time, in milliseconds, at which somebody finds that it does not answer."""
    assert starts == adapter("starts", happenings)
