"""How much a test tries: a quarter of its examples, a twentieth before a commit, all where one has the time."""

import os

from hypothesis import settings

QUICK, THOROUGH = "QUICK", "THOROUGH"
FEWEST = 5
PROPERTY = 100
"""The examples of a property test that says nothing about them."""


def is_thorough() -> bool:
    return bool(os.environ.get(THOROUGH))


def examples(most: int) -> int:
    if is_thorough():
        return most
    return max(FEWEST, most // (20 if os.environ.get(QUICK) else 4))


def use_profile() -> None:
    """Let property tests that say nothing of their examples try as many as asked for, in as much time as they take."""
    settings.register_profile("annals", settings.default, max_examples=examples(PROPERTY), deadline=None)
    settings.load_profile("annals")
