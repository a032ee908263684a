"""Serves the questions of one kind: as they come, or some at a time."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from schemas.ask import Ask
from services.kit.asks import AskHandler
from services.kit.turns import Queue
from services.responder.answers.base import Context, Question

A = TypeVar("A", bound=Ask)
R = TypeVar("R")


def handler_of(question: Question[A, R], context: Context) -> AskHandler[A, R]:
    """One question as a responder answers it."""
    answer = question.open(context)
    if question.turns is not None:
        answer = _in_turn(answer, Queue(question.turns))
    return AskHandler(context.kit, question.ask, answer, question.failed)


def _in_turn(answer: Callable[[A], Awaitable[R]], queue: Queue) -> Callable[[A], Awaitable[R]]:
    async def answered(ask: A) -> R:
        async with queue.turn(ask.NAME):
            return await answer(ask)

    return answered
