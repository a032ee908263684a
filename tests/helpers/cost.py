"""The cost of code relative to a bare operation of the same process: machines differ, and so do their days."""

import time
from collections.abc import Callable
from functools import cache

Clock = Callable[[], float]


def bare_operations(work: Callable[[], object], tries: int = 3) -> float:
    """How many times as long it takes as a bare operation, at its best of some tries."""
    return min(seconds(work) for _ in range(tries)) / bare_seconds()


@cache
def bare_seconds() -> float:
    """Seconds for summing a million squares, at its best of three tries: measured once in a process."""
    return min(seconds(lambda: sum(number * number for number in range(1_000_000))) for _ in range(3))


def seconds(work: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Seconds of a processor for doing it once: by another clock where another process does it."""
    began = clock()
    work()
    return clock() - began
