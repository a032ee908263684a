"""A time limit holds, whatever its work makes of being cancelled."""

import asyncio

import pytest

from services.kit.within import within

HEARD = 3


async def test_what_is_done_in_time_is_handed_on() -> None:
    assert 7 == await within(60, asyncio.sleep(0, 7))


async def test_a_failure_is_that_of_the_work() -> None:
    async def failing() -> None:
        raise ConnectionRefusedError

    with pytest.raises(ConnectionRefusedError):
        await within(60, failing())


async def test_work_that_hears_only_a_later_cancellation_ends_all_the_same() -> None:
    """As a client does that takes the first one for a failed attempt, and tries again."""
    cancelled = 0

    async def stubborn() -> None:
        nonlocal cancelled
        while cancelled < HEARD:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled += 1

    with pytest.raises(TimeoutError):
        await within(0, stubborn())
    assert HEARD == cancelled


async def test_who_is_cancelled_cancels_the_work() -> None:
    entered, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(within(60, work()))
    await entered.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()
