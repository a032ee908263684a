"""What a room does beside all else ends when the room closes, whatever it makes of being cancelled."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any, cast

from services.kit.background import begin
from services.kit.bus import Bus
from services.kit.logs import logger
from services.kit.room import Kit
from services.settings import Settings


async def test_work_that_takes_no_notice_of_being_cancelled_is_cancelled_again() -> None:
    """As Python 3.11 does with work that ends in the moment in which it is cancelled."""
    entered, heard = asyncio.Event(), []

    async def work() -> None:
        while True:
            try:
                entered.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                heard.append("cancelled")
                if len(heard) == 2:
                    raise

    bus = cast("Bus", None)
    async with AsyncExitStack() as stack:
        begin(Kit("made_up", bus, cast("Any", None), cast("Any", None), Settings(), stack, logger()), work())
        await entered.wait()
    assert 2 == len(heard)
