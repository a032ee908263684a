"""Background work of a room, for as long as it is open."""

import asyncio
import socket
from collections.abc import Coroutine
from functools import partial
from typing import Any

from services.kit.logs import logger
from services.kit.room import Kit
from services.kit.within import cut_off


def begin(kit: Kit, work: Coroutine[Any, Any, None]) -> None:
    """Do this until the room closes, and cut it off then. Where it fails, the room ends."""
    kit.stack.push_async_callback(cut_off, watched(kit, work), kit.settings.loop.grace)


def watched(kit: Kit, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    """Do this in the background. Where it fails, the room ends, and is started anew: nobody would notice otherwise."""
    task = asyncio.create_task(work)
    task.add_done_callback(partial(_look_at, kit))
    return task


def _look_at(kit: Kit, task: "asyncio.Task[None]") -> None:
    error = None if task.cancelled() else task.exception()
    if error is not None:
        kit.log.error("a part of this room failed", exc_info=error)
        kit.failed.set()


def log_unretrieved(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what nobody was left to look at, such as the end of an attempt to connect that was given up."""
    error = context.get("exception")
    if isinstance(error, socket.gaierror):
        logger().warning("a name was looked up in vain", error=str(error))
    else:
        about = {name: repr(value) for name, value in context.items() if name not in {"message", "exception"}}
        logger().error(context["message"], exc_info=error, **about)
