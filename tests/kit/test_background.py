"""A room's background task ends when the room closes, whatever it makes of being cancelled."""

import asyncio
import gc
import socket
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from services.kit.background import begin, log_unretrieved
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


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (
            socket.gaierror(-2, "Name or service not known"),
            {"event": "a name was looked up in vain", "error": "[Errno -2] Name or service not known"},
        ),
        (RuntimeError("it broke"), {"event": "Future exception was never retrieved"}),
    ],
)
async def test_what_nobody_looks_at_is_one_line_of_the_log(error: Exception, logged: dict[str, str]) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(log_unretrieved)
    with capture_logs() as lines:
        loop.create_future().set_exception(error)
        gc.collect()
    (line,) = lines
    assert logged.items() <= line.items()
    assert line.get("exc_info") is (None if "error" in logged else error)
    assert ("it broke" in line.get("future", "")) == ("error" not in logged)
