"""Garbage is collected in small steps: what has survived is not looked through again, and no cycle stays for good."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from services.kit.garbage import collect_all, collect_in_steps

STATE = 50_000
NEW = 1_000


class Node:
    def __init__(self) -> None:
        self.other = self


@pytest.fixture(autouse=True)
def in_steps() -> Iterator[None]:
    before = list(gc.callbacks)
    collect_in_steps()
    collect_in_steps()
    assert len(before) + 1 == len(gc.callbacks)
    yield
    gc.callbacks[:] = before
    gc.freeze()  # as `conftest` has left it: or each later test of this process would look through all tests again


def looked_through() -> int:
    """Objects that the next full collection looks through."""
    return sum(len(gc.get_objects(generation)) for generation in range(3))


def test_what_has_survived_a_collection_is_not_looked_through_again() -> None:
    state = [[number] for number in range(STATE)]
    gc.collect()
    assert len(state) <= gc.get_freeze_count()
    new = [[number] for number in range(NEW)]
    assert len(new) <= looked_through() < STATE // 2


def test_what_has_survived_is_freed_when_nobody_refers_to_it() -> None:
    state = [[number] for number in range(STATE)]
    gc.collect()
    frozen = gc.get_freeze_count()
    del state
    assert gc.get_freeze_count() <= frozen - STATE


def test_a_new_cycle_is_collected_and_an_old_one_when_all_is_looked_through() -> None:
    old = Node()
    is_there = weakref.ref(old)
    gc.collect()
    del old
    new = weakref.ref(Node())
    gc.collect()
    assert (True, False) == (is_there() is not None, new() is not None)
    assert collect_all() > 0
    assert is_there() is None
    assert gc.get_freeze_count() > 0
