"""The loop of a room that turns messages into facts: a consumer around an aggregate."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Generic, Protocol, TypeVar

from schemas.envelope import Actor
from schemas.streams import Stream
from schemas.subjects import Address
from services.domain.draft import Draft
from services.domain.outcome import Done, Outcome
from services.kit.aggregate import Aggregate
from services.kit.bus import Delivery, Unreachable
from services.kit.command_queue import MOST_AT_ONCE, HandledCommand, QueuedCommand
from services.kit.consumer import Consumer
from services.kit.room import Kit

S = TypeVar("S")
T = TypeVar("T")

RUN_BYTES = 2 * 1024 * 1024
"""The most bytes of one session's messages that are decided together."""


class LoopMessage(Protocol):
    """A message as it was read, with what its facts carry on."""

    @property
    def id(self) -> str: ...
    @property
    def at(self) -> datetime: ...
    @property
    def actor(self) -> Actor: ...


M = TypeVar("M", bound=LoopMessage)


class CommandHandler(Generic[S, M]):
    """The part of the loop that a room brings: it reads a message, decides what it means, and finishes it afterwards.

    `decide` records the facts of a message. `finish` is called when they are in the log, and again where it failed.
    """

    def __init__(
        self,
        *,
        address: Callable[[str], Address],
        read: Callable[[Delivery], Awaitable[M]],
        decide: Callable[[Draft[S], M], Outcome],
        finish: Callable[[Address, M], Awaitable[None]],
    ) -> None:
        self.address = address
        self.read = read
        self.decide = decide
        self.finish = finish


class Loop(Generic[S, M]):
    """Takes messages from a durable consumer, a session's in order, many sessions at once."""

    def __init__(self, kit: Kit, stream: Stream, handler: CommandHandler[S, M], aggregate: Aggregate[S]) -> None:
        self._kit = kit
        self._handler = handler
        self._aggregate = aggregate
        self._consumer = Consumer(
            kit,
            stream,
            durable=kit.room,
            address=handler.address,
            work=self._work,
            credit=kit.settings.loop.max_in_hand,
            goes_back=True,
        )

    async def open(self) -> None:
        await self._consumer.open()

    async def idle(self) -> bool:
        """Whether the consumer has nothing for us and nothing is in hand."""
        return await self._consumer.idle()

    @property
    def in_hand(self) -> int:
        return self._consumer.in_hand

    async def _work(self, address: Address, queue: "deque[Delivery]") -> None:
        """Work through the next run of a session's queue."""
        run = await self._read(_take_run(queue))
        outcomes = await self._decide(address, [message for _, message in run])
        for (delivery, message), outcome in zip(run, outcomes, strict=True):
            if isinstance(outcome, Exception):
                await self._consumer.broken(delivery, outcome)
            else:
                await self._finish(address, delivery, message, outcome)

    async def _read(self, run: list[Delivery]) -> list[tuple[Delivery, M]]:
        """Those of a run that can be read, with what they hold."""
        messages = []
        for delivery in run:
            try:
                messages.append((delivery, await self._reaching(partial(self._handler.read, delivery))))
            except Exception as error:  # noqa: BLE001 - it concerns this message only
                await self._consumer.broken(delivery, error)
        return messages

    async def _decide(self, address: Address, messages: Sequence[M]) -> list[Outcome | Exception]:
        """Decide all of a run, and append its facts at once. An error concerns its message only."""
        commands = [self._command(message) for message in messages]

        async def attempt() -> Sequence[HandledCommand[S, Outcome] | Exception]:
            handled = await self._aggregate.handle_all(address, commands)
            for one in handled:
                if isinstance(one, Unreachable):
                    raise one
            return handled

        try:
            return [one if isinstance(one, Exception) else one.result for one in await self._reaching(attempt)]
        except Exception as error:  # noqa: BLE001 - whatever broke must not stop the session's queue
            return [error for _ in messages]

    def _command(self, message: M) -> QueuedCommand[S, Outcome]:
        async def decide(draft: Draft[S]) -> Outcome:
            return self._handler.decide(draft, message)

        return QueuedCommand(decide, cause=message.id, at=message.at, actor=message.actor, again=lambda _: Done())

    async def _finish(self, address: Address, delivery: Delivery, message: M, outcome: Outcome) -> None:
        try:
            if isinstance(outcome, Done):
                await self._handler.finish(address, message)
        except Exception as error:  # noqa: BLE001 - its facts are written, but not all of its work is done
            await self._consumer.broken(delivery, error)
        else:
            await self._consumer.settle(delivery, outcome)

    async def _reaching(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try until the broker is there: whoever put the message off would let those behind it go first."""
        while True:
            try:
                return await attempt()
            except Unreachable as error:
                self._kit.log.warning("waiting", reason=str(error))
                await asyncio.sleep(self._kit.settings.loop.backoff)


def _take_run(queue: deque[Delivery]) -> list[Delivery]:
    """The next messages of a session, as many as are well decided together."""
    run = [queue.popleft()]
    size = len(run[0].data)
    while queue and len(run) < MOST_AT_ONCE and size + len(queue[0].data) <= RUN_BYTES:
        size += len(queue[0].data)
        run.append(queue.popleft())
    return run
