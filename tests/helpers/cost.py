"""What code costs beside a bare operation of the same process: machines differ, and so do their days."""

import time
from collections.abc import Callable
from functools import cache

Clock = Callable[[], float]


def bare_operations(work: Callable[[], object], tries: int = 3, clock: Clock = time.process_time) -> float:
    """How many times as long it takes as a bare operation, at its best of some tries.

    What another process does takes none of this one's time: it is compared by another clock.
    """
    return min(seconds(work, clock) for _ in range(tries)) / bare_seconds(clock)


@cache
def bare_seconds(clock: Clock = time.process_time) -> float:
    """Seconds for summing a million squares, at its best of three tries: measured once in a process."""
    return min(seconds(lambda: sum(number * number for number in range(1_000_000)), clock) for _ in range(3))


def seconds(work: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Seconds for doing it once."""
    began = clock()
    work()
    return clock() - began
