"""Scenarios of one module that are played all at once, before its tests: those alone that some test will ask about."""

from collections.abc import Callable, Sequence

import pytest

from tests.helpers.examples import soak


def chosen(request: pytest.FixtureRequest, test: Callable[..., object]) -> Sequence[tuple[str, ...]]:
    """The parameters, in the order of its arguments, with which this test is run now."""
    items = (item for item in request.session.items if isinstance(item, pytest.Function))
    of_test = (item for item in items if getattr(item.obj, "__func__", item.obj) is test)
    return [tuple(str(value) for value in item.callspec.params.values()) for item in of_test]


def each_way_once(ways: Sequence[str], places: Sequence[str], examples: Sequence[str]) -> Sequence[object]:
    """A scenario for each way that is an example of others, at one place after another.

    The other ways and the other places are left to `make soak`.
    """
    return [
        pytest.param(way, place, marks=soak(unless=way in examples and number % len(places) == turn))
        for number, way in enumerate(ways)
        for turn, place in enumerate(places)
    ]
