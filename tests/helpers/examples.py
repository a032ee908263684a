"""How much a test tries: a sixth of its examples, a twentieth before a commit, all in `make soak`."""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")

QUICK, THOROUGH = "QUICK", "THOROUGH"
FEWEST = 5
PROPERTY = 100
"""The examples of a property test that says nothing about them."""


def soak(*, unless: bool) -> Sequence[pytest.MarkDecorator]:
    """The marks of a parameter that says more of what others say already."""
    return () if unless else (pytest.mark.soak,)


SOME_AND_ALL = [
    pytest.param(False, id="some"),
    pytest.param(True, id="all", marks=[pytest.mark.soak, pytest.mark.timeout(1_800)]),
]
"""The parameters of a test with a broker that tries a share of its cases, and all of them in `make soak`."""


SHARE = 4


def share(cases: Sequence[T], turn: int) -> Sequence[T]:
    """Every fourth of the cases that one test tries, of which another one with another turn tries others; or all."""
    return cases if os.environ.get(THOROUGH) else cases[turn % SHARE :: SHARE]


def examples(most: int) -> int:
    if os.environ.get(THOROUGH):
        return most
    return max(FEWEST, most // (20 if os.environ.get(QUICK) else 6))


def use_profile() -> None:
    """Let property tests that say nothing of their examples try as many as asked for, in as much time as they take."""
    settings.register_profile("annals", settings.default, max_examples=examples(PROPERTY), deadline=None)
    settings.load_profile("annals")
