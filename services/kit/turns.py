"""Turns: how many questions of one kind are answered at once, how many wait, and from when on more are refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from services.kit.asks import Declined


class Turns(NamedTuple):
    """How many questions of one kind are answered at once, so that long ones do not delay those of models."""

    at_once: int
    waiting: int
    """How many more may wait for their turn; one beyond these is refused at once."""


class TooMany(Declined):
    """So many questions of this kind wait already that one more would wait in vain."""


class Queue:
    """The questions of one kind that wait for their turn."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._answered = asyncio.Semaphore(turns.at_once)
        self._waiting = 0

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Wait for a turn. Raises `TooMany`."""
        if self._waiting >= self._turns.waiting:
            raise TooMany(f"{self._waiting} questions {name} wait already: ask again in a moment")
        self._waiting += 1
        try:
            await self._answered.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._answered.release()
