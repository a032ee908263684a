"""A time limit that holds."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

AGAIN = 0.1
"""Seconds until what goes on although it was cancelled is cancelled once more."""


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """The result of this work. Raises `TimeoutError` when it takes longer.

    In Python 3.11 `asyncio.wait_for` takes no notice of a cancellation in the moment in which what it waits for ends.
    Work that tries again after each failure, such as connecting to a broker, then outlives `asyncio.timeout`.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            raise TimeoutError
        return task.result()
    finally:
        await cut_off(task)


async def cut_off(task: "asyncio.Future[T]", again: float = AGAIN) -> None:
    """Cancel this until it has ended: again after so many seconds, for tidying up. Its failure is passed over."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=again)
    await asyncio.gather(task, return_exceptions=True)
