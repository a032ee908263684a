"""The signals that end a command in order, with what it has started."""

import asyncio
import signal
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""By Ctrl-C, by whoever manages processes, and by a terminal that is closed."""


@contextmanager
def asked_to_end(numbers: Sequence[signal.Signals] = ENDING) -> Iterator[list[signal.Signals]]:
    """The signals that came; the first one breaks off what is done in this block, and more of them change nothing.

    A signal that was ignored when this process was started, as by `nohup`, stays ignored.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("only what a task does can be broken off; use this in a coroutine")
    loop = asyncio.get_running_loop()
    came: list[signal.Signals] = []

    def note(number: signal.Signals) -> None:
        came.append(number)
        if len(came) == 1:
            task.cancel()

    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, note, number)
    try:
        yield came
    except asyncio.CancelledError:
        if not came:
            raise
        task.uncancel()
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


async def to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Do what may not be broken off; whoever wanted to break it off meanwhile does so afterwards."""
    doing = asyncio.ensure_future(work)
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        with suppress(asyncio.CancelledError):
            await doing
        raise
