"""Waiting for what another task or process brings about."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable

PATIENCE = 60.0
STEP = 0.01


async def until(condition: Callable[[], object | Awaitable[object]], patience: float = PATIENCE) -> None:
    """Return as soon as the condition holds; fail when it does not in time."""
    async with asyncio.timeout(patience):
        while not await _value(condition):  # noqa: ASYNC110 - some of what is waited for is in another process
            await asyncio.sleep(STEP)


async def _value(condition: Callable[[], object | Awaitable[object]]) -> object:
    value = condition()
    return await value if isawaitable(value) else value
