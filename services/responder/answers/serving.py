"""Serving a question: read it, wait for its turn, answer, measure. Whatever goes wrong is an answer, too."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

import msgspec

from schemas.asks import Ask
from schemas.codec import encode
from services.kit import metrics
from services.kit.bus import Unreachable
from services.responder.answers.base import Context, Question, Turns, UnknownSession

A = TypeVar("A", bound=Ask)
R = TypeVar("R")


class TooMany(RuntimeError):
    """So many questions of this kind wait already that one more would wait in vain."""


class Served(Generic[A, R]):
    """One question as a responder answers it."""

    def __init__(self, question: Question[A, R], context: Context) -> None:
        self._question = question
        self._kit = context.kit
        self._answer = question.open(context)
        self._decoder = msgspec.json.Decoder(question.ask)
        self._queue = _Queue(question.turns) if question.turns else None

    async def handle(self, subject: str, data: bytes) -> bytes:
        """The encoded reply to an encoded question."""
        began = time.monotonic()
        reply, status = await self._reply(subject, data)
        metrics.ASKS.labels(self._question.ask.NAME, status).observe(time.monotonic() - began)
        return encode(reply)

    async def _reply(self, subject: str, data: bytes) -> tuple[R, str]:
        failed = self._question.failed
        try:
            reply = await self._in_turn(self._decoder.decode(data))
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            return failed(f"not a question for {subject}: {error}; see asks.schema.json"), "refused"
        except (Unreachable, TooMany) as error:
            return failed(str(error)), "failed"
        except UnknownSession as error:
            return failed(str(error)), "error"
        except Exception as error:
            self._kit.log.exception("a question could not be answered", subject=subject)
            return failed(f"{type(error).__name__}: {error}"), "failed"
        return reply, getattr(reply, "status", "error" if getattr(reply, "error", "") else "ok")

    async def _in_turn(self, ask: A) -> R:
        if self._queue is None:
            return await self._answer(ask)
        async with self._queue.turn(ask.NAME):
            return await self._answer(ask)


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
