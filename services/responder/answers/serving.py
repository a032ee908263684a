"""How the questions of one kind wait for their turn."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from schemas.ask import Ask
from services.kit.asks import AskHandler, Declined
from services.responder.answers.base import Context, Question, Turns

A = TypeVar("A", bound=Ask)
R = TypeVar("R")


class TooMany(Declined):
    """So many questions of this kind wait already that one more would wait in vain."""


def handler_of(question: Question[A, R], context: Context) -> AskHandler[A, R]:
    """One question as a responder answers it."""
    answer = question.open(context)
    if question.turns is not None:
        answer = _in_turn(answer, _Queue(question.turns))
    return AskHandler(context.kit, question.ask, answer, question.failed)


def _in_turn(answer: Callable[[A], Awaitable[R]], queue: "_Queue") -> Callable[[A], Awaitable[R]]:
    async def answered(ask: A) -> R:
        async with queue.turn(ask.NAME):
            return await answer(ask)

    return answered


class _Queue:
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
