"""What a room does beside all else ends when the room closes, whatever it makes of being cancelled."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, cast

from services.kit.background import begin
from services.kit.logs import logger
from services.kit.room import Kit
from services.settings import Settings
from tests.helpers.broker_world import impatient_settings, quick_settings

TIDYING = 0.5
"""Seconds: longer than what cannot tidy up is given."""
Work = Callable[[asyncio.Event], Coroutine[Any, Any, None]]


async def closed_while_at(work: Work, settings: Settings) -> None:
    """Close a room that does this and is in the middle of it."""
    nowhere: Any = cast("Any", None)
    entered = asyncio.Event()
    async with AsyncExitStack() as stack:
        begin(Kit("made_up", nowhere, nowhere, nowhere, settings, stack, logger()), work(entered))
        await entered.wait()


async def test_work_that_takes_no_notice_of_being_cancelled_is_cancelled_again() -> None:
    """As Python 3.11 has it for work that ends in the moment in which it is cancelled."""
    heard = 0

    async def work(entered: asyncio.Event) -> None:
        nonlocal heard
        while heard < 2:
            try:
                entered.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                heard += 1

    await closed_while_at(work, impatient_settings())
    assert 2 == heard


async def test_work_that_tidies_up_is_given_the_time_for_that() -> None:
    tidied = asyncio.Event()

    async def work(entered: asyncio.Event) -> None:
        try:
            entered.set()
            await asyncio.Event().wait()
        finally:
            asyncio.get_running_loop().call_later(TIDYING, tidied.set)
            await tidied.wait()

    await closed_while_at(work, quick_settings())
    assert tidied.is_set()
